// The walk of critical-ranks: the example of its definition, random jobs beside a walk without any index, odd inputs.
// SPDX-License-Identifier: Apache-2.0
#include "job/critical_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace opscope {
namespace {

using Input = CriticalRanksInput;

TEST(CriticalRanksTest, PathIsThatOfTheExample) {
  const CriticalRanks answer = FindCriticalRanks({.ranks = {{0, 0, 1000, true}, {1, 50, 1050, true}},
                                                  .members = {{0, 0, 400, 300, 400}, {0, 1, 650, 100, 600}},
                                                  .steps = {{0, 1, 0, 1000}, {1, 1, 50, 1000}}});
  EXPECT_EQ(answer.length_ns, 1000);
  EXPECT_EQ(answer.what_if_ns, 800);
  EXPECT_EQ(answer.balanced_ns, 800);
  ASSERT_EQ(answer.ranks.size(), 2u);
  EXPECT_EQ(answer.ranks[0].rank, 1);
  EXPECT_EQ(answer.ranks[0].critical_ns, 700);
  EXPECT_EQ(answer.ranks[0].steps, 1);
  EXPECT_EQ(answer.ranks[0].saved_ns, 200);
  EXPECT_EQ(answer.ranks[1].critical_ns, 300);
  EXPECT_EQ(answer.ranks[1].steps, 0);
  EXPECT_EQ(answer.ranks[1].saved_ns, 0);
  ASSERT_EQ(answer.steps.size(), 1u);
  EXPECT_EQ(answer.steps[0].step, 1);
  EXPECT_EQ(answer.steps[0].length_ns, 1000);
  EXPECT_EQ(answer.steps[0].rank, 1);
}

TEST(CriticalRanksTest, AnUnknownGapSavesNothingAndIsNoPartOfTheMedian) {
  const std::vector<Input::Rank> ranks = {{0, 0, 1000, true}, {1, 50, 1050, true}};
  for (const auto& [gap_0, gap_1] : {std::pair(400, -1), std::pair(-1, 600)}) {
    const CriticalRanks answer = FindCriticalRanks(
        {.ranks = ranks, .members = {{0, 0, 400, 300, gap_0}, {0, 1, 650, 100, gap_1}}, .steps = {{0, 1, 0, 1000}}});
    ASSERT_EQ(answer.ranks.size(), 2u);
    EXPECT_EQ(answer.ranks[0].saved_ns, 0);
    EXPECT_EQ(answer.what_if_ns, answer.length_ns);
    EXPECT_EQ(answer.balanced_ns, answer.length_ns);
  }
}

Input RandomJob(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  Input job;
  const auto ranks = static_cast<int32_t>(1 + below(4));
  for (int32_t i = 0; i < ranks; ++i) {
    Input::Rank rank{.rank = i * 2, .begin_ns = below(5)};
    for (int64_t step = 0, steps = below(4); step < steps; ++step) {
      job.steps.push_back({i, step, rank.begin_ns + step * 10 + below(3), below(12)});
      rank.end_ns = std::max(rank.end_ns, job.steps.back().start_ns + job.steps.back().duration_ns);
      rank.has_steps = true;
    }
    job.ranks.push_back(rank);
  }
  for (int32_t collective = 0, n = static_cast<int32_t>(below(7)); collective < n; ++collective) {
    for (int32_t i = 0; i < ranks; ++i) {
      if (below(6) > 0) job.members.push_back({collective, i, collective * 5 + below(7), below(6), below(5)});
    }
  }
  std::shuffle(job.members.begin(), job.members.end(), random);
  return job;
}

// The walk as its definition says it, with a search over all members for each hop.
class PlainWalk {
 public:
  explicit PlainWalk(const Input& job) : job_(job) {}

