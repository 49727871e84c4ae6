// Records around a moment, against a thread whose every step is known.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/clamp_to_snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace opscope {
namespace {

struct History {
  struct Scope {
    uint64_t start = 0;
    int outer = -1;
    uint16_t depth = 0;
    size_t opened = 0, ended = ~size_t{0};  // steps
  };
  std::vector<Scope> scopes;
  std::vector<int> ended;  // in that order

  // One step opens a scope or ends the innermost. The clock says 1, 2, 3, ... at each beginning.
  explicit History(std::mt19937* random, size_t steps) {
    std::vector<int> open;
    for (size_t step = 0; step < steps; ++step) {
      if (!open.empty() && ((*random)() % 2 == 0 || open.size() == 4)) {
        scopes[static_cast<size_t>(open.back())].ended = step;
        ended.push_back(open.back());
        open.pop_back();
        continue;
      }
      scopes.push_back({scopes.size() + 1, open.empty() ? -1 : open.back(), static_cast<uint16_t>(open.size()), step});
      open.push_back(static_cast<int>(scopes.size()) - 1);
    }
  }
};

TEST(RecordsInside, HaveTheirOuterScopesWhateverTheClockSays) {
  std::mt19937 random(7);
  size_t left_out = 0;
  for (int round = 0; round < 20000; ++round) {
    constexpr size_t kSteps = 24;
    const History history(&random, kSteps);
    // When others see the count n0, then the list, then the count n1; and, apart from that, the clock.
    size_t seen[3] = {random() % kSteps, random() % kSteps, random() % kSteps};
    std::sort(std::begin(seen), std::end(seen));
    const uint64_t until = random() % (history.scopes.size() + 2);

    std::vector<Record> records;
    uint32_t before = 0;
    for (const int each : history.ended) {
      const History::Scope& scope = history.scopes[static_cast<size_t>(each)];
      if (scope.ended > seen[2]) break;
      records.push_back({.start = scope.start, .value = 1, .depth = scope.depth, .kind = RecordKind::kScope});
      if (scope.ended <= seen[0]) ++before;
    }
    std::set<uint64_t> there;  // what the dump shows: by start
    uint32_t open_depths = 0;
    for (const History::Scope& scope : history.scopes) {
      if (scope.opened > seen[1] || scope.ended <= seen[2] || scope.start >= until) continue;
      there.insert(scope.start);
      open_depths = std::max<uint32_t>(open_depths, scope.depth + 1u);
    }
    const uint32_t after = static_cast<uint32_t>(records.size());
    const std::vector<Record> all = records;
    const uint32_t count = ClampToSnapshot(open_depths, until, records.data(), before, after);
    for (uint32_t i = 0; i < count; ++i)
      there.insert(records[i].start);

    for (uint32_t i = 0; i < before; ++i)
      EXPECT_EQ(records[i].start, all[i].start);
    for (uint32_t i = before; i < after; ++i) {
      // By hand: it began before the clock was read, and so do all around it come to be shown.
      bool belongs = all[i].start < until;
      for (int at = history.scopes[all[i].start - 1].outer; at != -1;
           at = history.scopes[static_cast<size_t>(at)].outer)
        belongs = belongs && there.contains(static_cast<uint64_t>(at) + 1);
      EXPECT_EQ(there.contains(all[i].start), belongs) << "round " << round << " record " << i;
      if (!belongs && all[i].start < until) ++left_out;
    }
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(left_out, 100u) << "the cases are there";
}

TEST(RecordsInside, LeavesInstantsAndScopesThatDoNotNestByTheClockAlone) {
  Record records[] = {{.start = 4, .depth = 3, .kind = RecordKind::kAsync},
                      {.start = 5, .kind = RecordKind::kInstant},
                      {.start = 6, .kind = RecordKind::kInstant}};
  EXPECT_EQ(ClampToSnapshot(0, 6, records, 0, 3), 2u);
  EXPECT_EQ(records[0].start, 4u);
  EXPECT_EQ(records[1].start, 5u);
}

}  // namespace
}  // namespace opscope
