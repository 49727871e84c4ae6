// Builds a trie of stacks: a node is a frame and the node of its caller, so equal stacks are one number and a million
// spans share some thousand nodes. Rows are in pre-order, so the parent's node is known when a span is reached; a
// Python call adds one node below it, any other span takes its parent's. Comparing stacks as texts would cost their
// length per span.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/call_stacks.h"

#include <tsl/robin_map.h>

#include <utility>

#include "base/hash.h"

namespace opscope {
namespace {

class StackFinder {
 public:
  explicit StackFinder(const Trace& trace) : trace_(trace), spans_(trace.spans()) { found_.nodes.emplace_back(); }

  StacksOfSpans Run() {
    NumberStacks();
    found_.node_of.reserve(spans_.size());
    for (size_t row = 0; row < spans_.size(); ++row) {  // parents precede their children
      const SpanId parent = spans_.parent[row];
      const uint32_t around = parent == SpanId::kNone ? 0 : found_.node_of[Row(parent)];
      if (spans_.stack[row] != StackId::kNone) {
        found_.node_of.push_back(node_of_stack_[Row(spans_.stack[row])]);
      } else {
        found_.node_of.push_back(IsPythonCall(spans_.kind[row]) ? Called(around, spans_.name[row]) : around);
      }
    }
    return std::move(found_);
  }

 private:
  static bool IsPythonCall(SpanKind kind) {
    return kind == SpanKind::kPythonFunction || kind == SpanKind::kCFunction || kind == SpanKind::kModule;
  }

  // Adds the stacks of the input; a caller's row precedes its callees'.
  void NumberStacks() {
    const StackColumns& stacks = trace_.stacks();
    for (size_t stack = 0; stack < stacks.size(); ++stack) {
      const StackId caller = stacks.caller[stack];
      node_of_stack_.push_back(Called(caller == StackId::kNone ? 0 : node_of_stack_[Row(caller)],
                                      trace_.frames().text[Row(stacks.frame[stack])]));
    }
  }

  uint32_t Called(uint32_t caller, StringId frame) {
    const auto next = static_cast<uint32_t>(found_.nodes.size());
    const auto [node, is_new] = nodes_.try_emplace(uint64_t{caller} << 32 | Row(frame), next);
    if (is_new) found_.nodes.push_back({frame, caller});
    return node->second;
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  StacksOfSpans found_;
  std::vector<uint32_t> node_of_stack_;
  tsl::robin_map<uint64_t, uint32_t, MixedHash> nodes_;  // by caller and frame
};

}  // namespace

std::string StacksOfSpans::TextOf(const Trace& trace, uint32_t node) const {
  std::vector<StringId> frames;  // innermost first
  for (; node != 0; node = nodes[node].caller)
    frames.push_back(nodes[node].frame);
  std::string text;
  for (size_t i = frames.size(); i-- > 0;) {
    text += trace.text(frames[i]);
    if (i > 0) text += ';';
  }
  return text;
}

StacksOfSpans FindStacks(const Trace& trace) {
  return StackFinder(trace).Run();
}

}  // namespace opscope
