// Numbers, sequences and arrows depend on the order of spans over all threads. Threads record in order, so numbering
// first tries the order of the rows, and sorts by start only if that is wrong; the sort looks for runs
// (base/natural_sort.h). Each distinct name is compared with "autograd::engine::evaluate_function: " only once.
// SPDX-License-Identifier: Apache-2.0
#include "import/torch/links.h"

#include <tsl/robin_map.h>

#include <string_view>

#include "base/natural_sort.h"

namespace opscope {
namespace {

constexpr std::string_view kEvaluateFunction = "autograd::engine::evaluate_function: ";

}  // namespace

void TorchLinks::AddThread(AddedSpan first, size_t count, uint64_t logical_thread) {
  threads_.push_back({first, count, logical_thread});
}

void TorchLinks::Finish() {
  PassSequencesUp();
  NumberByStart();
  if (is_linked_) LinkForwardToBackward();
}

void TorchLinks::PassSequencesUp() {
  const SpanColumns added = builder_->added_spans();
  tsl::robin_map<uint32_t, bool> is_evaluate;  // by name
  for (const Backward& backward : backward_.view()) {
    const auto first = static_cast<uint32_t>(threads_[backward.thread].first);
    uint32_t before = backward.span;  // the previous span of torch on its thread
    while (before > first && added.external_id[before - 1] == 0)
      --before;
    if (before-- == first || added.scope[before] != ScopeType::kFunction) continue;
    const auto [known, is_new] = is_evaluate.try_emplace(Row(added.name[before]), false);
    if (is_new) known.value() = builder_->text(added.name[before]).starts_with(kEvaluateFunction);
    if (!known->second) continue;
    const int64_t sequence = added.sequence[backward.span];
    if (sequence >= 0 && added.sequence[before] < 0) sequenced_.push_back({{}, before, backward.thread});
    builder_->SetSequence(AddedSpan{before}, sequence, sequence < 0 ? 0 : added.forward_thread[backward.span]);
  }
}

void TorchLinks::NumberByStart() {
  if (NumberInOrderOfAddition()) return;
  const SpanColumns added = builder_->added_spans();
  Column<Start> starts;
  for (const Thread& thread : threads_) {
    for (size_t span = static_cast<size_t>(thread.first), end = span + thread.count; span < end; ++span) {
      if (added.external_id[span] != 0) starts.push_back({added.start[span], static_cast<uint32_t>(span)});
    }
  }
  NaturalSort(&starts, [](const Start& a, const Start& b) { return a.start < b.start; });
  const std::span<uint32_t> ids = builder_->external_ids();
  uint32_t number = first_id_;
  for (const Start& start : starts.view())
    ids[start.span] = number++;
}

// False: the spans are not in order of start, and some numbers are wrong.
bool TorchLinks::NumberInOrderOfAddition() {
  const std::span<const Timestamp> starts = builder_->added_spans().start;
  const std::span<uint32_t> ids = builder_->external_ids();
  if (ids.empty()) return true;  // no span of torch
  Timestamp last{INT64_MIN};
  uint32_t number = first_id_;
  for (const Thread& thread : threads_) {
    for (size_t span = static_cast<size_t>(thread.first), end = span + thread.count; span < end; ++span) {
      if (ids[span] == 0) continue;
      if (starts[span] < last) return false;
      last = starts[span];
      ids[span] = number++;
    }
  }
  return true;
}

void TorchLinks::LinkForwardToBackward() {
  const SpanColumns added = builder_->added_spans();
  for (size_t i = 0; i < sequenced_.size(); ++i)
    sequenced_[i].end = added.start[sequenced_[i].span] + added.duration[sequenced_[i].span];
  SortByEnd(&sequenced_);
  const StringId fwdbwd = builder_->Intern("fwdbwd");
  ForwardMatch match;
  uint64_t flow = 0;
  for (const SequencedSpan& torch : sequenced_.view()) {
    const uint32_t row = torch.span;
    const int64_t sequence = added.sequence[row];
    if (sequence < 0) continue;  // PassSequencesUp has cleared it
    const uint64_t forward_thread = added.forward_thread[row];
    if (forward_thread == 0) {
      match.AddForward(ForwardMatch::KeyOf(threads_[torch.thread].logical_thread, sequence), added.start[row], row);
      continue;
    }
    const auto [from, is_first] = match.Take(ForwardMatch::KeyOf(forward_thread, sequence));
    if (!is_first) continue;
    builder_->AddFlow({.id = ++flow,
                       .category = fwdbwd,
                       .name = fwdbwd,
                       .start_time = added.start[from],
                       .start_track = added.track[from],
                       .start_span = AddedSpan{from},
                       .end_time = added.start[row],
                       .end_track = added.track[row],
                       .end_span = AddedSpan{row}});
  }
}

}  // namespace opscope
