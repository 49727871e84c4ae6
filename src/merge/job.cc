// SPDX-License-Identifier: Apache-2.0
#include "merge/job.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace opscope {
namespace {

// Older Kineto wrote unix time and no base time. No machine counts its own uptime in decades.
constexpr int64_t kCertainlyUnixNs = 1'000'000'000'000'000'000;

// Inputs of one rank are parts of it (one file per cycle of a schedule) unless they cover the same time.
bool Overlap(const InputFacts& a, const InputFacts& b) {
  return a.first_ns < b.last_ns && b.first_ns < a.last_ns;
}

// -1: none, or several (a merged trace keeps the rank of each process).
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
    for (; digit < name.size() && name[digit] >= '0' && name[digit] <= '9' && rank <= INT32_MAX; ++digit)
      rank = std::max<int64_t>(rank, 0) * 10 + (name[digit] - '0');
    if (rank >= 0 && rank <= INT32_MAX) return static_cast<int32_t>(rank);
  }
  return -1;
}

InputFacts FactsOf(const MergeInput& input) {
  InputFacts facts;
  facts.name = input.name;
  facts.rank = input.rank;
  facts.world_size = input.trace.info().world_size;
  if (facts.rank < 0) facts.rank = RankOf(input.trace);
  if (facts.rank < 0) {
    facts.rank = RankFromName(input.name);
    facts.rank_is_from_name = facts.rank >= 0;
  }
  const int64_t epoch = input.trace.info().epoch_ns;
  const SpanColumns& spans = input.trace.spans();
  facts.spans = spans.size();
  for (size_t row = 0; row < spans.size(); ++row) {
    const int64_t first = (spans.start[row] + Duration{epoch}).ns;
    const int64_t last = (Timestamp{first} + spans.duration[row]).ns;
    facts.first_ns = row == 0 ? first : std::min(facts.first_ns, first);
    facts.last_ns = row == 0 ? last : std::max(facts.last_ns, last);
  }
  facts.has_wall_clock = epoch != 0 || facts.first_ns > kCertainlyUnixNs;
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

void LeaveOutOthers(std::vector<InputFacts>* facts) {
  std::map<uint32_t, size_t> votes;
  for (const InputFacts& input : *facts) {
    if (input.world_size != 0) ++votes[input.world_size];
  }
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (InputFacts& input : *facts) {
    if (input.world_size == 0 || input.world_size == most->first) continue;
    input.left_out = "of a job of " + std::to_string(input.world_size) + " ranks, not " + std::to_string(most->first);
    input.left_out_problem = "other_job";
  }
  for (size_t i = 0; i < facts->size(); ++i) {
    for (size_t k = i + 1; k < facts->size(); ++k) {
      InputFacts &a = (*facts)[i], &b = (*facts)[k];
      if (a.rank < 0 || a.rank != b.rank || !a.left_out.empty() || !b.left_out.empty() || !Overlap(a, b)) continue;
      InputFacts& kept = a.spans >= b.spans ? a : b;
      InputFacts& other = &kept == &a ? b : a;
      other.left_out = "rank " + std::to_string(a.rank) + " is in " + kept.name + " too";
      other.left_out_problem = "rank_doubled";
    }
  }
}

std::vector<std::pair<uint32_t, uint32_t>> MissingRanks(const std::vector<InputFacts>& facts, uint32_t world_size) {
  std::set<uint32_t> present;
  for (const InputFacts& input : facts) {
    if (input.left_out.empty() && input.rank >= 0) present.insert(static_cast<uint32_t>(input.rank));
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
