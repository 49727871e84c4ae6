// Power and clocks of the simulated devices beside what CUPTI records, through the simulated NVML.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

#include "cuda_window.h"
#include "opscope/import.h"

namespace opscope {
namespace {

using std::chrono::steady_clock;
using testing::IsEmpty;

constexpr char kPower[] = "GPU power (W)";
constexpr char kClock[] = "GPU SM clock (MHz)";

struct Reading {
  Timestamp time;
  double value;
};

// By name and number of the device.
std::map<std::pair<std::string, int64_t>, std::vector<Reading>> ReadingsOf(const Trace& trace) {
  std::map<std::pair<std::string, int64_t>, std::vector<Reading>> readings;
  const CounterColumns& counters = trace.counters();
  for (size_t i = 0; i < counters.size(); ++i) {
    const ProcessId process = trace.tracks().process[Row(counters.track[i])];
    const std::pair key(std::string(trace.text(counters.name[i])), trace.processes().pid[Row(process)]);
    readings[key].push_back({counters.time[i], counters.value[i]});
  }
  return readings;
}

template <typename Condition>
bool Await(const Condition& condition) {
  const auto end = steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && steady_clock::now() < end)
    std::this_thread::yield();
  return condition();
}

// When one more than so many has begun; those of the rounds before are written by then.
bool AwaitReadings(uint64_t count) {
  return Await([&] { return fake_cupti_calls("nvmlDeviceGetPowerUsage") > count; });
}

size_t ThreadsOfNvml() {
  size_t count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    count += name == "opscope nvml" ? 1 : 0;
  }
  return count;
}

class CudaReadings : public CudaFaults {
 protected:
  static void SetUpTestSuite() {
    CudaFaults::SetUpTestSuite();
    setenv("OPSCOPE_NVML_LIB", OPSCOPE_FAKE_DRIVER_DIR "/libnvidia-ml.so.1", 1);
  }
  static void TearDownTestSuite() { unsetenv("OPSCOPE_NVML_LIB"); }
};

TEST_F(CudaReadings, ArePowerAndClockOfEachDeviceAtMostTenTimesASecond) {
  InChildProcess("devices=2", [] {
    const auto recording = StartWindow();
    LaunchKernels(3);
    EXPECT_TRUE(AwaitReadings(6));
    const auto trace = StopWindow(*recording);
    const auto readings = ReadingsOf(*trace);
    ASSERT_EQ(readings.size(), 4u);
    for (const int64_t device : {0, 1}) {
      const std::vector<Reading>& power = readings.at({kPower, device});
      const std::vector<Reading>& clock = readings.at({kClock, device});
      ASSERT_GE(power.size(), 3u);
      for (size_t i = 0; i < power.size(); ++i)
        EXPECT_DOUBLE_EQ(power[i].value, 300.0 + 100.0 * static_cast<double>(device) + static_cast<double>(i));
      for (size_t i = 1; i < power.size(); ++i)
        EXPECT_GE((power[i].time - power[i - 1].time).ns, 99'900'000) << "the system's clock may be corrected";
      ASSERT_GE(clock.size(), 2u);
      EXPECT_EQ(clock[0].value, 1980);
      EXPECT_EQ(clock[1].value, 1965);
    }
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 3u);
    EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
    EXPECT_TRUE(Await([] { return ThreadsOfNvml() == 0; })) << "no window is open";
    EXPECT_EQ(fake_cupti_calls("nvmlInit_v2"), 1u);
    EXPECT_EQ(fake_cupti_calls("nvmlShutdown"), 1u);
    ExpectNothingLeft();
  });
}

