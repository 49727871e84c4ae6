// Each kind of finding planted by hand, with its saving, and a twin without it.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/advise.h"

#include <gtest/gtest.h>

#include "analysis/advise/job_for_test.h"
#include "trace/builder.h"

namespace opscope {
namespace {

using Kinds = PlantedJob::Kinds;

constexpr int64_t kStepNs = PlantedJob::kStepNs;
constexpr const char* kLoader = "enumerate(DataLoader)#_BaseDataLoaderIter.__next__";

TEST(Advise, ComputesTheExampleOfTheDefinition) {
  PlantedJob job(8);
  int64_t begin = 100;
  for (const int64_t duration : {10, 20, 30, 20}) {
    job.Work("kernel", "vectorized_elementwise_kernel", 1, begin, begin + duration);
    begin += duration;
  }
  job.Work("kernel", "gemm", 20, 180, 1100);
  const Advice advice = job.Ask();
  EXPECT_EQ(advice.steps, 8u);
  EXPECT_EQ(advice.step_mean_ns, kStepNs);
  ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kSmallOps});
  EXPECT_EQ(advice.findings[0].saving_ns, 50) << "80 - 30; a run ends where its step does";
  EXPECT_EQ(advice.findings[0].count, 8u);
  EXPECT_EQ(advice.findings[0].evidence.size(), 8u);
  EXPECT_EQ(advice.findings[0].evidence[1].start_ns, kStepNs + 100);
}

TEST(Advise, TakesNoTwoPointwiseKernelsNorThoseWithAnotherBetweenForARun) {
  for (const bool is_between : {false, true}) {
    PlantedJob job(4);
    job.Work("kernel", "elementwise_kernel", 1, 100, 200);
    job.Work("kernel", "elementwise_kernel", 5, 200, 300);
    if (is_between) {
      job.Work("kernel", "gemm", 9, 300, 310);
      job.Work("kernel", "elementwise_kernel", 13, 310, 400);
    }
    job.Work("kernel", "gemm", 20, is_between ? 400 : 300, 1100);
    EXPECT_TRUE(job.Ask().findings.empty());
  }
}

TEST(Advise, FindsIdleTimeAfterAWait) {
  for (const bool waits : {true, false}) {
    PlantedJob job(4);
    job.Work("kernel", "gemm", 0, 10, 300);
    if (waits) job.Host("cpu_op", "aten::item", 50, 320);
    if (waits) job.Host("cpu_op", "aten::_local_scalar_dense", 60, 310);
    job.Work("kernel", "gemm", waits ? 380 : 100, 400, 990);
    const Advice advice = job.Ask();
    if (!waits) {
      EXPECT_TRUE(advice.findings.empty()) << "the work was launched in time";
      continue;
    }
    ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kSyncPoints}) << "launch_bound does not count it again";
    EXPECT_EQ(advice.findings[0].saving_ns, 100);
    EXPECT_EQ(advice.findings[0].confidence, Confidence::kHigh);
    EXPECT_EQ(advice.findings[0].count, 4u) << "the outer one of two nested waits";
    EXPECT_EQ(job.text(advice.findings[0].evidence[0].name), "aten::item");
  }
}

TEST(Advise, TakesTheWaitForTheEndOfAStepForNoFault) {
  PlantedJob job(4);
  job.Work("kernel", "gemm", 10, 20, 1000);
  job.Host("cuda_runtime", "cudaDeviceSynchronize", 30, 1000);
  EXPECT_TRUE(job.Ask().findings.empty());
}

TEST(Advise, FindsADeviceThatWaitsForLaunches) {
  for (const int64_t launch : {700, 20}) {
    PlantedJob job(4);
    job.Work("kernel", "gemm", 0, 10, 600);
    job.Work("kernel", "gemm", launch, 710, 1000);
    const Advice advice = job.Ask();
    if (launch == 20) {
      EXPECT_TRUE(advice.findings.empty());
      continue;
    }
    ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kLaunchBound});
    EXPECT_EQ(advice.findings[0].saving_ns, 110);
    EXPECT_EQ(advice.findings[0].confidence, Confidence::kMedium);
  }
}