  CriticalRanks Run() {
    int rank = -1;
    int64_t most = 0;
    for (int i = 0; i < static_cast<int>(job_.ranks.size()); ++i) {
      if (!job_.ranks[i].has_steps) continue;
      const int64_t time = job_.ranks[i].end_ns - Since(i);
      if (rank < 0 || time > most) std::tie(rank, most) = std::tuple(i, time);
    }
    CriticalRanks answer;
    if (rank < 0) return answer;
    int64_t t = job_.ranks[rank].end_ns, cursor = t;
    std::set<int32_t> used;
    std::map<int, int64_t> saved, excess;
    while (true) {
      const Input::Member* best = nullptr;
      for (const Input::Member& each : job_.members) {
        if (each.rank_index != rank || used.count(each.collective) > 0 || End(each) > cursor) continue;
        if (each.start_ns < job_.ranks[rank].begin_ns) continue;
        if (best == nullptr || std::tuple(End(each), each.start_ns, -each.collective) >
                                   std::tuple(End(*best), best->start_ns, -best->collective)) {
          best = &each;
        }
      }
      if (best == nullptr) break;
      used.insert(best->collective);
      const Input::Member last = Last(best->collective);
      std::vector<int64_t> gaps;
      for (const Input::Member& each : Of(best->collective))
        gaps.push_back(each.gap_ns);
      std::sort(gaps.begin(), gaps.end());
      const int64_t median = gaps[(gaps.size() - 1) / 2];
      if (best->duration_ns == last.duration_ns) {
        excess[rank] += std::max<int64_t>(0, best->gap_ns - median);
        cursor = best->start_ns;
        continue;
      }
      Add(rank, End(*best), t);
      rank = last.rank_index;
      saved[rank] += std::max<int64_t>(0, last.gap_ns - median);
      excess[rank] += std::max<int64_t>(0, last.gap_ns - median);
      t = End(last);
      cursor = last.start_ns;
    }
    Add(rank, job_.ranks[rank].begin_ns, t);
    for (const auto& [index, length] : critical_)
      answer.length_ns += length;
    answer.what_if_ns = answer.balanced_ns = answer.length_ns;
    for (const auto& [index, length] : saved)
      answer.what_if_ns -= length;
    for (const auto& [index, length] : excess)
      answer.balanced_ns -= length;
    std::map<int, int64_t> most_in;
    for (const auto& [step, lengths] : in_steps_) {
      CriticalRanks::Step row{step, 0, 0};
      int longest = lengths.begin()->first;
      for (const auto& [index, length] : lengths) {
        row.length_ns += length;
        if (length > lengths.at(longest)) longest = index;
      }
      row.rank = job_.ranks[longest].rank;
      ++most_in[longest];
      answer.steps.push_back(row);
    }
    for (const auto& [index, length] : critical_) {
      answer.ranks.push_back({job_.ranks[index].rank, length, most_in[index], saved[index], excess[index]});
    }
    std::stable_sort(answer.ranks.begin(), answer.ranks.end(),
                     [](const auto& a, const auto& b) { return a.critical_ns > b.critical_ns; });
    return answer;
  }

 private:
  static int64_t End(const Input::Member& member) { return member.start_ns + member.duration_ns; }

  std::vector<Input::Member> Of(int32_t collective) const {
    std::vector<Input::Member> members;
    for (const Input::Member& each : job_.members) {
      if (each.collective == collective) members.push_back(each);
    }
    return members;
  }

  Input::Member Last(int32_t collective) const {
    const std::vector<Input::Member> members = Of(collective);
    return *std::min_element(members.begin(), members.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.duration_ns, a.rank_index) < std::tuple(b.duration_ns, b.rank_index);
    });
  }

  // The end of the last collective of all ranks on a rank, else the rank's begin.
  int64_t Since(int rank) const {
    int32_t shared = -1;
    int64_t begin = 0;
    for (int32_t collective = 0; collective < 10; ++collective) {
      const std::vector<Input::Member> members = Of(collective);
      if (members.size() != job_.ranks.size()) continue;
      for (const Input::Member& each : members) {
        if (each.rank_index == 0 && (shared < 0 || each.start_ns > begin)) {
          std::tie(shared, begin) = std::tuple(collective, each.start_ns);
        }
      }
    }
    for (const Input::Member& each : job_.members) {
      if (each.collective == shared && each.rank_index == rank) return End(each);
    }
    return job_.ranks[rank].begin_ns;
  }

  void Add(int rank, int64_t begin, int64_t end) {
    if (begin >= end) return;
    critical_[rank] += end - begin;
    for (const Input::Step& step : job_.steps) {
      const int64_t overlap = std::min(end, step.start_ns + step.duration_ns) - std::max(begin, step.start_ns);
      if (step.rank_index == rank && overlap > 0) in_steps_[step.step][rank] += overlap;
    }
  }

  const Input& job_;
  std::map<int, int64_t> critical_;
  std::map<int64_t, std::map<int, int64_t>> in_steps_;
};

