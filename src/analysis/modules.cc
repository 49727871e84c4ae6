// Finds the module around each span, in two passes. The first covers all spans outside of backward functions, parents
// before children: a span's module is its parent's, or for a module call a node below that. The second covers the spans
// under backward functions: each takes the module of its forward operator (opscope/forward_operators.h).
// A forward operator can itself run under a backward function (checkpointing, a gradient of a gradient). It starts
// before the backward function that belongs to it, so the second pass goes by start time. When checkpointing runs a
// forward pass again, the modules called there become nodes below the checkpointed module.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/modules.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/module_hierarchy_text.h"
#include "analysis/name_predicate.h"
#include "base/hash.h"
#include "opscope/forward_operators.h"

namespace opscope {
namespace {

constexpr std::string_view kEngineFrame = "autograd::engine::evaluate_function: ";
// Deeper modules count for the one of this depth: the paths of a hostile file would grow with the square of its depth.
constexpr uint32_t kMaxModuleDepth = 2048;

bool IsEngineFrame(std::string_view name) {
  return name.starts_with(kEngineFrame);
}

class ModuleFinder {
 public:
  explicit ModuleFinder(const Trace& trace)
      : trace_(trace), spans_(trace.spans()), is_engine_frame_(trace, &IsEngineFrame), texts_(trace) {
    found_.nodes.push_back({});
    script_caller_.push_back(0);
    found_.node_of.assign(spans_.size(), 0);
    found_.is_backward.assign(spans_.size(), 0);
  }

  ModulesOfSpans Run() {
    for (uint32_t row = 0; row < spans_.size(); ++row) {
      const SpanId parent = spans_.parent[row];
      if ((parent != SpanId::kNone && found_.is_backward[Row(parent)] != 0) || IsBackward(row)) {
        found_.is_backward[row] = 1;
        backward_.push_back(row);
        continue;
      }
      found_.node_of[row] = Enter(row, parent == SpanId::kNone ? 0 : found_.node_of[Row(parent)]);
    }
    // A backward function has the modules of its forward operator: without modules the search finds nothing.
    if (!backward_.empty() && (texts_.any() || HasModuleCalls())) EnterBackward();
    return std::move(found_);
  }

 private:
  bool HasModuleCalls() const {
    return std::find(spans_.kind.begin(), spans_.kind.end(), SpanKind::kModule) != spans_.kind.end();
  }

  void EnterBackward() {
    forward_ = FindForwardOperators(trace_);
    std::stable_sort(backward_.begin(), backward_.end(),
                     [this](uint32_t a, uint32_t b) { return spans_.start[a] < spans_.start[b]; });
    for (const uint32_t row : backward_) {
      const SpanId parent = spans_.parent[row];
      uint32_t around = parent == SpanId::kNone ? 0 : found_.node_of[Row(parent)];
      if (IsBackward(row)) around = ForwardNode(row);
      found_.node_of[row] = Enter(row, around);
    }
  }

  // A backward function or the engine's frame around one. A Kineto file has no scopes, but forward threads.
  bool IsBackward(uint32_t row) {
    return spans_.scope[row] == ScopeType::kBackwardFunction || spans_.forward_thread[row] != 0 ||
           is_engine_frame_(spans_.name[row]);
  }

  uint32_t Child(uint32_t parent, std::string_view name) {
    if (found_.nodes[parent].depth >= kMaxModuleDepth) return parent;
    const auto [found, is_new] =
        children_.try_emplace({parent, std::string(name)}, static_cast<uint32_t>(found_.nodes.size()));
    if (is_new) {
      found_.nodes.push_back({.name = std::string(name), .parent = parent, .depth = found_.nodes[parent].depth + 1});
      script_caller_.push_back(name.ends_with(')') ? script_caller_[parent] : found->second);
    }
    return found->second;
  }

  // The module of a span whose surroundings are in the module `around`.
  uint32_t Enter(uint32_t row, uint32_t around) {
    if (spans_.kind[row] == SpanKind::kModule) return EnterCall(spans_.name[row], around);
    if (!texts_.any()) return around;
    // TorchScript: each operator has the path down from where its interpreter began.
    const std::vector<std::string>& path = texts_.PathOf(spans_.extra[row]);
    if (path.empty()) return around;
    const uint32_t caller = script_caller_[around];
    const auto [known, is_new] = scripted_.try_emplace(uint64_t{caller} << 32 | Row(spans_.extra[row]), caller);
    if (!is_new) return known->second;
    for (size_t i = caller != 0 ? 1 : 0; i < path.size(); ++i)  // the outermost is the module that was called
      known->second = Child(known->second, path[i]);
    return known->second;
  }

  uint32_t EnterCall(StringId name, uint32_t around) {
    const uint64_t key = uint64_t{around} << 32 | Row(name);
    const auto found = calls_.find(key);
    if (found != calls_.end()) return found->second;
    const uint32_t node = Child(around, ModuleOfCall(trace_.text(name)));
    calls_.emplace(key, node);
    return node;
  }

  uint32_t ForwardNode(uint32_t row) const {
    const SpanId forward = forward_[row];
    return forward != SpanId::kNone ? found_.node_of[Row(forward)] : Inherited(row);
  }
  // The module of the engine's frame or backward function around this one, which has no number (AccumulateGrad).
  uint32_t Inherited(uint32_t row) const {
    const SpanId parent = spans_.parent[row];
    return parent != SpanId::kNone && found_.is_backward[Row(parent)] != 0 ? found_.node_of[Row(parent)] : 0;
  }

  struct ChildHash {
    size_t operator()(const std::pair<uint32_t, std::string>& key) const {
      return std::hash<std::string>()(key.second) * 31 + key.first;
    }
  };

  const Trace& trace_;
  const SpanColumns& spans_;
  ModulesOfSpans found_;
  NamePredicate is_engine_frame_;
  ModuleHierarchyTexts texts_;
  std::vector<uint32_t> backward_;  // spans under backward functions, in order
  std::unordered_map<std::pair<uint32_t, std::string>, uint32_t, ChildHash> children_;
  // By node: itself or, if it is an object of TorchScript, "fc(Linear)", the module call around its interpreter.
  std::vector<uint32_t> script_caller_;
  std::unordered_map<uint64_t, uint32_t, MixedHash> calls_;     // node by the one around it and the name of the call
  std::unordered_map<uint64_t, uint32_t, MixedHash> scripted_;  // node by script_caller_ and the text of the hierarchy
  std::vector<SpanId> forward_;                                 // by span: its forward operator
};

}  // namespace

std::string ModulesOfSpans::PathOf(uint32_t node) const {
  std::vector<uint32_t> inward;  // the innermost first
  for (; node != 0; node = nodes[node].parent)
    inward.push_back(node);
  std::string path;
  for (size_t i = inward.size(); i-- > 0;) {
    path += nodes[inward[i]].name;
    if (i > 0) path += '.';
  }
  return path;
}

ModulesOfSpans FindModules(const Trace& trace) {
  return ModuleFinder(trace).Run();
}

}  // namespace opscope