TEST(Advise, FindsWaitingForInputWithAndWithoutADevice) {
  for (const bool has_device : {false, true}) {
    for (const int64_t length : {200, 20}) {
      PlantedJob job(4);
      job.Host("user_annotation", kLoader, 100, 100 + length);
      if (has_device) {
        job.Work("kernel", "gemm", 0, 10, 150);
        job.Work("kernel", "gemm", 20, 300, 1010);
      }
      const Advice advice = job.Ask();
      if (length == 20) {
        EXPECT_TRUE(advice.findings.empty());
        continue;
      }
      ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kInputStarvation});
      EXPECT_EQ(advice.findings[0].saving_ns, has_device ? 150 : 200);
    }
  }
}

TEST(Advise, FindsCopiesThatNoKernelHides) {
  for (const bool is_hidden : {false, true}) {
    PlantedJob job(4);
    job.Work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 10, 110);
    job.Work("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 3, 110, 300);
    job.Work("kernel", "gemm", 20, 300, 1010);
    if (is_hidden) job.Work("kernel", "gemm", 6, 9, 200);
    const Advice advice = job.Ask();
    EXPECT_EQ(PlantedJob::KindsOf(advice), is_hidden ? Kinds{} : Kinds{FindingKind::kHostDeviceCopies});
    if (!is_hidden) {
      EXPECT_EQ(advice.findings[0].saving_ns, 100);
    }
  }
}

TEST(Advise, CountsExposedCommunicationOfTheRankThatWaitsLeast) {
  PlantedJob job(2, 2);
  job.Work("kernel", "ncclDevKernel_AllReduce", -100, 100, 400, 0);
  job.Work("kernel", "ncclDevKernel_AllReduce", -100, 300, 400, 1);
  for (const int32_t rank : {0, 1})
    job.Work("kernel", "gemm", 20, 400, 1100, rank);
  const Advice advice = job.Ask();
  ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kExposedCommunication});
  EXPECT_EQ(advice.findings[0].saving_ns, 100);
  EXPECT_EQ(advice.findings[0].evidence[0].rank, 1);
  EXPECT_EQ(job.text(advice.findings[0].evidence[0].name), "");
}

TEST(Advise, FindsCompilationAfterTheFirstStepAlone) {
  for (const int first : {0, 2}) {
    PlantedJob job(first == 0 ? 1 : 3);
    job.Host("cpu_op", "_compile.compile_inner (dynamo_timed)", 100, 700, first);
    job.Host("cpu_op", "OutputGraph.call_user_compiler.backend_compile", 200, 600, first);
    const Advice advice = job.Ask();
    EXPECT_EQ(PlantedJob::KindsOf(advice), first == 0 ? Kinds{} : Kinds{FindingKind::kRecompiles});
    if (first > 0) {
      EXPECT_EQ(advice.findings[0].saving_ns, 200) << "600 of 3 steps; nested ones count once";
      EXPECT_EQ(advice.findings[0].count, 1u);
    }
  }
}

TEST(Advise, FindsAllocationsOfTheDeviceAfterTheFirstTwoSteps) {
  for (const int steps : {2, 5}) {
    PlantedJob job(steps);
    job.Host("cuda_runtime", "cudaMalloc", 100, 180);
    job.Host("cuda_runtime", "cudaMallocAsync", 200, 900);
    const Advice advice = job.Ask();
    EXPECT_EQ(PlantedJob::KindsOf(advice), steps == 2 ? Kinds{} : Kinds{FindingKind::kDeviceAllocations});
    if (steps == 5) {
      EXPECT_EQ(advice.findings[0].saving_ns, 80);
      EXPECT_EQ(advice.findings[0].count, 3u);
    }
  }
}

