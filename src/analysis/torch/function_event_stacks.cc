// Call stacks of torch's events. A backward event and its descendants get the stack of the first forward event with the
// same sequence number on the thread of the forward pass, if there is one, so that they show the user's code. Frames of
// backward() itself and of torch's test harness are hidden, as in torch.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <unordered_map>
#include <utility>

#include "opscope/torch/function_events.h"

namespace opscope {
namespace {

bool IsShown(std::string_view frame) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kHidden = {{
      {"autograd/__init__", "_make_grads"},
      {"autograd/__init__", "backward"},
      {"torch/tensor", "backward"},
      {"_internal/common_utils", "prof_callable"},
      {"_internal/common_utils", "prof_func_call"},
      {"_internal/common_utils", "prof_meth_call"},
  }};
  for (const auto& [file, function] : kHidden)
    if (frame.find(file) != std::string_view::npos && frame.find(function) != std::string_view::npos) return false;
  return true;
}

struct ForwardKey {
  int64_t sequence;
  uint64_t thread;
  bool operator==(const ForwardKey&) const = default;
};
struct ForwardKeyHash {
  size_t operator()(const ForwardKey& key) const {
    return static_cast<size_t>(key.sequence) * 0x9e3779b97f4a7c15u ^ static_cast<size_t>(key.thread);
  }
};

// For each event the nearest backward function among itself and its ancestors. Parents precede children.
std::vector<EventIndex> BackwardOf(const Trace& trace, const FunctionEvents& events) {
  std::vector<EventIndex> backward(events.size(), EventIndex::kNone);
  for (size_t i = 0; i < events.size(); ++i) {
    if (ScopeTypeOf(trace, events, i) == ScopeType::kBackwardFunction) {
      backward[i] = EventIndex{static_cast<uint32_t>(i)};
    } else if (events.parent[i] != EventIndex::kNone) {
      backward[i] = backward[Row(events.parent[i])];
    }
  }
  return backward;
}

bool HasLogicalThreads(const Trace& trace) {
  for (uint64_t thread : trace.tracks().logical_thread)
    if (thread != 0) return true;
  return false;
}

}  // namespace

FunctionEventStacks::FunctionEventStacks(const Trace& trace, const FunctionEvents& events) : trace_(&trace) {
  if (trace.stacks().size() == 0) return;
  is_shown_.reserve(trace.frames().size());
  for (const StringId text : trace.frames().text)
    is_shown_.push_back(IsShown(trace.text(text)) ? 1 : 0);
  const SpanColumns& spans = trace.spans();
  const std::vector<EventIndex> backward = BackwardOf(trace, events);
  // A Kineto file has system thread ids but torch's forward threads, so there the sequence number alone decides.
  const bool threads_known = HasLogicalThreads(trace);
  std::unordered_map<ForwardKey, StackId, ForwardKeyHash> forward;
  stack_.assign(events.size(), StackId::kNone);
  for (size_t i = 0; i < events.size(); ++i) {
    if (events.span[i] == SpanId::kNone) continue;
    stack_[i] = spans.stack[Row(events.span[i])];
    if (backward[i] != EventIndex::kNone) continue;
    const uint64_t thread = threads_known ? events.thread[i] : 0;
    forward.try_emplace({spans.sequence[Row(events.span[i])], thread}, stack_[i]);
  }
  for (size_t i = 0; i < events.size(); ++i) {
    if (backward[i] == EventIndex::kNone) continue;
    const uint32_t span = Row(events.span[Row(backward[i])]);
    const uint64_t thread = threads_known ? spans.forward_thread[span] : 0;
    // Without threads all events without a number (AccumulateGrad has none) would share a key.
    const bool has_key = threads_known || spans.sequence[span] >= 0;
    const auto found = has_key ? forward.find({spans.sequence[span], thread}) : forward.end();
    stack_[i] = found == forward.end() ? StackId::kNone : found->second;
  }
}

std::vector<std::string_view> FunctionEventStacks::Frames(StackId id) const {
  std::vector<std::string_view> frames;
  const StackColumns& stacks = trace_->stacks();
  for (; id != StackId::kNone; id = stacks.caller[Row(id)]) {
    const uint32_t frame = Row(stacks.frame[Row(id)]);
    if (is_shown_[frame] != 0) frames.push_back(trace_->text(trace_->frames().text[frame]));
  }
  return frames;
}

}  // namespace opscope