TEST(CriticalRanksTest, PathIsThatOfAWalkWithoutIndexes) {
  int pieces = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Input job = RandomJob(seed);
    const CriticalRanks expected = PlainWalk(job).Run();
    const CriticalRanks answer = FindCriticalRanks(job);
    ASSERT_EQ(answer.length_ns, expected.length_ns) << seed;
    ASSERT_EQ(answer.what_if_ns, expected.what_if_ns) << seed;
    ASSERT_EQ(answer.balanced_ns, expected.balanced_ns) << seed;
    ASSERT_EQ(answer.ranks.size(), expected.ranks.size()) << seed;
    for (size_t i = 0; i < answer.ranks.size(); ++i) {
      EXPECT_EQ(answer.ranks[i].rank, expected.ranks[i].rank) << seed;
      EXPECT_EQ(answer.ranks[i].critical_ns, expected.ranks[i].critical_ns) << seed;
      EXPECT_EQ(answer.ranks[i].steps, expected.ranks[i].steps) << seed;
      EXPECT_EQ(answer.ranks[i].saved_ns, expected.ranks[i].saved_ns) << seed;
      EXPECT_EQ(answer.ranks[i].excess_ns, expected.ranks[i].excess_ns) << seed;
    }
    ASSERT_EQ(answer.steps.size(), expected.steps.size()) << seed;
    for (size_t i = 0; i < answer.steps.size(); ++i) {
      EXPECT_EQ(answer.steps[i].step, expected.steps[i].step) << seed;
      EXPECT_EQ(answer.steps[i].length_ns, expected.steps[i].length_ns) << seed;
      EXPECT_EQ(answer.steps[i].rank, expected.steps[i].rank) << seed;
    }
    pieces += static_cast<int>(answer.ranks.size());
  }
  EXPECT_GT(pieces, 1000);
}

TEST(CriticalRanksTest, OddInputsGiveNoCrash) {
  EXPECT_EQ(FindCriticalRanks({}).length_ns, 0);
  EXPECT_EQ(FindCriticalRanks({.ranks = {{0, 5, 0, false}}, .members = {}, .steps = {}}).length_ns, 0);
  // indexes out of range, a collective twice on a rank, times that overflow
  const CriticalRanks answer = FindCriticalRanks(
      {.ranks = {{0, INT64_MIN, INT64_MAX, true}},
       .members = {{9, 0, 0, 1, 0}, {0, 7, 0, 1, 0}, {-1, -1, 0, 1, 0}, {0, 0, INT64_MAX, 5, 0}, {0, 0, 1, 5, 0}},
       .steps = {{0, 3, INT64_MIN, INT64_MAX}, {4, 3, 0, 1}}});
  EXPECT_EQ(answer.length_ns, INT64_MAX);
}

TEST(CriticalRanksTest, LongJobsCostNoSquare) {
  // each of 200,000 collectives is used on the way through the other rank, so every search must skip them
  Input job{.ranks = {{0, 0, 400'000, true}, {1, 0, 400'000, true}}, .members = {}, .steps = {}};
  for (int32_t i = 0; i < 200'000; ++i) {
    job.members.push_back({i, 0, 2 * i, 1 + i % 2, 0});
    job.members.push_back({i, 1, 2 * i, 2 - i % 2, 0});
  }
  EXPECT_GT(FindCriticalRanks(std::move(job)).length_ns, 0);
}

}  // namespace
}  // namespace opscope
