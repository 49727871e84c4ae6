// Walks backwards from the end of the job. On the current rank it takes the collective that ended last before the
// cursor. If the rank waited in it, the time since belongs to the rank, and the walk goes on at the rank that came
// last; else the walk goes on before the collective. No time of one rank is compared with that of another, so clocks
// that differ do no harm.
//
//   rank 0   [ step ......[c waits 200 | 100]....300....)      the walk: 300 of rank 0, then, because rank 0 waited
//   rank 1      [ step ...............[c 100]....300....)      in c, 700 of rank 1, which came last
//
// Simple ways cost too much on damaged or long jobs: a search from the end of the rank for each hop is quadratic, so
// members are sorted by end, and those that are used up are skipped by a union-find. Overlaps of pieces and steps come
// from running sums, because a rank can have as many pieces as steps.
// SPDX-License-Identifier: Apache-2.0
#include "job/critical_ranks.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/saturating.h"

namespace opscope {
namespace {

using CriticalMember = CriticalRanksInput::Member;

int64_t EndOfMember(const CriticalMember& member) {
  return SaturatingAdd(member.start_ns, member.duration_ns);
}

struct PathPiece {
  int64_t begin = 0, end = 0;
};

// What ranks have in common about a collective.
struct SharedCollective {
  int64_t shortest_ns = INT64_MAX;
  size_t last_member = 0;  // on the rank with the shortest span, the lowest of several
  int32_t seen = 0;
};

// The path of one job.
class CriticalWalk {
 public:
  explicit CriticalWalk(CriticalRanksInput input) : in_(std::move(input)), pieces_(in_.ranks.size()) {
    IndexMembers();
    IndexCollectives();
  }

  CriticalRanks Run() {
    int32_t rank = FirstRank();
    if (rank >= 0) Walk(rank);
    return Answer();
  }

