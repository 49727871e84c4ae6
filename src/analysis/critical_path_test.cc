// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/critical_path.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/critical_path_program_for_test.h"

namespace opscope {
namespace {

// kind, name, begin, end
using PathRow = std::tuple<std::string, std::string, int64_t, int64_t>;

std::vector<PathRow> PathRowsOf(const Trace& trace, const CriticalPathReport& report) {
  std::vector<PathRow> rows;
  for (const CriticalPathEdge& edge : report.rows) {
    const bool is_gap = edge.kind == PathEdgeKind::kGap;
    const std::string name(is_gap ? "" : trace.text(trace.spans().name[Row(edge.span)]));
    rows.emplace_back(PathEdgeKindName(edge.kind), name, edge.start_ns, edge.start_ns + edge.duration_ns);
  }
  return rows;
}

TEST(CriticalPath, IsThatOfTheExampleOfTheDefinition) {
  PathProgram program;
  const TrackId thread = program.Thread(0, 1), stream = program.Stream(0, 0, 7);
  program.Add(thread, "cpu_op", "op", 0, 10'000);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 2'000, 4'000, 5);
  program.Add(thread, "cuda_runtime", "cudaDeviceSynchronize", 10'000, 63'000, 6);
  program.Add(stream, "kernel", "gemm", 12'000, 60'000, 5);
  const Trace trace = program.Build();
  const CriticalPathReport report = FindCriticalPaths(trace);
  ASSERT_EQ(report.paths.size(), 1u);
  const CriticalPath& path = report.paths[0];
  EXPECT_EQ(path.rank, 0);
  EXPECT_EQ(path.first_row, 0u);
  EXPECT_EQ(path.row_count, 4u);
  EXPECT_EQ(path.length_ns, 63'000);
  EXPECT_EQ(path.window_ns, 63'000);
  EXPECT_EQ(path.times.host_ns, 2'000);
  EXPECT_EQ(path.times.launch_ns, 10'000);
  EXPECT_EQ(path.times.compute_ns, 48'000);
  EXPECT_EQ(path.times.sync_ns, 3'000);
  EXPECT_EQ(path.times.gap_ns + path.times.queue_ns + path.times.communication_ns + path.times.copy_ns, 0);
  EXPECT_EQ(PathRowsOf(trace, report), (std::vector<PathRow>{{"host", "op", 0, 2'000},
                                                             {"launch", "cudaLaunchKernel", 2'000, 12'000},
                                                             {"compute", "gemm", 12'000, 60'000},
                                                             {"sync", "cudaDeviceSynchronize", 60'000, 63'000}}));
}

TEST(CriticalPath, WithoutADeviceIsTheTimeOfTheMainThread) {
  PathProgram program;
  const TrackId main = program.Thread(0, 1), other = program.Thread(0, 2);
  program.Step(main, 0, 0, 100);
  program.Add(main, "cpu_op", "aten::mm", 10, 30);
  program.Add(main, "cpu_op", "aten::add", 20, 25);
  program.Add(main, "cpu_op", "aten::mul", 60, 70);
  program.Add(other, "cpu_op", "loader", 0, 50);
  const Trace trace = program.Build();
  const CriticalPathReport report = FindCriticalPaths(trace);
  ASSERT_EQ(report.paths.size(), 1u);
  EXPECT_EQ(report.paths[0].length_ns, 60);
  EXPECT_EQ(report.paths[0].window_ns, 70);
  EXPECT_EQ(report.paths[0].times.gap_ns, 30);
  EXPECT_EQ(PathRowsOf(trace, report), (std::vector<PathRow>{{"host", "aten::mm", 10, 20},
                                                             {"host", "aten::add", 20, 25},
                                                             {"host", "aten::mm", 25, 30},
                                                             {"gap", "", 30, 60},
                                                             {"host", "aten::mul", 60, 70}}));
  EXPECT_EQ(trace.text(trace.spans().name[Row(report.rows[3].span)]), "aten::mm") << "it ended where the gap begins";
}

TEST(CriticalPath, WithoutADeviceIsAnotherThreadIfThatIsBusierThanTheMainOne) {
  PathProgram program;
  const TrackId main = program.Thread(0, 1), other = program.Thread(0, 2);
  program.Step(main, 0, 0, 10);
  program.Add(main, "cpu_op", "aten::mm", 0, 10);
  program.Add(other, "cpu_op", "loader", 0, 8);
  program.Add(other, "cpu_op", "loader", 20, 28);
  const Trace trace = program.Build();
  const CriticalPathReport report = FindCriticalPaths(trace);
  EXPECT_EQ(PathRowsOf(trace, report), (std::vector<PathRow>{{"host", "loader", 0, 8}, {"host", "loader", 20, 28}}));
  EXPECT_EQ(report.paths[0].length_ns, 16) << "gaps weigh nothing there";
}

// As MegEngine records them: then the gaps of the thread whose spans cover most do not weigh.
TEST(CriticalPath, OfARankWhoseStepsHaveATrackOfTheirOwnHasNoMainThread) {
  PathProgram program;
  const TrackId thread = program.Thread(0, 1), stream = program.Stream(0, 0, 7);
  program.Step(program.Other(0), 0, 0, 100'000);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 2'000, 4'000, 5);
  program.Add(thread, "cpu_op", "op", 90'000, 91'000);
  program.Add(stream, "kernel", "gemm", 12'000, 60'000, 5);
  const Trace trace = program.Build();
  const CriticalPathReport report = FindCriticalPaths(trace);
  ASSERT_EQ(report.paths.size(), 1u);
  EXPECT_EQ(report.paths[0].times.compute_ns, 48'000);
  EXPECT_EQ(report.paths[0].times.gap_ns, 0);
}

TEST(CriticalPath, RunsThroughTheThreadsThatAutogradConnects) {
  PathProgram program;
  const TrackId forward = program.Thread(0, 1), backward = program.Thread(0, 2);
  program.Add(forward, "cpu_op", "aten::mm", 0, 10);
  program.Add(backward, "cpu_op", "MmBackward0", 12, 20);
  program.Flow("fwdbwd", forward, 5, backward, 13);
  const Trace trace = program.Build();
  EXPECT_EQ(PathRowsOf(trace, FindCriticalPaths(trace)),
            (std::vector<PathRow>{{"host", "aten::mm", 0, 10}, {"gap", "", 10, 12}, {"host", "MmBackward0", 12, 20}}));
}

TEST(CriticalPath, QueuesWorksOfAStream) {
  PathProgram program;
  const TrackId thread = program.Thread(0, 1), stream = program.Stream(0, 0, 7);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 0, 2, 1);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 2, 4, 2);
  program.Add(stream, "kernel", "gemm", 5, 30, 1);
  program.Add(stream, "kernel", "ncclKernel", 32, 50, 2);
  const Trace trace = program.Build();
  EXPECT_EQ(PathRowsOf(trace, FindCriticalPaths(trace)),
            (std::vector<PathRow>{{"launch", "cudaLaunchKernel", 0, 5},
                                  {"compute", "gemm", 5, 30},
                                  {"queue", "ncclKernel", 30, 32},
                                  {"communication", "ncclKernel", 32, 50}}));
}

TEST(CriticalPath, LetsAStreamWaitForTheEventOfAnother) {
  PathProgram program;
  const TrackId thread = program.Thread(0, 1), first = program.Stream(0, 0, 7), second = program.Stream(0, 0, 8);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 0, 2, 1);
  program.Add(thread, "cuda_runtime", "cudaEventRecord", 2, 3, 2);
  program.Add(thread, "cuda_runtime", "cudaStreamWaitEvent", 3, 4, 3);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 5, 6, 4);
  program.Add(first, "kernel", "long", 3, 40, 1);
  program.Add(second, "kernel", "behind", 41, 45, 4);
  program.Sync(program.Other(0), "Stream Wait Event", 3, 4, 3,
               {{"wait_on_stream", 7}, {"wait_on_cuda_event_record_corr_id", 2}, {"stream", 8}, {"device", 0}});
  const Trace trace = program.Build();
  EXPECT_EQ(PathRowsOf(trace, FindCriticalPaths(trace)), (std::vector<PathRow>{{"launch", "cudaLaunchKernel", 0, 3},
                                                                               {"compute", "long", 3, 40},
                                                                               {"queue", "behind", 40, 41},
                                                                               {"compute", "behind", 41, 45}}));
}

// A call that waits for one stream while another is longer; `sync` describes the wait.
std::vector<PathRow> RowsOfWait(const char* call, const char* sync,
                                std::vector<std::pair<const char*, int64_t>> members) {
  PathProgram program;
  const TrackId thread = program.Thread(0, 1), first = program.Stream(0, 0, 7), second = program.Stream(0, 0, 8);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 0, 1, 1);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 1, 2, 2);
  program.Add(thread, "cuda_runtime", "cudaEventRecord", 2, 3, 3);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 3, 4, 4);
  program.Add(thread, "cuda_runtime", call, 10, 30, 5);
  program.Add(thread, "cpu_op", "rest", 30, 90);
  program.Add(first, "kernel", "a", 2, 11, 1);
  program.Add(second, "kernel", "b", 2, 28, 2);
  program.Add(first, "gpu_memcpy", "c", 12, 20, 4);
  if (sync != nullptr) program.Sync(program.Other(0), sync, 10, 30, 5, std::move(members));
  const Trace trace = program.Build();
  std::vector<PathRow> rows = PathRowsOf(trace, FindCriticalPaths(trace));
  while (!rows.empty() && std::get<0>(rows.front()) != "sync")
    rows.erase(rows.begin());
  return rows;
}

TEST(CriticalPath, TakesFromSynchronizationSpansWhatACallWaitsFor) {
  const auto wait = [](const char* call, int64_t begin) {
    return std::vector<PathRow>{{"sync", call, begin, 30}, {"host", "rest", 30, 90}};
  };
  EXPECT_EQ(RowsOfWait("cudaDeviceSynchronize", nullptr, {}), wait("cudaDeviceSynchronize", 28));
  EXPECT_EQ(RowsOfWait("cudaDeviceSynchronize", "Context Sync", {{"stream", 7}}), wait("cudaDeviceSynchronize", 28));
  EXPECT_EQ(RowsOfWait("cudaStreamSynchronize", "Stream Sync", {{"stream", 7}, {"device", 0}}),
            wait("cudaStreamSynchronize", 20));
  EXPECT_EQ(RowsOfWait("hipEventSynchronize", "Event Sync",
                       {{"wait_on_stream", 7}, {"wait_on_cuda_event_record_corr_id", 3}, {"device", 0}}),
            wait("hipEventSynchronize", 11));
  EXPECT_EQ(RowsOfWait("cudaStreamSynchronize", "Stream Sync", {{"stream", 9}, {"device", 0}}), std::vector<PathRow>{})
      << "a stream without works is not waited for";
  EXPECT_EQ(RowsOfWait("cudaMemcpy", nullptr, {}), std::vector<PathRow>{}) << "it has no copy";
}

TEST(CriticalPath, WaitsInMemcpyForItsOwnCopyOnly) {
  PathProgram program;
  const TrackId thread = program.Thread(0, 1), stream = program.Stream(0, 0, 7), other = program.Stream(0, 0, 8);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 0, 1, 1);
  program.Add(thread, "cuda_runtime", "cudaMemcpy", 2, 30, 2);
  program.Add(other, "kernel", "b", 2, 29, 1);
  program.Add(stream, "gpu_memcpy", "copy", 5, 20, 2);
  program.Add(thread, "cpu_op", "rest", 30, 90);
  const Trace trace = program.Build();
  EXPECT_EQ(PathRowsOf(trace, FindCriticalPaths(trace)), (std::vector<PathRow>{{"host", "cudaLaunchKernel", 0, 1},
                                                                               {"gap", "", 1, 2},
                                                                               {"launch", "cudaMemcpy", 2, 5},
                                                                               {"copy", "copy", 5, 20},
                                                                               {"sync", "cudaMemcpy", 20, 30},
                                                                               {"host", "rest", 30, 90}}));
}

TEST(CriticalPath, LeavesOutSpansThatAreNotSelected) {
  PathProgram program;
  const TrackId thread = program.Thread(0, 1), stream = program.Stream(0, 0, 7);
  program.Add(thread, "cuda_runtime", "cudaLaunchKernel", 0, 2, 1);
  program.Add(stream, "kernel", "gemm", 5, 30, 1);
  const Trace trace = program.Build();
  std::vector<uint8_t> selected(trace.spans().size());
  EXPECT_TRUE(FindCriticalPaths(trace, {.selected = &selected}).paths.empty());
  for (size_t span = 0; span < selected.size(); ++span)
    selected[span] = trace.spans().kind[span] == SpanKind::kKernel ? 1 : 0;
  EXPECT_EQ(PathRowsOf(trace, FindCriticalPaths(trace, {.selected = &selected})),
            (std::vector<PathRow>{{"compute", "gemm", 5, 30}}));
}

TEST(CriticalPath, IsEmptyWhereNothingTookTime) {
  EXPECT_TRUE(FindCriticalPaths(Trace()).paths.empty());
  PathProgram program;
  program.Add(program.Thread(-1, 1), "cpu_op", "aten::mm", 7, 7);
  const CriticalPathReport report = FindCriticalPaths(program.Build());
  ASSERT_EQ(report.paths.size(), 1u);
  EXPECT_EQ(report.paths[0].rank, -1);
  EXPECT_EQ(report.paths[0].length_ns, 0);
  EXPECT_EQ(report.paths[0].window_ns, 0);
  EXPECT_TRUE(report.rows.empty());
}

TEST(CriticalPath, OfHostileTimesAndMembersIsAtMostTheWindow) {
  PathProgram program;
  const TrackId thread = program.Thread(0, 1), stream = program.Stream(0, 0, 7);
  program.Add(thread, "cpu_op", "early", INT64_MIN, INT64_MIN + 5);
  program.Add(thread, "cpu_op", "late", INT64_MAX - 2, INT64_MAX);
  program.Add(thread, "cuda_runtime", "cudaDeviceSynchronize", 0, INT64_MAX, 3);
  program.Add(stream, "kernel", "gemm", -5, INT64_MAX - 7, 3);
  program.Add(stream, "kernel", "gemm", INT64_MIN, INT64_MIN, UINT32_MAX);
  program.Flow("fwdbwd", thread, 0, stream, 5);
  program.Flow("fwdbwd", TrackId::kNone, 0, thread, 5);
  program.Sync(program.Other(0), "Event Sync", 0, 5, 3, {{"wait_on_stream", INT64_MIN}, {"device", INT64_MAX}});
  program.Sync(stream, "Stream Sync", 0, 5, 3, {});
  program.Sync(stream, "Stream Wait Event", 0, 5, 0, {{"wait_on_cuda_event_record_corr_id", -1}});
  const CriticalPathReport report = FindCriticalPaths(program.Build());
  ASSERT_EQ(report.paths.size(), 1u);
  EXPECT_LE(report.paths[0].length_ns, report.paths[0].window_ns);
  EXPECT_EQ(report.paths[0].window_ns, INT64_MAX);
}

TEST(CriticalPath, OfManyCrossingSpansAndWaitsDoesNotTakeQuadraticTime) {
  PathProgram program;
  const TrackId thread = program.Thread(0, 1), other = program.Thread(0, 2), stream = program.Stream(0, 0, 7);
  constexpr int64_t kMany = 100'000;
  for (int64_t i = 0; i < kMany; ++i) {
    program.Add(thread, "cuda_runtime", "cudaDeviceSynchronize", i, i + 3 * kMany);  // each crosses all others
    program.Add(other, "cuda_runtime", "cudaLaunchKernel", 2 * kMany, 2 * kMany, static_cast<uint32_t>(i + 1));
    program.Add(stream, "kernel", "gemm", 2 * kMany, 2 * kMany, static_cast<uint32_t>(i + 1));
  }
  const CriticalPathReport report = FindCriticalPaths(program.Build());
  ASSERT_EQ(report.paths.size(), 1u);
  EXPECT_LE(report.paths[0].length_ns, report.paths[0].window_ns);
}

}  // namespace
}  // namespace opscope
