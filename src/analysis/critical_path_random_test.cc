// Compares the critical path of random programs with the graph of the definition, built node by node.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analysis/critical_path_graph_for_test.h"
#include "analysis/critical_path_program_for_test.h"
#include "opscope/analysis/critical_path.h"

namespace opscope {
namespace {

// Whether the rows are edges that follow each other, with nothing but edges of weight 0 between them.
bool AreAPath(const LiteralGraph& graph, const std::vector<CriticalPathEdge>& rows) {
  std::vector<bool> is_reached(graph.size(), true);
  for (const CriticalPathEdge& row : rows) {
    std::vector<bool> is_next(graph.size(), false);
    bool is_edge = false;
    for (const LiteralGraph::Edge& edge : graph.edges()) {
      const uint32_t span = row.kind == PathEdgeKind::kGap ? LiteralGraph::kNobody : Row(row.span);
      if (!is_reached[edge.from] || edge.kind != row.kind || edge.begin != row.start_ns ||
          edge.weight != row.duration_ns || edge.weight == 0)
        continue;
      if (edge.span != span) continue;
      is_edge = is_next[edge.to] = true;
    }
    if (!is_edge) return false;
    for (bool changes = true; changes;) {
      changes = false;
      for (const LiteralGraph::Edge& edge : graph.edges()) {
        if (edge.weight != 0 || !is_next[edge.from] || is_next[edge.to]) continue;
        is_next[edge.to] = changes = true;
      }
    }
    is_reached = is_next;
  }
  return true;
}

class RandomPathProgram {
 public:
  explicit RandomPathProgram(uint64_t seed) : random_(seed) {}

  Trace Make() {
    end_ = 8 + Below(50);
    has_steps_ = Below(2) == 0;
    const int32_t ranks = 1 + static_cast<int32_t>(Below(2));
    for (int32_t rank = 0; rank < ranks; ++rank)
      AddRank(rank == 0 && Below(8) == 0 ? -1 : rank);
    for (int64_t i = Below(3); i > 0; --i)
      program_.Flow(Below(3) == 0 ? "ac2g" : "fwdbwd", Any(threads_), Below(end_), Any(threads_), Below(end_));
    return program_.Build();
  }
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

 private:
  template <typename T>
  T Any(const std::vector<T>& values) {
    return values[static_cast<size_t>(Below(static_cast<int64_t>(values.size())))];
  }
  uint32_t Correlation() { return static_cast<uint32_t>(Below(9)); }

  void AddRank(int32_t rank) {
    std::vector<TrackId> threads, streams;
    for (int64_t thread = 1 + Below(3); thread > 0; --thread)
      threads.push_back(program_.Thread(rank, thread));
    for (int64_t stream = 0; stream < 3; ++stream)
      streams.push_back(program_.Stream(rank, stream == 2 ? 1 : 0, stream == 2 ? 7 : 7 + stream));
    threads_.insert(threads_.end(), threads.begin(), threads.end());
    const bool has_device = Below(6) != 0;
    for (int64_t i = Below(14); i > 0; --i)
      AddHostSpan(Any(threads));
    for (int64_t i = has_device ? Below(10) : 0; i > 0; --i)
      AddWork(Any(streams));
    for (int64_t i = Below(5); i > 0; --i)
      AddSync(Below(2) == 0 ? program_.Other(rank) : Any(streams));
    if (has_steps_ && Below(4) != 0) program_.Step(Any(threads), 0, 0, Below(end_));
  }
  void AddHostSpan(TrackId thread) {
    static const std::vector<const char*> names = {"aten::mm",
                                                   "cudaLaunchKernel",
                                                   "cudaMemcpy",
                                                   "cudaDeviceSynchronize",
                                                   "cudaStreamSynchronize",
                                                   "cudaEventSynchronize",
                                                   "hipStreamSynchronize",
                                                   "hipMemcpy"};
    const int64_t begin = Below(end_);
    const char* category = Below(9) == 0 ? "Trace" : Below(3) == 0 ? "user_annotation" : "cuda_runtime";
    program_.Add(thread, category, Any(names), begin, begin + Below(Below(2) == 0 ? 4 : end_), Correlation(),
                 Below(9) == 0 ? span_flags::kAsync : 0);
  }
  void AddWork(TrackId stream) {
    const int64_t begin = Below(end_), kind = Below(4);
    program_.Add(stream,
                 kind == 0   ? "gpu_memcpy"
                 : kind == 1 ? "gpu_memset"
                             : "kernel",
                 Below(3) == 0 ? "ncclKernel" : "gemm", begin, begin + Below(3) * Below(6), Correlation());
  }
  void AddSync(TrackId track) {
    static const std::vector<const char*> names = {"Stream Sync", "Event Sync", "Stream Wait Event", "Context Sync"};
    const int64_t begin = Below(end_);
    program_.Sync(track, Any(names), begin, begin + Below(4), Correlation(),
                  {{"wait_on_stream", 6 + Below(4)},
                   {"wait_on_cuda_event_record_corr_id", Below(10)},
                   {"stream", 6 + Below(4)},
                   {"device", Below(2)}});
  }

