// Decides which inputs belong to one job before any clock is compared.
// FactsOf reads each input once: rank, world size, time range, and whether its times are unix times.
// ExcludeForeignInputs then drops inputs of another world size (the majority wins) and doubles: two files of rank 3
// that cover the same time are one recording twice, while two that follow each other are cycles of one schedule and are
// both kept. The order of the result depends on the contents alone (CanonicalOrder), so that a shell glob in another
// order gives the same bytes.
// SPDX-License-Identifier: Apache-2.0
#include "merge/job.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "base/saturating.h"
#include "base/text.h"
#include "merge/merge_metadata.h"

namespace opscope {
namespace {

// Older Kineto wrote unix time without a base time. A time above this (2001) is unix time, for no uptime lasts 31
// years.
constexpr int64_t kCertainlyUnixNs = 1'000'000'000'000'000'000;

// The rank that both inputs cover at the same time, or -1. Inputs of one rank that follow each other in time are cycles
// of one schedule and no doubles.
int32_t DuplicateRank(const InputFacts& a, const InputFacts& b) {
  for (const RankWindow& of_a : a.ranks) {
    for (const RankWindow& of_b : b.ranks) {
      if (of_a.rank == of_b.rank && of_a.first_ns < of_b.last_ns && of_b.first_ns < of_a.last_ns) return of_a.rank;
    }
  }
  return -1;
}

void Widen(int64_t first_ns, int64_t last_ns, bool is_new, int64_t* first, int64_t* last) {
  *first = is_new ? first_ns : std::min(*first, first_ns);
  *last = is_new ? last_ns : std::max(*last, last_ns);
}

// Finds the time range of all spans, and of each rank on the rank's own clock: an earlier merge moved it, and the
// offset in its metadata is undone here.
void FindTimes(const Trace& trace, InputFacts* facts) {
  const SpanColumns& spans = trace.spans();
  const Duration epoch{trace.info().epoch_ns};
  std::map<int32_t, RankWindow> of_rank;
  for (size_t row = 0; row < spans.size(); ++row) {
    const int64_t first = (spans.start[row] + epoch).ns;
    const int64_t last = (Timestamp{first} + spans.duration[row]).ns;
    Widen(first, last, row == 0, &facts->first_ns, &facts->last_ns);
    const int32_t rank = trace.processes().rank[Row(trace.tracks().process[Row(spans.track[row])])];
    if (rank < 0) continue;
    RankWindow& window = of_rank[rank];
    Widen(first, last, window.rank < 0, &window.first_ns, &window.last_ns);
    window.rank = rank;
  }
  const std::map<int32_t, int64_t> offsets = OffsetsOfRanks(trace);
  for (auto& [rank, window] : of_rank) {
    const auto moved = offsets.find(rank);
    const int64_t by = moved == offsets.end() ? 0 : moved->second;
    facts->ranks.push_back({rank, SaturatingSubtract(window.first_ns, by), SaturatingSubtract(window.last_ns, by)});
  }
}

// The only rank among the processes; -1 if there is none or several, as in a merged trace.
int32_t RankOf(const Trace& trace) {
  int32_t only = -1;
  for (const int32_t rank : trace.processes().rank) {
    if (rank >= 0 && only >= 0 && rank != only) return -1;
    if (rank >= 0) only = rank;
  }
  return only;
}

}  // namespace

int32_t RankFromName(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  for (size_t at = name.find("rank"); at != std::string_view::npos; at = name.find("rank", at + 1)) {
    size_t digit = at + 4;
    if (digit < name.size() && (name[digit] == '_' || name[digit] == '-')) ++digit;
    int64_t rank = -1;
    for (; digit < name.size() && IsDigit(name[digit]) && rank <= INT32_MAX; ++digit)
      rank = std::max<int64_t>(rank, 0) * 10 + (name[digit] - '0');
    if (rank >= 0 && rank <= INT32_MAX) return static_cast<int32_t>(rank);
  }
  return -1;
}

InputFacts FactsOf(const MergeInput& input) {
  InputFacts facts;
  facts.name = input.name;
  facts.rank = input.rank;
  facts.left_out = input.unreadable;
  if (!input.unreadable.empty()) facts.left_out_problem = "unreadable_trace";
  facts.world_size = input.trace.info().world_size;
  if (facts.rank < 0) facts.rank = RankOf(input.trace);
  facts.spans = input.trace.spans().size();
  FindTimes(input.trace, &facts);
  if (facts.rank < 0 && facts.ranks.empty()) {
    facts.rank = RankFromName(input.name);
    facts.rank_is_from_name = facts.rank >= 0;
  }
  if (facts.rank >= 0) facts.ranks = {{facts.rank, facts.first_ns, facts.last_ns}};
  facts.has_wall_clock = input.trace.info().epoch_ns != 0 || facts.first_ns > kCertainlyUnixNs;
  return facts;
}

std::vector<size_t> CanonicalOrder(const std::vector<InputFacts>& facts) {
  std::vector<size_t> order(facts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&](size_t i) {
    const InputFacts& f = facts[i];
    return std::tuple(f.rank < 0, f.rank, f.first_ns, f.last_ns, f.spans, std::string_view(f.name));
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  return order;
}

void ExcludeForeignInputs(std::vector<InputFacts>* facts) {
  const auto has_vote = [](const InputFacts& input) { return input.world_size != 0 && !input.ranks.empty(); };
  std::map<uint32_t, size_t> votes;
  for (const InputFacts& input : *facts) {
    if (has_vote(input)) ++votes[input.world_size];
  }
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (InputFacts& input : *facts) {
    if (!has_vote(input) || input.world_size == most->first) continue;
    input.left_out = "of a job of " + std::to_string(input.world_size) + " ranks, not " + std::to_string(most->first);
    input.left_out_problem = "other_job";
  }
  // An input that is left out still excludes smaller ones, so the order of the pairs does not matter.
  std::vector<size_t> fitting;
  for (size_t i = 0; i < facts->size(); ++i)
    if ((*facts)[i].left_out.empty()) fitting.push_back(i);
  for (size_t i = 0; i < fitting.size(); ++i) {
    for (size_t k = i + 1; k < fitting.size(); ++k) {
      InputFacts &a = (*facts)[fitting[i]], &b = (*facts)[fitting[k]];
      const int32_t rank = DuplicateRank(a, b);
      if (rank < 0) continue;
      const auto order = [](const InputFacts& input) {
        return std::tuple(SIZE_MAX - input.ranks.size(), UINT64_MAX - input.spans, std::string_view(input.name));
      };
      const bool keeps_a = order(a) <= order(b);
      InputFacts &kept = keeps_a ? a : b, &other = keeps_a ? b : a;
      if (!other.left_out.empty()) continue;
      other.left_out = "rank " + std::to_string(rank) + " is in " + kept.name + " too";
      other.left_out_problem = "rank_doubled";
    }
  }
}

std::vector<std::pair<uint32_t, uint32_t>> MissingRanks(const std::vector<InputFacts>& facts, uint32_t world_size) {
  std::set<uint32_t> present;
  for (const InputFacts& input : facts) {
    if (input.left_out_problem == "other_job") continue;
    for (const RankWindow& window : input.ranks)
      present.insert(static_cast<uint32_t>(window.rank));
  }
  std::vector<std::pair<uint32_t, uint32_t>> missing;
  uint32_t next = 0;
  const auto add_until = [&](uint32_t end) {
    if (next < end) missing.emplace_back(next, end - 1);
    next = end + 1;
  };
  for (const uint32_t rank : present) {
    if (rank < world_size) add_until(rank);
  }
  if (next < world_size) missing.emplace_back(next, world_size - 1);
  return missing;
}

}  // namespace opscope