TEST_F(CudaReadings, AreInAFileAsTheyAreInTheWindow) {
  InChildProcess("", [] {
    const std::string path = std::filesystem::path(testing::TempDir()) / "cuda_readings.opscope";
    std::filesystem::remove(path);
    const auto recording = StartWindow(0, path);
    EXPECT_TRUE(AwaitReadings(2));
    recording->Stop();
    const auto trace = ImportFile(path);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_GE(ReadingsOf(trace.value()).at({kPower, 0}).size(), 2u);
    EXPECT_GE(ReadingsOf(trace.value()).at({kClock, 0}).size(), 1u);
    EXPECT_EQ(trace.value().problems().size(), 0u) << ProblemsOf(trace.value());
  });
}

TEST_F(CudaReadings, AreNotThereWhereNvmlIsNotAndNothingIsSaid) {
  InChildProcess("", [] {
    setenv("OPSCOPE_NVML_LIB", "/nonexistent/libnvidia-ml.so.1", 1);
    for (int window = 0; window < 2; ++window) {
      const auto recording = StartWindow();
      EXPECT_TRUE(Await([] { return ThreadsOfNvml() == 0; }));
      LaunchKernels(1);
      fake_cuda_device_synchronize(0);
      const auto trace = StopWindow(*recording);
      EXPECT_EQ(trace->counters().size(), 0u);
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 1u);
      EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
    }
  });
}

TEST_F(CudaReadings, ThatFailCostOnlyThemselves) {
  struct Case {
    const char* fails;
    bool has_power, has_clock;
  };
  for (const Case& each :
       {Case{"nvmlInit_v2:9", false, false}, Case{"nvmlDeviceGetCount_v2:999", false, false},
        Case{"nvmlDeviceGetHandleByIndex_v2:15", false, false}, Case{"nvmlDeviceGetPowerUsage:3", false, true},
        Case{"nvmlDeviceGetClockInfo:15", true, false}, Case{"nvmlShutdown:999", true, true}}) {
    InChildProcess(std::string("fail=") + each.fails, [&] {
      const auto recording = StartWindow();
      const std::string function(each.fails, std::string(each.fails).find(':'));
      const bool ends = function == "nvmlInit_v2";  // without NVML there is no thread
      EXPECT_TRUE(Await([&] {
        const char* asked = function == "nvmlShutdown" ? "nvmlDeviceGetClockInfo" : function.c_str();
        return fake_cupti_calls(asked) >= (ends ? 1 : 2) && (!ends || ThreadsOfNvml() == 0);
      }));
      LaunchKernels(1);
      fake_cuda_device_synchronize(0);
      const auto trace = StopWindow(*recording);
      const auto readings = ReadingsOf(*trace);
      EXPECT_EQ(readings.contains({kPower, 0}), each.has_power) << each.fails;
      EXPECT_EQ(readings.contains({kClock, 0}), each.has_clock) << each.fails;
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 1u);
      EXPECT_EQ(trace->problems().size(), 0u) << each.fails << ": " << ProblemsOf(*trace);
    });
  }
}

TEST_F(CudaReadings, ThatHangDelayNoStopAndNoEndOfTheProcess) {
  for (const char* function : {"nvmlInit_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetPowerUsage",
                               "nvmlDeviceGetClockInfo", "nvmlShutdown"}) {
    const std::string scenario = std::string("hang=") + function + ":60";
    const auto begin = steady_clock::now();
    EXPECT_EXIT(
        {
          fake_cupti_scenario(scenario.c_str());
          for (int window = 0; window < 2; ++window) {
            const auto recording = StartWindow();
            if (std::string_view(function) != "nvmlShutdown") Await([&] { return fake_cupti_calls(function) == 1; });
            LaunchKernels(1);
            fake_cuda_device_synchronize(0);
            const auto trace = StopWindow(*recording);
            EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 1u);
            EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
            EXPECT_TRUE(Await([&] { return fake_cupti_calls(function) == 1; })) << "once more would be another thread";
          }
          EXPECT_EQ(ThreadsOfNvml(), 1u);
          std::exit(testing::Test::HasFailure() ? 1 : 7);
        },
        testing::ExitedWithCode(7), "")
        << function;
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(40)) << function;
  }
}

