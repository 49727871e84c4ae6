// A part is cleared and reused for the next block, so its vectors and text tables grow to the size of a block only
// once.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/part.h"

#include <algorithm>

namespace opscope {

void LostMembers::Add(std::string_view name) {
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return;
  if (names_.size() < kMaxNames) {
    names_.emplace_back(name);
  } else {
    has_more_ = true;
  }
}

void LostMembers::Add(const LostMembers& later) {
  for (const std::string& name : later.names_)
    Add(name);
  has_more_ |= later.has_more_;
}

std::string LostMembers::Text() const {
  std::string text;
  for (const std::string& name : names_)
    text.append(text.empty() ? "" : ", ").append(name);
  return text.append(has_more_ ? ", ..." : "");
}

void CountProblem(const ChromeProblem& problem, std::vector<ChromeProblem>* problems) {
  for (ChromeProblem& other : *problems) {
    if (std::string_view(other.kind) != problem.kind) continue;
    other.count += problem.count;
    return;
  }
  problems->push_back(problem);
}

void ChromePart::Clear() {
  texts.Clear();
  texts.AddView("");
  lists.Clear();
  stacks.Clear();
  tracks.Clear();
  spans.clear();
  instants.clear();
  counters.clear();
  allocations.clear();
  python_calls.clear();
  steps.clear();
  halves.clear();
  async_halves.clear();
  flow_points.clear();
  last_complete = AddedSpan::kNone;
  flows_before_complete = 0;
  problems.clear();
  lost_members.Clear();
  recorded = 0;
  evidence = {};
}

uint64_t ChromePart::memory_bytes() const {
  const auto bytes = [](const auto&... rows) { return (uint64_t{0} + ... + (rows.capacity() * sizeof(rows[0]))); };
  return texts.memory_bytes() + lists.memory_bytes() + stacks.memory_bytes() +
         bytes(spans, instants, counters, allocations, python_calls, steps, halves, async_halves, flow_points);
}

}  // namespace opscope
