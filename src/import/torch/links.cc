// SPDX-License-Identifier: Apache-2.0
#include "import/torch/links.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <string_view>

#include "base/hash.h"
#include "base/natural_sort.h"

namespace opscope {
namespace {

constexpr std::string_view kEvaluateFunction = "autograd::engine::evaluate_function: ";

// Kineto's key; 16 bits of the thread and 48 of the number.
uint64_t KeyOf(uint64_t thread, int64_t sequence) {
  return thread << 48 | (static_cast<uint64_t>(sequence) & ((uint64_t{1} << 48) - 1));
}

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
  tsl::robin_map<uint32_t, bool> is_evaluate;  // by name: texts are compared once
  for (const Backward& backward : backward_.view()) {
    const auto first = static_cast<uint32_t>(threads_[backward.thread].first);
    uint32_t before = backward.span;  // the span of torch before it, on its thread
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

// False, and some numbers are wrong: the spans do not stand by start.
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
  // A child that ends with its parent was closed before it.
  NaturalSort(&sequenced_,
              [](const Sequenced& a, const Sequenced& b) { return a.end != b.end ? a.end < b.end : a.span > b.span; });
  const StringId fwdbwd = builder_->Intern("fwdbwd");
  tsl::robin_map<uint64_t, uint32_t, MixedHash> forward;
  uint64_t flow = 0;
  for (const Sequenced& torch : sequenced_.view()) {
    const uint32_t row = torch.span;
    if (added.sequence[row] < 0) continue;  // taken from it by PassSequencesUp
    const uint64_t forward_thread = added.forward_thread[row];
    if (forward_thread == 0) {
      const uint64_t logical_thread = threads_[torch.thread].logical_thread;
      const auto [kept, is_new] = forward.try_emplace(KeyOf(logical_thread, added.sequence[row]), row);
      if (!is_new && added.start[row] >= added.start[kept->second]) kept.value() = row;
      continue;
    }
    const auto found = forward.find(KeyOf(forward_thread, added.sequence[row]));
    if (found == forward.end()) continue;
    const uint32_t from = found->second;
    builder_->AddFlow({.id = ++flow,
                       .category = fwdbwd,
                       .name = fwdbwd,
                       .start_time = added.start[from],
                       .start_track = added.track[from],
                       .start_span = AddedSpan{from},
                       .end_time = added.start[row],
                       .end_track = added.track[row],
                       .end_span = AddedSpan{row}});
    forward.erase(found);
  }
}

}  // namespace opscope