TEST(Advise, FindsPointwiseOperatorsInARowOnAThread) {
  PlantedJob job(2);
  job.Host("cpu_op", "aten::mul", 0, 100);
  job.Host("cpu_op", "aten::exp", 10, 90);  // inside
  job.Host("cpu_op", "aten::add_", 100, 300);
  job.Host("cpu_op", "aten::relu", 300, 400);
  job.Host("cpu_op", "aten::mm", 400, 500);
  job.Host("cpu_op", "aten::add", 500, 600);
  const Advice advice = job.Ask();
  ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kSmallOps});
  EXPECT_EQ(advice.findings[0].saving_ns, 200) << "100 + 200 + 100 less 200";
}

TEST(Advise, ComparesRanksByWhatTheyCompute) {
  PlantedJob job(2, 2);
  job.Work("kernel", "gemm", -800, 10, 310, 0);
  job.Work("kernel", "gemm", -800, 10, 910, 1);
  const Advice advice = job.Ask();
  ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kRankImbalance});
  EXPECT_EQ(advice.findings[0].saving_ns, 300) << "900 less the mean of 300 and 900";
  EXPECT_EQ(advice.findings[0].evidence[0].rank, 1);
}

TEST(Advise, TakesRanksThatAreLongerInTurnsForEqual) {
  for (const int64_t end : {620, 990}) {
    PlantedJob job(4, 2);
    job.Host("cpu_op", "forward", 10, 510, 0, 0);
    job.Host("cpu_op", "forward", 10, 410, 0, 1);
    job.Host("cpu_op", "backward", 420, end, 2, 1);
    const Advice advice = job.Ask();
    if (end == 620) {
      EXPECT_TRUE(advice.findings.empty()) << "each is 100 longer in two steps";
    } else {
      ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kRankImbalance});
      EXPECT_EQ(advice.findings[0].evidence[0].rank, 1);
      EXPECT_EQ(advice.findings[0].saving_ns, 92) << "a quarter of -50 - 50 + 235 + 235";
    }
  }
}

TEST(Advise, TakesScopesOfMegEngineOnTwoThreadsForStages) {
  PlantedJob job(2);
  job.Host("scope", "0", 100, 600);
  job.OtherThread("0", 100, 200, "scope");
  EXPECT_TRUE(job.Ask().findings.empty());
}

TEST(Advise, ComparesThreadsThatRunTheSameAtOnce) {
  for (const int64_t begin : {100, 620}) {
    PlantedJob job(2);
    job.Host("cpu_op", "shard", 100, 600);
    job.OtherThread("shard", begin, begin + 100);
    const Advice advice = job.Ask();
    EXPECT_EQ(PlantedJob::KindsOf(advice), begin == 100 ? Kinds{FindingKind::kThreadImbalance} : Kinds{})
        << "one after the other is no imbalance";
    if (begin == 100) {
      EXPECT_EQ(advice.findings[0].saving_ns, 200);
      EXPECT_EQ(job.text(advice.findings[0].evidence[0].name), "shard");
    }
  }
}

TEST(Advise, FindsMemoryThatEachStepLeavesBehind) {
  PlantedJob job(6);
  job.Allocate(100);
  const Advice advice = job.Ask();
  ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kMemoryGrowth});
  EXPECT_EQ(advice.findings[0].bytes_per_step, 100);
  EXPECT_EQ(advice.findings[0].saving_ns, 0);
  EXPECT_EQ(advice.findings[0].confidence, Confidence::kHigh);
  EXPECT_EQ(advice.findings[0].count, 4u) << "five rises, without the first";
  EXPECT_EQ(advice.findings[0].evidence[0].start_ns, 2 * kStepNs);
}

TEST(Advise, TakesNoSingleNorSmallNorEarlyRiseForGrowth) {
  PlantedJob single(6), small(6), early(4), fraction(6);
  single.Allocate(1000, 5);
  small.Allocate(1'000'000, 5);
  small.Allocate(1);
  early.Allocate(100);
  fraction.Allocate(1);
  fraction.Allocate(144, 5);  // the peak is 150, so 1 byte is less than 1 % of it
  for (PlantedJob* job : {&single, &small, &early, &fraction})
    EXPECT_TRUE(job->Ask().findings.empty());
}

