// SPDX-License-Identifier: Apache-2.0
#include "import/torch_links.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <string_view>

#include "base/hash.h"

namespace opscope {
namespace {

constexpr std::string_view kEvaluateFunction = "autograd::engine::evaluate_function: ";

size_t RowOf(AddedSpan span) {
  return static_cast<size_t>(span);
}

// Kineto's key; 16 bits of the thread and 48 of the number.
uint64_t KeyOf(uint64_t thread, int64_t sequence) {
  return thread << 48 | (static_cast<uint64_t>(sequence) & ((uint64_t{1} << 48) - 1));
}

}  // namespace

void TorchLinks::Add(AddedSpan span, uint64_t logical_thread) {
  if (new_thread_) logical_threads_.push_back(logical_thread);
  new_thread_ = false;
  spans_.push_back({span, static_cast<uint32_t>(logical_threads_.size() - 1)});
}

void TorchLinks::EndThread() {
  new_thread_ = true;
}

void TorchLinks::Finish() {
  if (spans_.empty()) return;
  PassSequencesUp();
  NumberByStart();
  LinkForwardToBackward();
}

void TorchLinks::PassSequencesUp() {
  const SpanColumns added = builder_->added_spans();
  tsl::robin_map<uint32_t, bool> is_evaluate;  // by name: texts are compared once
  for (size_t i = 0; i < spans_.size(); ++i) {
    const size_t row = RowOf(spans_[i].span);
    if (added.sequence[row] < 0 && added.forward_thread[row] != 0) builder_->SetSequence(spans_[i].span, -1, 0);
    if (i + 1 == spans_.size() || spans_[i].thread != spans_[i + 1].thread) continue;
    const size_t next = RowOf(spans_[i + 1].span);
    if (added.scope[row] != ScopeType::kFunction || added.scope[next] != ScopeType::kBackwardFunction) continue;
    const auto [known, is_new] = is_evaluate.try_emplace(Row(added.name[row]), false);
    if (is_new) known.value() = builder_->text(added.name[row]).starts_with(kEvaluateFunction);
    if (!known->second) continue;
    const int64_t sequence = added.sequence[next];
    builder_->SetSequence(spans_[i].span, sequence, sequence < 0 ? 0 : added.forward_thread[next]);
  }
}

void TorchLinks::NumberByStart() {
  const SpanColumns added = builder_->added_spans();
  const auto starts_before = [&](const TorchSpan& a, const TorchSpan& b) {
    return added.start[RowOf(a.span)] < added.start[RowOf(b.span)];
  };
  TorchSpan* end = spans_.data() + spans_.size();
  if (!std::is_sorted(spans_.data(), end, starts_before)) std::stable_sort(spans_.data(), end, starts_before);
  uint32_t number = 0;
  for (const TorchSpan& torch : spans_.view())
    builder_->SetExternalId(torch.span, ++number);
}

void TorchLinks::LinkForwardToBackward() {
  const SpanColumns added = builder_->added_spans();
  std::vector<TorchSpan> by_end;
  for (const TorchSpan& torch : spans_.view()) {
    if (added.sequence[RowOf(torch.span)] >= 0) by_end.push_back(torch);
  }
  const auto end_of = [&](const TorchSpan& torch) {
    return added.start[RowOf(torch.span)] + added.duration[RowOf(torch.span)];
  };
  // A child that ends with its parent was closed before it.
  std::sort(by_end.begin(), by_end.end(), [&](const TorchSpan& a, const TorchSpan& b) {
    return end_of(a) != end_of(b) ? end_of(a) < end_of(b) : RowOf(a.span) > RowOf(b.span);
  });
  const StringId fwdbwd = builder_->Intern("fwdbwd");
  tsl::robin_map<uint64_t, AddedSpan, MixedHash> forward;
  uint64_t flow = 0;
  for (const TorchSpan& torch : by_end) {
    const size_t row = RowOf(torch.span);
    const uint64_t forward_thread = added.forward_thread[row];
    if (forward_thread == 0) {
      const auto [kept, is_new] =
          forward.try_emplace(KeyOf(logical_threads_[torch.thread], added.sequence[row]), torch.span);
      if (!is_new && added.start[row] >= added.start[RowOf(kept->second)]) kept.value() = torch.span;
      continue;
    }
    const auto found = forward.find(KeyOf(forward_thread, added.sequence[row]));
    if (found == forward.end()) continue;
    const size_t from = RowOf(found->second);
    builder_->AddFlow({.id = ++flow,
                       .category = fwdbwd,
                       .name = fwdbwd,
                       .start_time = added.start[from],
                       .start_track = added.track[from],
                       .start_span = found->second,
                       .end_time = added.start[row],
                       .end_track = added.track[row],
                       .end_span = torch.span});
    forward.erase(found);
  }
}

}  // namespace opscope