TEST_F(CudaReadings, GoOnWhereNvmlComesBack) {
  InChildProcess("hang=nvmlDeviceGetPowerUsage:60@1", [] {
    auto recording = StartWindow();
    EXPECT_TRUE(Await([] { return fake_cupti_calls("nvmlDeviceGetPowerUsage") == 1; }));
    EXPECT_THAT(ReadingsOf(*StopWindow(*recording)), IsEmpty());
    recording = StartWindow();
    fake_cupti_end_hangs();
    EXPECT_TRUE(AwaitReadings(2));
    EXPECT_GE(ReadingsOf(*StopWindow(*recording)).at({kPower, 0}).size(), 1u);
  });
}

TEST_F(CudaReadings, AreOfEveryOpenWindow) {
  InChildProcess("", [] {
    const auto first = StartWindow();
    EXPECT_TRUE(AwaitReadings(1));
    const auto second = StartWindow();
    EXPECT_TRUE(AwaitReadings(3));
    const size_t of_first = ReadingsOf(*StopWindow(*first)).at({kPower, 0}).size();
    EXPECT_TRUE(AwaitReadings(5));
    const auto of_second = ReadingsOf(*StopWindow(*second)).at({kPower, 0});
    EXPECT_GE(of_first, 3u);
    EXPECT_GE(of_second.size(), 3u);
    EXPECT_GT(of_second.front().value, 300) << "the first was read before this window";
    EXPECT_EQ(fake_cupti_calls("nvmlInit_v2"), 1u) << "one thread reads for both";
  });
}

TEST_F(CudaReadings, RestWhileTheWindowDoes) {
  InChildProcess("", [] {
    const auto recording = StartWindow();
    EXPECT_TRUE(AwaitReadings(1));
    recording->Pause(true, "cuda");
    const uint64_t before = fake_cupti_calls("nvmlDeviceGetPowerUsage");
    EXPECT_TRUE(AwaitReadings(before + 2));
    recording->Pause(false, "cuda");
    const uint64_t after = fake_cupti_calls("nvmlDeviceGetPowerUsage");
    EXPECT_TRUE(AwaitReadings(after + 1));
    const std::vector<Reading> power = ReadingsOf(*StopWindow(*recording)).at({kPower, 0});
    std::vector<double> paused;
    for (const Reading& reading : power) {
      const double number = reading.value - 300;
      const bool is_within = number > static_cast<double>(before) && number < static_cast<double>(after) - 1;
      if (is_within) paused.push_back(number);
    }
    EXPECT_THAT(paused, IsEmpty());
    EXPECT_GE(power.size(), 2u);
  });
}

TEST_F(CudaReadings, OfAForkedChildAreNobodys) {
  InChildProcess("", [] {
    const auto recording = StartWindow();
    EXPECT_TRUE(AwaitReadings(1));
    const pid_t child = fork();
    if (child == 0) {
      const uint64_t calls = fake_cupti_calls("nvmlDeviceGetPowerUsage") + fake_cupti_calls("nvmlInit_v2");
      StartWindow()->Stop();
      recording->Stop();
      const uint64_t after = fake_cupti_calls("nvmlDeviceGetPowerUsage") + fake_cupti_calls("nvmlInit_v2");
      // Not std::exit: memory on the stacks of the parent's threads has no owner in the child, and the leak checker
      // would report it.
      _exit(after == calls && ThreadsOfNvml() == 0 && fake_cupti_violations() == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(AwaitReadings(3));
    EXPECT_GE(ReadingsOf(*StopWindow(*recording)).at({kPower, 0}).size(), 3u) << "the parent's window goes on";
  });
}

TEST_F(CudaReadings, EndWithTheProcessThatHasAnOpenWindow) {
  EXPECT_EXIT(
      {
        fake_cupti_scenario("");
        static auto* recording = StartWindow().release();
        AwaitReadings(1);
        std::exit(recording->is_running() ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace opscope