  std::mt19937_64 random_;
  PathProgram program_;
  std::vector<TrackId> threads_;
  int64_t end_ = 0;
  bool has_steps_ = false;
};

void ExpectTheLongestPath(const Trace& trace, const std::vector<uint8_t>& selected, const CriticalPathReport& report) {
  size_t row = 0, path = 0;
  std::set<int32_t> ranks(trace.processes().rank.begin(), trace.processes().rank.end());
  for (const int32_t rank : ranks) {
    const LiteralGraph graph(trace, rank, selected);
    if (graph.empty()) continue;
    ASSERT_LT(path, report.paths.size());
    const CriticalPath& found = report.paths[path++];
    EXPECT_EQ(found.rank, rank);
    EXPECT_EQ(found.length_ns, graph.Longest());
    EXPECT_EQ(found.window_ns, graph.Window());
    EXPECT_LE(found.length_ns, found.window_ns);
    std::vector<CriticalPathEdge> rows;
    std::map<PathEdgeKind, int64_t> parts;
    int64_t sum = 0;
    EXPECT_EQ(found.first_row, row);
    for (; row < found.first_row + found.row_count; ++row) {
      const CriticalPathEdge& edge = report.rows[row];
      rows.push_back(edge);
      sum += edge.duration_ns;
      parts[edge.kind] += edge.duration_ns;
      const int64_t span_end = trace.spans().start[Row(edge.span)].ns + trace.spans().duration[Row(edge.span)].ns;
      EXPECT_TRUE(edge.kind != PathEdgeKind::kGap || span_end == edge.start_ns) << "a gap begins where its span ends";
    }
    EXPECT_EQ(sum, found.length_ns);
    EXPECT_TRUE(AreAPath(graph, rows)) << "rank " << rank;
    const CriticalPathTimes& times = found.times;
    EXPECT_EQ(times.host_ns, parts[PathEdgeKind::kHost]);
    EXPECT_EQ(times.gap_ns, parts[PathEdgeKind::kGap]);
    EXPECT_EQ(times.launch_ns, parts[PathEdgeKind::kLaunch]);
    EXPECT_EQ(times.queue_ns, parts[PathEdgeKind::kQueue]);
    EXPECT_EQ(times.compute_ns, parts[PathEdgeKind::kCompute]);
    EXPECT_EQ(times.communication_ns, parts[PathEdgeKind::kCommunication]);
    EXPECT_EQ(times.copy_ns, parts[PathEdgeKind::kCopy]);
    EXPECT_EQ(times.sync_ns, parts[PathEdgeKind::kSync]);
  }
  EXPECT_EQ(path, report.paths.size());
  EXPECT_EQ(row, report.rows.size());
}

// All but the places of the rows.
std::vector<int64_t> JoinedPaths(const CriticalPathReport& report) {
  std::vector<int64_t> numbers;
  for (const CriticalPath& path : report.paths) {
    const CriticalPathTimes& times = path.times;
    for (const int64_t number :
         {int64_t{path.rank}, path.length_ns, path.window_ns, times.host_ns, times.gap_ns, times.launch_ns,
          times.queue_ns, times.compute_ns, times.communication_ns, times.copy_ns, times.sync_ns})
      numbers.push_back(number);
  }
  return numbers;
}

TEST(CriticalPathRandom, IsTheLongestPathOfTheGraphOfTheDefinition) {
  for (uint64_t seed = 1; seed <= 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomPathProgram program(seed);
    const Trace trace = program.Make();
    std::vector<uint8_t> selected(trace.spans().size(), 1);
    ExpectTheLongestPath(trace, selected, FindCriticalPaths(trace));
    for (uint8_t& is_selected : selected)
      is_selected = program.Below(4) == 0 ? 0 : 1;
    ExpectTheLongestPath(trace, selected, FindCriticalPaths(trace, {.selected = &selected}));
    const CriticalPathReport paths = FindCriticalPaths(trace, {.selected = &selected, .rows = false});
    EXPECT_EQ(JoinedPaths(paths), JoinedPaths(FindCriticalPaths(trace, {.selected = &selected})));
    EXPECT_TRUE(paths.rows.empty());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace opscope
