// SPDX-License-Identifier: Apache-2.0
#include "trace/nesting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace opscope {
namespace {

struct Interval {
  int64_t start, duration;
};

struct Nested {
  std::vector<SpanId> parent;
  std::vector<uint16_t> depth;
  uint64_t crossings = 0;
};

Nested Fast(const std::vector<Interval>& sorted) {
  std::vector<Timestamp> start;
  std::vector<Duration> duration;
  for (const Interval& interval : sorted) {
    start.push_back({interval.start});
    duration.push_back({interval.duration});
  }
  Nested result{std::vector<SpanId>(sorted.size()), std::vector<uint16_t>(sorted.size())};
  result.crossings = NestByContainment(0, start, duration, result.depth, result.parent);
  return result;
}

// Straight from the definition: a span's parent is the latest earlier row that holds its start; a span
// ends, for nesting, no later than its parent.
Nested Obvious(const std::vector<Interval>& sorted) {
  Nested result;
  std::vector<int64_t> end;
  for (size_t i = 0; i < sorted.size(); ++i) {
    SpanId parent = SpanId::kNone;
    for (size_t j = 0; j < i; ++j) {
      if (sorted[j].start <= sorted[i].start && sorted[i].start < end[j]) parent = static_cast<SpanId>(j);
    }
    end.push_back(sorted[i].start + sorted[i].duration);
    uint16_t depth = 0;
    if (parent != SpanId::kNone) {
      depth = static_cast<uint16_t>(result.depth[Row(parent)] + 1);
      if (end.back() > end[Row(parent)]) {
        ++result.crossings;
        end.back() = end[Row(parent)];
      }
    }
    result.parent.push_back(parent);
    result.depth.push_back(depth);
  }
  return result;
}

std::string Show(const std::vector<Interval>& intervals) {
  std::string text;
  for (const Interval& interval : intervals) {
    text.append(1, '[').append(std::to_string(interval.start)).append(1, '+');
    text.append(std::to_string(interval.duration)).append(1, ')');
  }
  return text;
}

// All lists of up to four intervals within [0, 5).
TEST(NestByContainment, AgreesWithTheDefinitionOnAllSmallInputs) {
  std::vector<Interval> all;
  for (int64_t start = 0; start < 5; ++start) {
    for (int64_t duration = 0; start + duration <= 5; ++duration)
      all.push_back({start, duration});
  }
  size_t compared = 0;
  const size_t n = all.size();
  for (size_t code = 0; code < n * n * n * n; ++code) {
    std::vector<Interval> input = {all[code % n], all[code / n % n], all[code / n / n % n], all[code / n / n / n]};
    std::stable_sort(input.begin(), input.end(), [](const Interval& a, const Interval& b) {
      return a.start != b.start ? a.start < b.start : a.duration > b.duration;
    });
    const Nested fast = Fast(input), obvious = Obvious(input);
    ASSERT_EQ(fast.parent, obvious.parent) << Show(input);
    ASSERT_EQ(fast.depth, obvious.depth) << Show(input);
    ASSERT_EQ(fast.crossings, obvious.crossings) << Show(input);
    ++compared;
  }
  EXPECT_EQ(compared, n * n * n * n);
}

TEST(NestByContainment, MakesTheFirstOfEqualIntervalsTheParent) {
  const Nested nested = Fast({{0, 10}, {0, 10}});
  EXPECT_EQ(nested.parent, (std::vector<SpanId>{SpanId::kNone, SpanId{0}}));
}

TEST(NestByContainment, PutsAZeroLengthSpanInTheParentThatItBegins) {
  EXPECT_EQ(Fast({{0, 10}, {0, 0}}).parent[1], SpanId{0});
  EXPECT_EQ(Fast({{0, 10}, {10, 0}}).parent[1], SpanId::kNone);
}

TEST(NestByContainment, HoldsAtTheEndsOfTime) {
  const Nested nested = Fast({{INT64_MIN, INT64_MAX}, {INT64_MAX - 1, INT64_MAX}, {INT64_MAX, 0}});
  EXPECT_EQ(nested.parent, (std::vector<SpanId>{SpanId::kNone, SpanId::kNone, SpanId::kNone}));
}

TEST(NestByDepth, FindsParentsWithoutLookingAtTimes) {
  std::vector<uint16_t> depth = {0, 1, 2, 1, 0};
  std::vector<SpanId> parent(depth.size());
  NestByDepth(7, depth, parent);
  EXPECT_EQ(parent, (std::vector<SpanId>{SpanId::kNone, SpanId{7}, SpanId{8}, SpanId{7}, SpanId::kNone}));
  EXPECT_EQ(depth, (std::vector<uint16_t>{0, 1, 2, 1, 0}));
}

TEST(NestByDepth, ClosesGapsInDepth) {
  std::vector<uint16_t> depth = {3, 7, 7, 5, 1};
  std::vector<SpanId> parent(depth.size());
  NestByDepth(0, depth, parent);
  EXPECT_EQ(parent, (std::vector<SpanId>{SpanId::kNone, SpanId{0}, SpanId{0}, SpanId{0}, SpanId::kNone}));
  EXPECT_EQ(depth, (std::vector<uint16_t>{0, 1, 1, 1, 0}));
}

}  // namespace
}  // namespace opscope
