// Windows of the CUDA source over the simulated CUPTI (tests/fake_cupti), for the tests of its faults.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fake_cuda.h"
#include "fake_cupti.h"
#include "opscope/cuda_source.h"
#include "opscope/session.h"

namespace opscope {

inline constexpr uint32_t kStream = 7;
inline constexpr uint32_t kKernelKind = 10;  // of CUPTI
inline constexpr uint32_t kRuntimeKind = 5;

struct Fact {
  uint64_t count = 0;
  std::string message;
};

// The trace's problem of this kind; its count is 0 if there is none.
inline Fact ProblemOf(const Trace& trace, std::string_view kind) {
  for (size_t i = 0; i < trace.problems().size(); ++i) {
    if (trace.text(trace.problems().kind[i]) == kind) {
      return {trace.problems().count[i], std::string(trace.text(trace.problems().message[i]))};
    }
  }
  return {};
}

// All of them, for messages of tests.
inline std::string ProblemsOf(const Trace& trace) {
  std::string all;
  for (size_t i = 0; i < trace.problems().size(); ++i) {
    all += std::string(trace.text(trace.problems().kind[i])) + " " + std::to_string(trace.problems().count[i]) + ": " +
           std::string(trace.text(trace.problems().message[i])) + "\n";
  }
  return all;
}

inline std::vector<std::string> NamesOf(const Trace& trace, SpanKind kind) {
  std::vector<std::string> names;
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.spans().kind[i] == kind) names.emplace_back(trace.text(trace.spans().name[i]));
  }
  return names;
}

inline size_t CountOf(const Trace& trace, SpanKind kind) {
  return NamesOf(trace, kind).size();
}

inline std::unique_ptr<Recording> StartWindow(uint32_t flags = 0, std::string record_to = {}) {
  auto recording = std::make_unique<Recording>(
      RecordingOptions{.record_to = std::move(record_to), .sources = {{&opscope_cuda_source()->source, flags}}});
  EXPECT_TRUE(recording->Start().ok());
  return recording;
}

inline std::shared_ptr<const Trace> StopWindow(Recording& recording) {
  const auto begin = std::chrono::steady_clock::now();
  recording.Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  return recording.ReadTrace().value();
}

inline void LaunchKernels(int count, const char* name = "gemm") {
  for (int i = 0; i < count; ++i)
    fake_cuda_launch(kStream, name, 1000, 8, 128);
}

// A window around so many kernels, which end within it.
inline std::shared_ptr<const Trace> RecordKernels(int count, uint32_t flags = 0) {
  const auto recording = StartWindow(flags);
  LaunchKernels(count);
  fake_cuda_device_synchronize(0);
  return StopWindow(*recording);
}

inline std::string WhyNotRecorded(const Recording& recording) {
  char why[512] = "";
  opscope_cuda_source()->why_not_recorded(recording.window(), why, sizeof(why));
  return why;
}

// After the last window nothing is enabled, subscribed or held, and no rule of CUPTI was broken.
inline void ExpectNothingLeft() {
  EXPECT_EQ(fake_cupti_enabled_kinds(), 0u);
  EXPECT_EQ(fake_cupti_subscribed(), 0u);
  EXPECT_EQ(fake_cupti_buffers_held(), 0u);
  EXPECT_STREQ(fake_cupti_violation_text(), "");
}

class CudaFaults : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("OPSCOPE_CUPTI_LIB", OPSCOPE_FAKE_CUPTI_FILE, 1);
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  void SetUp() override { fake_cupti_scenario(""); }
};

// GoogleTest prints nothing in the child of a death test, so failures are passed on in its output.
[[noreturn]] inline void EndDeathTest() {
  const testing::TestResult& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.total_part_count(); ++i) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (part.failed()) std::fprintf(stderr, "%s:%d: %s\n", part.file_name(), part.line_number(), part.message());
  }
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

// CUPTI's version and functions are looked up once per process, so a scenario that changes them needs a child process.
template <typename Body>
void InChildProcess(const std::string& scenario, const Body& body) {
  EXPECT_EXIT(
      {
        fake_cupti_scenario(scenario.c_str());
        body();
        EndDeathTest();
      },
      testing::ExitedWithCode(0), "")
      << scenario;
}

inline constexpr const char* kVersions[] = {"12.1", "12.9", "13.0", "13.5", "99"};

// Runs the body with every version of CUPTI, each in a child process.
template <typename Body>
void WithEveryVersion(const std::string& scenario, const Body& body) {
  for (const char* version : kVersions)
    InChildProcess(std::string("version=") + version + ";" + scenario, body);
}

}  // namespace opscope
