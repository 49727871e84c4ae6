// A process that forks, ends, or is killed with an open window.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cuda_window.h"
#include "opscope/import.h"

namespace opscope {
namespace {

class CudaLifetime : public CudaFaults {};

TEST_F(CudaLifetime, ChildOfAForkCallsNothing) {
  WithEveryVersion("", [] {
    const auto recording = StartWindow();
    LaunchKernels(5);
    const pid_t child = fork();
    if (child == 0) {
      const bool is_told = !WhyNotRecorded(*StartWindow()).empty();
      recording->Stop();
      _exit(is_told && fake_cupti_violations() == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    LaunchKernels(5);
    fake_cuda_device_synchronize(0);
    EXPECT_EQ(CountOf(*StopWindow(*recording), SpanKind::kKernel), 10u) << "the parent's window goes on";
    ExpectNothingLeft();
  });
}

TEST_F(CudaLifetime, ExitWithAnOpenWindowEndsAtOnce) {
  for (const char* scenario : {"", "hang=cuptiActivityFlushAll:30", "late=never", "deliver=inline"}) {
    const std::string with = std::string("version=13.0;") + scenario;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EXIT(
        {
          fake_cupti_scenario(with.c_str());
          static auto* recording = StartWindow().release();
          LaunchKernels(100);
          std::exit(recording->is_running() ? 7 : 1);
        },
        testing::ExitedWithCode(7), "")
        << scenario;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8)) << scenario;
  }
}

TEST_F(CudaLifetime, ProcessEndsAtOnceAfterAStopThatHung) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EXIT(
      {
        fake_cupti_scenario("hang=cuptiActivityFlushAll:30");
        const auto recording = StartWindow();
        LaunchKernels(10);
        recording->Stop();
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
}

TEST_F(CudaLifetime, KilledProcessLeavesWhatWasDelivered) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "cuda_killed";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "killed.opscope";
  std::filesystem::remove(path);
  const auto killed = [&] {
    fake_cupti_scenario("version=13.0;deliver=inline");
    const auto recording = StartWindow(0, path);
    fake_cuda_launch_many(kStream, "gemm", 1, 300'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    kill(getpid(), SIGKILL);
  };
  EXPECT_EXIT(killed(), testing::KilledBySignal(SIGKILL), "");
  const auto trace = ImportFile(path);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_GT(CountOf(trace.value(), SpanKind::kRuntimeCall) + CountOf(trace.value(), SpanKind::kKernel), 0u);
}

TEST_F(CudaLifetime, FileHasWhatTheWindowHad) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "cuda_file";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "window.opscope";
  std::filesystem::remove(path);
  const auto recording = StartWindow(0, path);
  LaunchKernels(1000);
  fake_cuda_device_synchronize(0);
  recording->Stop();
  const auto trace = ImportFile(path);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(CountOf(trace.value(), SpanKind::kKernel), 1000u);
  EXPECT_EQ(CountOf(trace.value(), SpanKind::kRuntimeCall), 1001u);
}

}  // namespace
}  // namespace opscope
