// Each cause that shows in calls alone, planted by hand with its saving, and a twin without it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "analysis/advise/job_for_test.h"

namespace opscope {
namespace {

using Planted = PlantedJob::Kinds;

// Reads of values, 10 ns each, with `between` other calls between two of them; they end at 20 + reads * 30 of the step.
void PlantReads(PlantedJob* job, int reads, int between) {
  for (int read = 0; read < reads; ++read) {
    const int64_t begin = 20 + read * 30;
    job->Host("cpu_op", "aten::is_nonzero", begin, begin + 10);
    job->Host("cpu_op", "aten::item", begin + 1, begin + 9);
    for (int call = 0; call < between; ++call)
      job->Host("cpu_op", "aten::eq", begin + 10 + call * 5, begin + 12 + call * 5);
  }
}

TEST(OperatorCauses, FindARunOfReadsWithThePythonBetween) {
  PlantedJob job(4);
  PlantReads(&job, 10, 1);
  const Advice advice = job.Ask();
  ASSERT_EQ(PlantedJob::KindsOf(advice), Planted{FindingKind::kScalarReads});
  EXPECT_EQ(advice.findings[0].saving_ns, 280) << "from the begin of the first read, 20, to the end of the last, 300";
  EXPECT_EQ(advice.findings[0].confidence, Confidence::kMedium);
  EXPECT_EQ(advice.findings[0].count, 4u);
  EXPECT_EQ(job.text(advice.findings[0].evidence[0].name), "aten::is_nonzero");
}

TEST(OperatorCauses, TakeNoFewReadsNorThoseWithOtherWorkBetweenForARun) {
  for (const auto& [reads, between] : {std::pair(9, 1), std::pair(10, 4)}) {
    PlantedJob job(4);
    PlantReads(&job, reads, between);
    EXPECT_TRUE(job.Ask().findings.empty()) << reads << " reads, " << between << " calls between";
  }
}

TEST(OperatorCauses, LeaveReadsBesideADeviceToSyncPoints) {
  PlantedJob job(4);
  PlantReads(&job, 10, 1);
  job.Work("kernel", "gemm", 0, 2, 1000);
  EXPECT_TRUE(job.Ask().findings.empty());
}

TEST(OperatorCauses, FindCopiesAndNameTheCallAroundThem) {
  for (const int64_t copy_ns : {20'000, 9'999}) {
    PlantedJob job(4, 1, 100'000);
    job.Host("cpu_op", "aten::to", 10'000, 40'000);
    job.Host("cpu_op", "aten::_to_copy", 11'000, 39'000);
    job.Host("cpu_op", "aten::copy_", 12'000, 12'000 + copy_ns);
    job.Host("cpu_op", "aten::mm", 40'000, 90'000);
    const Advice advice = job.Ask();
    if (copy_ns < 10'000) {
      EXPECT_TRUE(advice.findings.empty()) << "a copy of less than 10 us";
      continue;
    }
    ASSERT_EQ(PlantedJob::KindsOf(advice), Planted{FindingKind::kTensorCopies});
    EXPECT_EQ(advice.findings[0].saving_ns, 20'000);
    EXPECT_EQ(advice.findings[0].count, 4u);
    EXPECT_EQ(job.text(advice.findings[0].evidence[0].name), "aten::to");
  }
}

TEST(OperatorCauses, FindAnOptimizerOfSeveralOperators) {
  for (const bool is_fused : {false, true}) {
    PlantedJob job(4);
    job.Host("user_annotation", "Optimizer.step#Adam.step", 100, 500);
    job.Host("cpu_op", is_fused ? "aten::_fused_adam_" : "aten::lerp_", 110, 170);
    if (!is_fused) {
      job.Host("cpu_op", "aten::sqrt", 170, 210);
      job.Host("cpu_op", "aten::lerp_", 300, 320);
      job.Host("cpu_op", "aten::sqrt", 320, 350);
      job.Host("cpu_op", "aten::empty", 321, 325);  // inside
    }
    job.Host("cpu_op", "aten::mm", 600, 900);
    const Advice advice = job.Ask();
    EXPECT_EQ(PlantedJob::KindsOf(advice), is_fused ? Planted{} : Planted{FindingKind::kUnfusedOptimizer});
    if (is_fused) continue;
    EXPECT_EQ(advice.findings[0].saving_ns, 70) << "60 + 20 of lerp_ and 40 + 30 of sqrt, less the larger sum";
    EXPECT_EQ(job.text(advice.findings[0].evidence[0].name), "Optimizer.step#Adam.step");
  }
}

TEST(OperatorCauses, FindMoreThreadsThanProcessors) {
  for (const char* threads : {"8", "2", "\"8\"", "99999999999"}) {
    PlantedJob job(4);
    job.Metadata("opscope_threads", threads);
    job.Metadata("opscope_processors", "2");
    job.Host("cpu_op", "aten::linear", 100, 500);
    job.Host("cpu_op", "aten::addmm", 110, 490);
    const Advice advice = job.Ask();
    const bool is_found = std::string_view(threads) == "8";
    EXPECT_EQ(PlantedJob::KindsOf(advice), is_found ? Planted{FindingKind::kCpuOversubscription} : Planted{})
        << threads;
    if (!is_found) continue;
    EXPECT_EQ(advice.findings[0].saving_ns, 300) << "400 of calls, for 6 of 8 of which a thread waits";
    EXPECT_EQ(advice.findings[0].count, 4u);
    EXPECT_EQ(job.text(advice.findings[0].evidence[0].name), "aten::linear");
  }
}

}  // namespace
}  // namespace opscope