TEST(Advise, NeedsACauseInHalfOfTheSteps) {
  for (const int first : {2, 3}) {
    PlantedJob job(4);
    job.Host("user_annotation", kLoader, 0, 600, first);
    EXPECT_EQ(job.Ask().findings.empty(), first == 3);
  }
}

TEST(Advise, TakesTheWindowForOneStepWithoutSteps) {
  TraceBuilder builder;
  const TrackId thread = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const auto add = [&](const char* name, int64_t begin, int64_t end) {
    builder.AddSpan({.start = {begin},
                     .duration = {end - begin},
                     .name = builder.Intern(name),
                     .category = builder.Intern("cpu_op"),
                     .track = thread});
  };
  add(kLoader, 0, 60);
  add("aten::mm", 60, 100);
  const Advice advice = Advise(builder.Build());
  EXPECT_EQ(advice.steps, 1u);
  EXPECT_EQ(advice.step_mean_ns, 100);
  ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kInputStarvation});
  EXPECT_EQ(advice.findings[0].saving_ns, 60);
}

TEST(Advise, SaysNothingOfAnEmptyTraceAndOfHostileTimes) {
  EXPECT_TRUE(Advise(Trace()).findings.empty());
  PlantedJob job(2);
  job.Host("cpu_op", "aten::item", INT64_MAX - 2000, INT64_MAX - 1000);
  job.Work("kernel", "elementwise", 0, -500, INT64_MAX / 2);
  for (const Finding& finding : job.Ask().findings)
    EXPECT_GE(finding.saving_ns, 0);
}

TEST(Advise, KeepsTheLongestEvidenceInOrderOfTime) {
  PlantedJob job(40);
  job.Host("user_annotation", kLoader, 0, 500);
  job.Host("user_annotation", kLoader, 600, 601);
  const Advice advice = job.Ask();
  ASSERT_EQ(advice.findings.size(), 1u);
  EXPECT_EQ(advice.findings[0].count, 80u);
  ASSERT_EQ(advice.findings[0].evidence.size(), Finding::kMaxEvidence);
  for (size_t i = 0; i < Finding::kMaxEvidence; ++i) {
    EXPECT_EQ(advice.findings[0].evidence[i].start_ns, static_cast<int64_t>(i) * kStepNs);
    EXPECT_EQ(advice.findings[0].evidence[i].end_ns, static_cast<int64_t>(i) * kStepNs + 500);
  }
}

// Two processes without a rank: the step of one lasts on behind a step of the other.
TEST(Advise, FindsTheStepThatASpanIsInAmongOverlappingOnes) {
  TraceBuilder builder;
  const auto add = [&](TrackId thread, const char* category, const char* name, int64_t begin, int64_t end) {
    return builder.AddSpan({.start = {begin},
                            .duration = {end - begin},
                            .name = builder.Intern(name),
                            .category = builder.Intern(category),
                            .track = thread});
  };
  for (const int64_t pid : {1, 2}) {
    const TrackId thread = builder.AddTrack({.process = builder.AddProcess({.pid = pid}), .tid = 1});
    const int64_t begin = pid == 1 ? 0 : 100, end = pid == 1 ? 1000 : 200;
    builder.AddStep(0, builder.Intern("step"), add(thread, "user_annotation", "step", begin, end));
    if (pid == 1) add(thread, "user_annotation", kLoader, 300, 900);
  }
  const Advice advice = Advise(builder.Build());
  ASSERT_EQ(PlantedJob::KindsOf(advice), Kinds{FindingKind::kInputStarvation});
  EXPECT_EQ(advice.findings[0].count, 1u);
  EXPECT_EQ(advice.findings[0].evidence.size(), 1u);
}

}  // namespace
}  // namespace opscope
