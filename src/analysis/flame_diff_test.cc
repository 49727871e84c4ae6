// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/flame_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "analysis/random_trace_for_test.h"
#include "opscope/analysis/diff.h"

namespace opscope {
namespace {

// Count, total and self of the run, then of the baseline.
using PathValues = std::array<int64_t, 6>;

std::string PathOfDiff(const FlameDiff& diff, uint32_t node) {
  const FlameDiffNode& at = diff.nodes[node];
  return at.parent == 0 ? std::string(at.name) : PathOfDiff(diff, at.parent) + ";" + std::string(at.name);
}

// By the definition: the self time of a span of a thread belongs to its path, and to the total of each path around it.
void AddPaths(const Trace& trace, size_t first, std::map<std::string, PathValues>* paths) {
  const SpanColumns& spans = trace.spans();
  std::vector<int64_t> covered(spans.size(), 0), end(spans.size(), 0);
  std::vector<std::string> path(spans.size());
  const auto counts = [&](size_t row) {
    return trace.tracks().kind[Row(spans.track[row])] == TrackKind::kThread &&
           (spans.flags[row] & span_flags::kAsync) == 0;
  };
  for (size_t row = 0; row < spans.size(); ++row) {
    if (!counts(row)) continue;
    const SpanId parent = spans.parent[row];
    const std::string name(trace.text(spans.name[row]));
    path[row] = parent == SpanId::kNone ? name : path[Row(parent)] + ";" + name;
    end[row] = spans.start[row].ns + spans.duration[row].ns;
    if (parent == SpanId::kNone) continue;
    end[row] = std::min(end[row], end[Row(parent)]);
    covered[Row(parent)] += std::max<int64_t>(0, end[row] - spans.start[row].ns);
  }
  for (size_t row = 0; row < spans.size(); ++row) {
    if (!counts(row)) continue;
    const int64_t self = std::max<int64_t>(0, end[row] - spans.start[row].ns - covered[row]);
    (*paths)[path[row]][first] += 1;
    (*paths)[path[row]][first + 2] += self;
    for (std::string at = path[row];; at.resize(at.rfind(';'))) {
      (*paths)[at][first + 1] += self;
      if (at.find(';') == at.npos) break;
    }
  }
}

TEST(FlameDiff, HasTheValuesOfEachPathInBothRuns) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Trace run = RandomTrace(2 * seed, {.spans = static_cast<int>(seed % 25), .threads = 2});
    const Trace base = RandomTrace(2 * seed + 1, {.spans = static_cast<int>(seed % 19), .threads = 2});
    const FoldOptions fold{.threads = ThreadNodes::kNever};
    const FlameDiff diff =
        DiffFlameTrees(FoldSpans(run, FlameMetric::kTime, fold), FoldSpans(base, FlameMetric::kTime, fold));
    std::map<std::string, PathValues> expected, found;
    AddPaths(run, 0, &expected);
    AddPaths(base, 3, &expected);
    for (uint32_t i = 1; i < diff.nodes.size(); ++i) {
      const FlameDiffNode& node = diff.nodes[i];
      ASSERT_LT(node.parent, i) << seed;
      const bool is_new =
          found
              .try_emplace(PathOfDiff(diff, i),
                           PathValues{static_cast<int64_t>(node.spans), node.total, node.self,
                                      static_cast<int64_t>(node.base_spans), node.base_total, node.base_self})
              .second;
      ASSERT_TRUE(is_new) << seed;
    }
    ASSERT_EQ(found, expected) << seed;
  }
}

// Asynchronous spans are on no path, and rows of diff have them.
void AddAsyncSpans(const Trace& trace, size_t first, std::map<std::string, std::array<int64_t, 4>>* sums) {
  const SpanColumns& spans = trace.spans();
  for (size_t row = 0; row < spans.size(); ++row) {
    if ((spans.flags[row] & span_flags::kAsync) == 0) continue;
    auto& sum = (*sums)[std::string(trace.text(spans.name[row]))];
    sum[first] += 1, sum[first + 1] += spans.duration[row].ns;
  }
}

TEST(FlameDiff, AddsUpToTheSumsOfDiff) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Trace run = RandomTrace(3 * seed, {.spans = 20, .threads = 3});
    const Trace base = RandomTrace(3 * seed + 1, {.spans = 17, .threads = 2});
    const FlameDiff diff = DiffFlameTrees(FoldSpans(run), FoldSpans(base));
    std::map<std::string, std::array<int64_t, 4>> sums, of_diff;
    for (const FlameDiffNode& node : diff.nodes) {
      if (node.kind != FlameKind::kOperator) continue;
      auto& sum = sums[std::string(node.name)];
      sum[0] += static_cast<int64_t>(node.base_spans), sum[1] += node.base_self;
      sum[2] += static_cast<int64_t>(node.spans), sum[3] += node.self;
    }
    AddAsyncSpans(base, 0, &sums);
    AddAsyncSpans(run, 2, &sums);
    for (const DiffRow& row : DiffTraces(base, run).rows)
      of_diff[row.name] = {static_cast<int64_t>(row.a.count), row.a.self_ns, static_cast<int64_t>(row.b.count),
                           row.b.self_ns};
    ASSERT_EQ(sums, of_diff) << seed;
  }
}

TEST(FlameDiff, OfEmptyTracesIsTheRoot) {
  const Trace none;
  const FlameDiff diff = DiffFlameTrees(FoldSpans(none), FoldSpans(none));
  ASSERT_EQ(diff.nodes.size(), 1u);
  EXPECT_EQ(diff.nodes[0].kind, FlameKind::kRoot);
  EXPECT_EQ(diff.nodes[0].total, 0);
}

}  // namespace
}  // namespace opscope
