// The CUDA source on a libcupti with a simulated GPU behind it.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/cuda_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "flight/temporary_folder_for_test.h"
#include "opscope/import.h"
#include "opscope/session.h"
#include "sources/cuda/simulated_cupti_for_test.h"

namespace opscope {
namespace {

using testing::HasSubstr;

class CudaSourceTest : public SimulatedCuptiTest {
 protected:
  std::unique_ptr<Recording> Start(uint32_t flags = 0, uint64_t max_bytes = uint64_t{1} << 30) {
    auto recording = std::make_unique<Recording>(
        RecordingOptions{.max_bytes = max_bytes, .sources = {{&opscope_cuda_source()->source, flags}}});
    EXPECT_TRUE(recording->Start().ok());
    return recording;
  }
  // Kernels in a recording during which one is launched.
  size_t KernelsOfNextWindow();
};

uint64_t CountOf(const Trace& trace, std::string_view kind) {
  for (size_t i = 0; i < trace.problems().size(); ++i) {
    if (trace.text(trace.problems().kind[i]) == kind) return trace.problems().count[i];
  }
  return 0;
}

std::string MessageOf(const Trace& trace, std::string_view kind) {
  for (size_t i = 0; i < trace.problems().size(); ++i) {
    if (trace.text(trace.problems().kind[i]) == kind) return std::string(trace.text(trace.problems().message[i]));
  }
  return {};
}

size_t SpansOf(const Trace& trace, SpanKind kind) {
  size_t count = 0;
  for (const SpanKind each : trace.spans().kind)
    count += each == kind ? 1 : 0;
  return count;
}

size_t CudaSourceTest::KernelsOfNextWindow() {
  const auto recording = Start();
  fake_cuda_launch(kFirstStream, "gemm", 1000, 8, 128);
  fake_cuda_device_synchronize(0);
  recording->Stop();
  return SpansOf(*recording->ReadTrace().value(), SpanKind::kKernel);
}

TEST_F(CudaSourceTest, RecordsKernelsCopiesAndTheirCalls) {
  const auto recording = Start();
  for (int i = 0; i < 10; ++i)
    fake_cuda_launch(kFirstStream, "_Z3addPf", 1000, 8, 128);
  fake_cuda_memcpy(kFirstStream, 1, 1, 3, 4096, 0);
  fake_cuda_device_synchronize(0);
  recording->Stop();
  const auto trace = recording->ReadTrace().value();
  EXPECT_EQ(SpansOf(*trace, SpanKind::kKernel), 10u);
  EXPECT_EQ(SpansOf(*trace, SpanKind::kCopy), 1u);
  EXPECT_EQ(SpansOf(*trace, SpanKind::kRuntimeCall), 12u);
  EXPECT_EQ(trace->flows().size(), 11u);
  for (const SpanId span : trace->flows().end_span)
    EXPECT_NE(span, SpanId::kNone);
  for (size_t i = 0; i < trace->flows().size(); ++i)
    EXPECT_LE(trace->flows().start_time[i], trace->flows().end_time[i]);
  EXPECT_EQ(trace->problems().size(), 0u) << trace->text(trace->problems().message[0]);
  EXPECT_EQ(trace->info().dropped, 0u);
  EXPECT_EQ(fake_cupti_issued(0), fake_cupti_handed_back(0));
}

// What a process finds in its CUPTI it finds once, so each version has one of its own.
void RecordAndEnd(const char* scenario) {
  fake_cupti_scenario(scenario);
  {
    Recording recording({.sources = {{&opscope_cuda_source()->source,
                                      cuda_source_flags::kSynchronization | cuda_source_flags::kMemory}}});
    EXPECT_TRUE(recording.Start().ok());
    const uint32_t event = fake_cuda_event_create();
    fake_cuda_launch(kFirstStream, "gemm", 1000, 8, 128);
    fake_cuda_event_record(event, kFirstStream);
    fake_cuda_event_synchronize(event);
    fake_cuda_free(fake_cuda_malloc(0, 4096));
    fake_cuda_device_synchronize(0);
    recording.Stop();
    const auto trace = recording.ReadTrace().value();
    EXPECT_EQ(SpansOf(*trace, SpanKind::kKernel), 1u);
    EXPECT_GE(SpansOf(*trace, SpanKind::kSynchronization), 1u);
    EXPECT_EQ(trace->problems().size(), 0u) << trace->text(trace->problems().message[0]);
  }
  EXPECT_STREQ(fake_cupti_violation_text(), "");
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

TEST_F(CudaSourceTest, RecordsWithEveryVersion) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* version : {"12.1", "12.9", "13.0", "13.5", "99"}) {
    const std::string scenario = std::string("version=") + version;
    EXPECT_EXIT(RecordAndEnd(scenario.c_str()), testing::ExitedWithCode(0), "") << version;
  }
  // Kineto keeps its subscription after its first session; where CUPTI has a query for it, that is no obstacle.
  EXPECT_EXIT(RecordAndEnd("version=13.5;holder=idle"), testing::ExitedWithCode(0), "");
}

void StartAndEnd(const char* scenario, const char* words) {
  fake_cupti_scenario(scenario);
  {
    Recording recording({.sources = {{&opscope_cuda_source()->source}}});
    EXPECT_TRUE(recording.Start().ok());
    char why[512];
    opscope_cuda_source()->why_not_recorded(recording.window(), why, sizeof(why));
    EXPECT_THAT(std::string(why), HasSubstr(words));
    EXPECT_THAT(std::string(why), HasSubstr("CUDA"));
    recording.Stop();
    const auto trace = recording.ReadTrace().value();
    EXPECT_EQ(CountOf(*trace, "device_not_recorded"), 1u);
    EXPECT_THAT(MessageOf(*trace, "device_not_recorded"), HasSubstr(words));
  }
  EXPECT_EQ(fake_cupti_enabled_kinds(), 0u);
  EXPECT_EQ(fake_cupti_subscribed(), 0u);
  EXPECT_STREQ(fake_cupti_violation_text(), "");
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

TEST_F(CudaSourceTest, GivesOverlappingWindowsWhatIsOfEach) {
  const auto first = Start();
  fake_cuda_launch(kFirstStream, "one", 1000, 8, 128);
  fake_cuda_device_synchronize(0);
  const auto second = Start();
  fake_cuda_launch(kFirstStream, "both", 1000, 8, 128);
  fake_cuda_device_synchronize(0);
  first->Stop();
  EXPECT_NE(fake_cupti_enabled_kinds(), 0u) << "the second one goes on";
  fake_cuda_launch(kFirstStream, "two", 1000, 8, 128);
  fake_cuda_device_synchronize(0);
  second->Stop();
  const auto names = [](const Trace& trace) {
    std::vector<std::string> found;
    for (size_t i = 0; i < trace.spans().size(); ++i) {
      if (trace.spans().kind[i] == SpanKind::kKernel) found.emplace_back(trace.text(trace.spans().name[i]));
    }
    return found;
  };
  EXPECT_THAT(names(*first->ReadTrace().value()), testing::ElementsAre("one", "both"));
  EXPECT_THAT(names(*second->ReadTrace().value()), testing::ElementsAre("both", "two"));
}

TEST_F(CudaSourceTest, SaysInOneLineWhyItDoesNotRecord) {
  const std::pair<const char*, const char*> cases[] = {
      {"version=12.9;driver=none", "no driver"},
      {"version=13.0;driver=none", "no driver"},
      {"version=13.5;driver=none", "no driver"},
      {"missing=cuptiActivityFlushAll", "too old"},
      {"fail=cuptiActivityEnable(10):35", "permission"},
      {"fail=cuptiActivityEnable(10):43", "not supported"},
      {"fail=cuptiActivityEnable(10):8", "CUPTI_ERROR_OUT_OF_MEMORY"},
      {"version=13.0;holder=recording", "in use"},
      {"version=13.5;holder=recording", "in use"},
      {"version=13.0;holder=idle", "in use"},
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const auto& [scenario, words] : cases)
    EXPECT_EXIT(StartAndEnd(scenario, words), testing::ExitedWithCode(0), "") << scenario;
}

TEST_F(CudaSourceTest, CountsWhatCuptiDroppedAndWhatIsIncompleteOrUnknown) {
  fake_cupti_scenario("drop=10;incomplete=7;unknown=5");
  const auto recording = Start();
  for (int i = 0; i < 100; ++i)
    fake_cuda_launch(kFirstStream, "gemm", 1000, 8, 128);
  fake_cuda_device_synchronize(0);
  recording->Stop();
  const auto trace = recording->ReadTrace().value();
  EXPECT_EQ(CountOf(*trace, "device_dropped"), fake_cupti_dropped(0));
  EXPECT_GT(CountOf(*trace, "device_dropped"), 0u);
  EXPECT_GT(CountOf(*trace, "device_incomplete"), 0u);
  EXPECT_EQ(CountOf(*trace, "device_unknown"), fake_cupti_handed_back(777));
}

TEST_F(CudaSourceTest, StopsInTimeWhenAFlushHangs) {
  fake_cupti_scenario("hang=cuptiActivityFlushAll:30");
  const auto recording = Start();
  fake_cuda_launch(kFirstStream, "gemm", 1000, 8, 128);
  const auto begin = std::chrono::steady_clock::now();
  recording->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(CountOf(*recording->ReadTrace().value(), "device_flush_timeout"), 1u);
  fake_cupti_end_hangs();
  while (fake_cupti_subscribed() != 0)
    std::this_thread::yield();  // what hung goes on by itself
  fake_cupti_scenario("");
  EXPECT_EQ(KernelsOfNextWindow(), 1u) << "the next window starts anew";
}

TEST_F(CudaSourceTest, StartsInTimeWhenEnablingHangs) {
  fake_cupti_scenario("hang=cuptiActivityEnable:60");
  const auto begin = std::chrono::steady_clock::now();
  const auto recording = Start();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  recording->Stop();
  EXPECT_THAT(MessageOf(*recording->ReadTrace().value(), "device_not_recorded"), HasSubstr("does not answer"));
  fake_cupti_change("");
  EXPECT_EQ(KernelsOfNextWindow(), 1u) << "it goes on from what has come back";
}

TEST_F(CudaSourceTest, EndsInTimeWhileAnotherStartHangs) {
  const auto first = Start();
  fake_cuda_launch(kFirstStream, "one", 1000, 8, 128);
  fake_cuda_device_synchronize(0);
  fake_cupti_change("hang=cuptiActivityEnable:60");  // of the kind that kMemory needs
  const auto second = Start(cuda_source_flags::kMemory);
  const auto begin = std::chrono::steady_clock::now();
  first->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(SpansOf(*first->ReadTrace().value(), SpanKind::kKernel), 1u);
  EXPECT_EQ(CountOf(*first->ReadTrace().value(), "device_flush_timeout"), 1u) << "CUPTI stays as it was";
  second->Stop();
  fake_cupti_change("");
  Start()->Stop();  // gives back what the first one could not
}

TEST_F(CudaSourceTest, CountsBuffersThatNeverComeBack) {
  fake_cupti_scenario("late=never");
  const auto recording = Start();
  fake_cuda_launch(kFirstStream, "gemm", 1000, 8, 128);
  fake_cuda_device_synchronize(0);
  recording->Stop();
  EXPECT_GT(CountOf(*recording->ReadTrace().value(), "device_late"), 0u);
}

TEST_F(CudaSourceTest, TakesTwoMillionLaunches) {
  const auto recording = Start();
  fake_cuda_launch_many(kFirstStream, "_Z3addPf", 1, 2'000'000);
  fake_cuda_device_synchronize(0);
  const auto begin = std::chrono::steady_clock::now();
  recording->Stop();
  const auto stopped = std::chrono::steady_clock::now();
  EXPECT_LT(stopped - begin, std::chrono::seconds(20));
  const WindowCounts counts = recording->counts();
  EXPECT_EQ(counts.dropped, 0u);
  EXPECT_GE(counts.recorded, 4'000'000u);
  EXPECT_LT(counts.bytes, counts.recorded * 64);
  const auto trace = recording->ReadTrace().value();
  EXPECT_EQ(SpansOf(*trace, SpanKind::kKernel), 2'000'000u);
  EXPECT_EQ(CountOf(*trace, "device_dropped"), 0u);
}

TEST_F(CudaSourceTest, HoldsTheCapOfTheRecording) {
  const auto recording = Start(0, uint64_t{4} << 20);
  fake_cuda_launch_many(kFirstStream, "_Z3addPf", 1, 200'000);
  fake_cuda_device_synchronize(0);
  recording->Stop();
  const auto trace = recording->ReadTrace().value();
  EXPECT_GT(trace->info().dropped, 0u);
  EXPECT_GT(CountOf(*trace, "dropped_at_cap"), 0u);
}

void RecordUntilKilled(const std::string& path) {
  Recording recording({.record_to = path, .sources = {{&opscope_cuda_source()->source}}});
  if (!recording.Start().ok()) _exit(1);
  fake_cuda_launch_many(kFirstStream, "gemm", 1, 300'000);
  while (recording.counts().recorded < 100'000)
    std::this_thread::yield();
  raise(SIGKILL);
}

TEST_F(CudaSourceTest, LeavesInAMappedFileWhatAKilledProgramHadDone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string path = testing::TempDir() + "opscope_cuda_killed.opscope";  // also of the process that dies
  EXPECT_EXIT(RecordUntilKilled(path), testing::KilledBySignal(SIGKILL), "");
  const Trace trace = ImportFile(path).value();
  unlink(path.c_str());
  EXPECT_GT(SpansOf(trace, SpanKind::kKernel) + SpansOf(trace, SpanKind::kRuntimeCall), 90'000u);
  EXPECT_EQ(CountOf(trace, "recording_not_ended"), 1u);
  EXPECT_EQ(CountOf(trace, "damaged_record"), 0u);
}

TEST_F(CudaSourceTest, LiesInAMappedFileWhenItIsStopped) {
  const TemporaryFolder folder;
  const std::string path = folder.File("mapped.opscope");
  Recording recording({.record_to = path, .sources = {{&opscope_cuda_source()->source}}});
  ASSERT_TRUE(recording.Start().ok());
  fake_cuda_launch_many(kFirstStream, "gemm", 1, 20'000);
  fake_cuda_device_synchronize(0);
  recording.Stop();
  const Trace trace = ImportFile(path).value();
  EXPECT_EQ(SpansOf(trace, SpanKind::kKernel), 20'000u);
  EXPECT_EQ(trace.problems().size(), 0u) << trace.text(trace.problems().message[0]);
}

TEST_F(CudaSourceTest, CountsTheSameWayAsCupti) {
  fake_cupti_scenario("drop=9;order=shuffled;nested_driver=1");
  const auto recording = Start();
  for (int i = 0; i < 500; ++i)
    fake_cuda_launch(kFirstStream, "gemm", 1000, 8, 128);
  fake_cuda_device_synchronize(0);
  recording->Stop();
  const auto trace = recording->ReadTrace().value();
  const uint64_t devices = 1;  // records of what there is
  EXPECT_EQ(trace->info().recorded + trace->info().dropped + CountOf(*trace, "device_dropped") + devices,
            fake_cupti_issued(0));
}

TEST_F(CudaSourceTest, IgnoresWhatComesAfterTheLastKindWasDisabled) {
  fake_cupti_scenario("after_disable=5");
  const auto recording = Start();
  fake_cuda_launch(kFirstStream, "gemm", 1000, 8, 128);
  fake_cuda_device_synchronize(0);
  recording->Stop();
  EXPECT_GE(SpansOf(*recording->ReadTrace().value(), SpanKind::kKernel), 1u);
}

TEST_F(CudaSourceTest, KeepsItsOrderWhenCuptiDoesNot) {
  for (const char* scenario : {"order=reversed", "order=device_first", "deliver=inline", "deliver=flush",
                               "flush=thread", "thread_buffers=1", "late=20", "longer=16", "correlation=4294967290"}) {
    fake_cupti_scenario(scenario);
    const auto recording = Start();
    for (int i = 0; i < 20; ++i)
      fake_cuda_launch(kFirstStream, "gemm", 1000, 8, 128);
    fake_cuda_device_synchronize(0);
    recording->Stop();
    const auto trace = recording->ReadTrace().value();
    EXPECT_EQ(SpansOf(*trace, SpanKind::kKernel), 20u) << scenario;
    EXPECT_EQ(trace->flows().size(), 20u) << scenario;
    EXPECT_EQ(trace->problems().size(), 0u) << scenario << ": " << trace->text(trace->problems().message[0]);
  }
}

TEST_F(CudaSourceTest, TellsWhatFailedWhenItStopped) {
  for (const char* scenario : {"fail=cuptiActivityDisable(10):999", "fail=cuptiActivityGetNumDroppedRecords:1",
                               "fail=cuptiActivityFlushAll:7"}) {
    fake_cupti_scenario(scenario);
    const auto recording = Start();
    fake_cuda_launch(kFirstStream, "gemm", 1000, 8, 128);
    fake_cuda_device_synchronize(0);
    recording->Stop();
    const auto trace = recording->ReadTrace().value();
    EXPECT_GE(CountOf(*trace, "device_call_failed"), 1u) << scenario;
    EXPECT_THAT(MessageOf(*trace, "device_call_failed"), HasSubstr("CUPTI_ERROR_")) << scenario;
  }
  fake_cupti_scenario("");
}

TEST_F(CudaSourceTest, RecordsNothingInAForkedChild) {
  const auto recording = Start();
  fake_cuda_launch(kFirstStream, "gemm", 1000, 8, 128);
  const pid_t child = fork();
  if (child == 0) {
    char why[512];
    opscope_cuda_source()->why_not(why, sizeof(why));
    _exit(std::string(why).find("forked") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  fake_cuda_device_synchronize(0);
  recording->Stop();
  EXPECT_EQ(SpansOf(*recording->ReadTrace().value(), SpanKind::kKernel), 1u);
}

}  // namespace
}  // namespace opscope