 private:
  // Collectives are numbered without gaps, so there are at most as many as members. Sorts by rank, then by end; of
  // equal ends, the later one and the one with the later begin is taken first, then the first collective.
  void IndexMembers() {
    const auto ranks = static_cast<int64_t>(in_.ranks.size());
    const auto collectives = static_cast<int64_t>(in_.members.size());
    std::erase_if(in_.members, [&](const CriticalMember& each) {
      return each.rank_index < 0 || each.rank_index >= ranks || each.collective < 0 || each.collective >= collectives;
    });
    collectives_.resize(collectives);
    used_.assign(collectives, false);
    std::sort(in_.members.begin(), in_.members.end(), [](const CriticalMember& a, const CriticalMember& b) {
      return std::tuple(a.rank_index, EndOfMember(a), a.start_ns, b.collective) <
             std::tuple(b.rank_index, EndOfMember(b), b.start_ns, a.collective);
    });
    first_.assign(in_.ranks.size() + 1, 0);
    for (const CriticalMember& each : in_.members)
      ++first_[each.rank_index + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    before_.resize(in_.members.size() + 1);
    std::iota(before_.begin(), before_.end(), size_t{0});
  }

  void IndexCollectives() {
    for (size_t i = 0; i < in_.members.size(); ++i) {
      SharedCollective& collective = collectives_[in_.members[i].collective];
      ++collective.seen;
      if (in_.members[i].duration_ns < collective.shortest_ns || collective.seen == 1) {  // members are by rank
        collective.shortest_ns = in_.members[i].duration_ns;
        collective.last_member = i;
      }
    }
  }

  // The rank with most time after the last collective that all ranks share; -1 without steps.
  int32_t FirstRank() const {
    const auto ranks = static_cast<int32_t>(in_.ranks.size());
    int32_t shared = -1;
    int64_t shared_begin = 0;
    for (size_t i = 0; ranks > 0 && i < first_[1]; ++i) {
      const CriticalMember& each = in_.members[i];
      if (collectives_[each.collective].seen != ranks) continue;
      const bool is_first = each.start_ns == shared_begin && each.collective < shared;
      if (shared < 0 || each.start_ns > shared_begin || is_first) {
        shared = each.collective;
        shared_begin = each.start_ns;
      }
    }
    std::vector<int64_t> since(ranks);
    for (int32_t i = 0; i < ranks; ++i)
      since[i] = in_.ranks[i].begin_ns;
    for (const CriticalMember& each : in_.members)
      if (each.collective == shared) since[each.rank_index] = EndOfMember(each);
    int32_t best = -1;
    int64_t most = 0;
    for (int32_t i = 0; i < ranks; ++i) {
      if (!in_.ranks[i].has_steps) continue;
      const int64_t time = SaturatingSubtract(in_.ranks[i].end_ns, since[i]);
      if (best < 0 || time > most) {
        best = i;
        most = time;
      }
    }
    return best;
  }

  void Walk(int32_t rank) {
    int64_t t = in_.ranks[rank].end_ns;
    int64_t cursor = t;
    while (const CriticalMember* member = Latest(rank, cursor)) {
      used_[member->collective] = true;
      const SharedCollective& collective = collectives_[member->collective];
      if (member->duration_ns == collective.shortest_ns) {
        passed_.push_back(member);
        cursor = member->start_ns;
        continue;
      }
      AddPiece(rank, EndOfMember(*member), t);
      const CriticalMember& last = in_.members[collective.last_member];
      rank = last.rank_index;
      led_.push_back(&last);
      t = EndOfMember(last);
      cursor = last.start_ns;
    }
    AddPiece(rank, in_.ranks[rank].begin_ns, t);
  }

  // The unused member of the rank with the latest end <= cursor; null if no such member begins after the rank does.
  const CriticalMember* Latest(int32_t rank, int64_t cursor) {
    const auto begin = in_.members.begin() + static_cast<ptrdiff_t>(first_[rank]);
    const auto end = in_.members.begin() + static_cast<ptrdiff_t>(first_[rank + 1]);
    const auto after =
        std::partition_point(begin, end, [&](const CriticalMember& each) { return EndOfMember(each) <= cursor; });
    size_t i = Unused(static_cast<size_t>(after - in_.members.begin()));
    while (i > first_[rank]) {
      const CriticalMember& each = in_.members[i - 1];
      if (!used_[each.collective] && each.start_ns >= in_.ranks[rank].begin_ns) return &each;
      before_[i] = i - 1;
      i = Unused(i - 1);
    }
    return nullptr;
  }

  // The largest position up to `i` that was not skipped before; position i means the member before it.
  size_t Unused(size_t i) {
    while (before_[i] != i) {
      before_[i] = before_[before_[i]];
      i = before_[i];
    }
    return i;
  }

  void AddPiece(int32_t rank, int64_t begin, int64_t end) {
    if (begin < end) pieces_[rank].push_back({begin, end});
  }

  // By rank index: over these collectives, the gap of the rank less the median gap of their members. Gaps that are
  // unknown do not count.
  std::vector<int64_t> ExcessOf(const std::vector<const CriticalMember*>& lasts) const {
    std::vector<int32_t> places(collectives_.size(), -1);
    for (size_t i = 0; i < lasts.size(); ++i)
      places[lasts[i]->collective] = static_cast<int32_t>(i);
    std::vector<std::vector<int64_t>> gaps(lasts.size());
    for (const CriticalMember& each : in_.members)
      if (places[each.collective] >= 0 && each.gap_ns >= 0) gaps[places[each.collective]].push_back(each.gap_ns);
    std::vector<int64_t> excess(in_.ranks.size(), 0);
    for (size_t i = 0; i < lasts.size(); ++i) {
      if (lasts[i]->gap_ns < 0) continue;
      const auto median = gaps[i].begin() + static_cast<ptrdiff_t>((gaps[i].size() - 1) / 2);
      std::nth_element(gaps[i].begin(), median, gaps[i].end());
      const int64_t more = SaturatingSubtract(lasts[i]->gap_ns, *median);
      int64_t& sum = excess[lasts[i]->rank_index];
      sum = SaturatingAdd(sum, std::max<int64_t>(more, 0));
    }
    return excess;
  }

  CriticalRanks Answer() {
    CriticalRanks answer;
    const std::vector<int64_t> saved = ExcessOf(led_), passed = ExcessOf(passed_);
    std::vector<int64_t> most_in(in_.ranks.size(), 0);
    answer.steps = Steps(most_in);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      int64_t critical = 0;
      for (const PathPiece& piece : pieces_[i])
        critical = SaturatingAdd(critical, SaturatingSubtract(piece.end, piece.begin));
      answer.length_ns = SaturatingAdd(answer.length_ns, critical);
      if (critical > 0) {
        const int64_t excess = SaturatingAdd(saved[i], passed[i]);
        answer.ranks.push_back({in_.ranks[i].rank, critical, most_in[i], saved[i], excess});
      }
    }
    answer.what_if_ns = answer.balanced_ns = answer.length_ns;
    for (size_t i = 0; i < saved.size(); ++i) {
      answer.what_if_ns = SaturatingSubtract(answer.what_if_ns, saved[i]);
      answer.balanced_ns = SaturatingSubtract(answer.balanced_ns, SaturatingAdd(saved[i], passed[i]));
    }
    std::sort(answer.ranks.begin(), answer.ranks.end(), [](const CriticalRanks::Rank& a, const CriticalRanks::Rank& b) {
      return std::tuple(-a.critical_ns, a.rank) < std::tuple(-b.critical_ns, b.rank);
    });
    return answer;
  }

  // The steps that the path crosses; counts in `most_in` those in which a rank has most.
  std::vector<CriticalRanks::Step> Steps(std::vector<int64_t>& most_in) {
    std::map<std::pair<int64_t, int32_t>, int64_t> lengths;  // by step and rank index
    std::vector<std::vector<const CriticalRanksInput::Step*>> steps(in_.ranks.size());
    for (const CriticalRanksInput::Step& step : in_.steps) {
      const bool is_known = step.rank_index >= 0 && static_cast<size_t>(step.rank_index) < in_.ranks.size();
      if (is_known && !pieces_[step.rank_index].empty()) steps[step.rank_index].push_back(&step);
    }
    for (size_t rank = 0; rank < steps.size(); ++rank) {
      if (steps[rank].empty()) continue;
      const PieceLengths length(pieces_[rank]);
      for (const CriticalRanksInput::Step* step : steps[rank]) {
        const int64_t end = SaturatingAdd(step->start_ns, step->duration_ns);
        const int64_t overlap = end > step->start_ns ? length.Between(step->start_ns, end) : 0;
        if (overlap > 0) {
          int64_t& sum = lengths[{step->step, static_cast<int32_t>(rank)}];
          sum = SaturatingAdd(sum, overlap);
        }
      }
    }
    std::vector<CriticalRanks::Step> answer;
    int32_t most = -1;
    int64_t longest = 0;
    for (auto each = lengths.begin(); each != lengths.end();) {
      const auto [step, rank] = each->first;
      if (answer.empty() || answer.back().step != step) {
        answer.push_back({step, 0, 0});
        longest = 0;
      }
      answer.back().length_ns = SaturatingAdd(answer.back().length_ns, each->second);
      if (each->second > longest) {
        longest = each->second;
        most = rank;
      }
      ++each;
      if (each == lengths.end() || each->first.first != step) {
        answer.back().rank = in_.ranks[most].rank;
        ++most_in[most];
      }
    }
    return answer;
  }

  // The pieces of a rank as a function: how long they are before a time.
  class PieceLengths {
   public:
    explicit PieceLengths(const std::vector<PathPiece>& pieces) {
      for (const PathPiece& piece : pieces) {
        begins_.push_back(piece.begin);
        ends_.push_back(piece.end);
      }
      begin_sums_ = SortedSums(begins_);
      end_sums_ = SortedSums(ends_);
    }

    int64_t Between(int64_t begin, int64_t end) const {
      const __int128 length = Before(end) - Before(begin);
      return length > INT64_MAX ? INT64_MAX : static_cast<int64_t>(length);
    }

   private:
    static std::vector<__int128> SortedSums(std::vector<int64_t>& times) {
      std::sort(times.begin(), times.end());
      std::vector<__int128> sums = {0};
      for (const int64_t time : times)
        sums.push_back(sums.back() + time);
      return sums;
    }
    static __int128 SinceAll(const std::vector<int64_t>& times, const std::vector<__int128>& sums, int64_t t) {
      const auto n = std::lower_bound(times.begin(), times.end(), t) - times.begin();
      return static_cast<__int128>(n) * t - sums[n];
    }
    __int128 Before(int64_t t) const { return SinceAll(begins_, begin_sums_, t) - SinceAll(ends_, end_sums_, t); }

    std::vector<int64_t> begins_, ends_;
    std::vector<__int128> begin_sums_, end_sums_;
  };

  CriticalRanksInput in_;
  std::vector<size_t> first_;   // by rank index: its first member
  std::vector<size_t> before_;  // union-find over positions between members
  std::vector<SharedCollective> collectives_;
  std::vector<bool> used_;                      // by collective
  std::vector<std::vector<PathPiece>> pieces_;  // by rank index
  // Members of last ranks: those that the walk went on at, and those that it passed on its rank.
  std::vector<const CriticalMember*> led_, passed_;
};

}  // namespace

CriticalRanks FindCriticalRanks(CriticalRanksInput input) {
  return CriticalWalk(std::move(input)).Run();
}

}  // namespace opscope
