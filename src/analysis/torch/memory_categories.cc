// Classifies memory as torch's memory profiler does, by rules in a fixed order: gradients and parameters that objects
// hold, temporaries, inputs, parameters by data flow, activations, optimizer state, autograd details. A category of a
// tensor overrides that of a storage, which overrides that of a version; a version keeps the first category that it
// gets. Most rules are one pass over the data-flow graph, forward or backward. Sets of versions are byte arrays indexed
// by a dense number, not sets of (key, version) tuples as in torch.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/memory_categories.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace opscope {
namespace {

constexpr MemoryCategory kUnset = MemoryCategory::kUnknown;

}  // namespace

MemoryCategories::MemoryCategories(const TensorKeys& keys, const DataFlow& flow)
    : keys_(keys),
      of_tensor_(keys.tensor_count, kUnset),
      of_storage_(keys.keys.size(), kUnset),
      first_version_(keys.keys.size() + 1, 0),
      is_named_(keys.keys.size(), 0) {
  for (size_t key = 0; key < keys.keys.size(); ++key)
    first_version_[key + 1] = first_version_[key] + flow.versions[key];
  of_version_.assign(first_version_.back(), kUnset);
}

MemoryCategory MemoryCategories::Of(uint32_t key, uint32_t version) const {
  if (const MemoryCategory category = of_tensor_[keys_.keys[key].tensor]; category != kUnset) return category;
  if (of_storage_[key] != kUnset) return of_storage_[key];
  const size_t number = NumberOf(key, version);
  return number < first_version_[key + 1] ? of_version_[number] : kUnset;
}

void MemoryCategories::SetTensor(uint32_t key, MemoryCategory category) {
  of_tensor_[keys_.keys[key].tensor] = category;
  is_named_[key] = 1;
}

void MemoryCategories::SetVersionIfUnset(uint32_t key, uint32_t version, MemoryCategory category) {
  MemoryCategory& known = of_version_[NumberOf(key, version)];
  if (known == kUnset) known = category;
}

namespace {

// Applies the rules in their order. Sets of versions are byte arrays indexed by MemoryCategories::NumberOf.
class Rules {
 public:
  Rules(const Trace& trace, const TensorKeys& keys, const DataFlow& flow)
      : trace_(trace), keys_(keys), flow_(flow), categories_(keys, flow) {}

  MemoryCategories Apply() {
    SetGradients();
    SetTemporaries();
    SetHeld(StoredAs::kParameter, MemoryCategory::kParameter);
    SetInputs();
    SetParametersByDataFlow();
    SetActivations();
    SetHeld(StoredAs::kOptimizerState, MemoryCategory::kOptimizerState);
    SetAutogradDetails();
    return std::move(categories_);
  }

 private:
  using Versions = std::vector<uint8_t>;

  size_t InputOf(const FlowEdge& edge) const { return categories_.NumberOf(edge.key, edge.version); }
  size_t OutputOf(const FlowEdge& edge) const { return categories_.NumberOf(edge.key, edge.output_version()); }
  MemoryCategory CategoryOfInput(const FlowEdge& edge) const { return categories_.Of(edge.key, edge.version); }
  MemoryCategory CategoryOfOutput(const FlowEdge& edge) const {
    return categories_.Of(edge.key, edge.output_version());
  }
  static bool IsLearned(MemoryCategory category) {
    return category == MemoryCategory::kGradient || category == MemoryCategory::kParameter;
  }
  // True if is(edge) holds for any input, or any output, of the node.
  template <typename Is>
  bool AnyInput(const FlowNode& node, const Is& is) const {
    const auto edges = flow_.edges_of(node);
    return std::any_of(edges.begin(), edges.end(), [&](const FlowEdge& edge) { return edge.is_input() && is(edge); });
  }
  template <typename Is>
  bool AnyOutput(const FlowNode& node, const Is& is) const {
    const auto edges = flow_.edges_of(node);
    return std::any_of(edges.begin(), edges.end(), [&](const FlowEdge& edge) { return edge.is_output() && is(edge); });
  }

  void SetHeld(StoredAs held_as, MemoryCategory category) {
    for (size_t row = 0; row < keys_.of_held.size(); ++row) {
      if (keys_.of_held[row] == kNoKey || trace_.held_tensors().held_as[row] != held_as) continue;
      categories_.SetTensor(keys_.of_held[row], category);
    }
  }

  // AccumulateGrad detaches a finished gradient, or adds it to an existing one: the tensor of that call is a gradient.
  void SetGradients() {
    SetHeld(StoredAs::kGradient, MemoryCategory::kGradient);
    const SpanColumns& spans = trace_.spans();
    const TensorColumns& tensors = trace_.tensors();
    for (size_t row = 0; row < tensors.size(); ++row) {
      const uint32_t span = Row(tensors.span[row]);
      if (row > 0 && tensors.span[row - 1] == tensors.span[row]) continue;  // only the call's first tensor
      if (span == 0 || span >= spans.size() || spans.parent[span] != static_cast<SpanId>(span - 1)) continue;
      const std::string_view name = trace_.text(spans.name[span]);
      if (name != "aten::detach" && name != "aten::add_") continue;
      if (spans.scope[span - 1] != ScopeType::kBackwardFunction ||
          trace_.text(spans.name[span - 1]) != "torch::autograd::AccumulateGrad") {
        continue;
      }
      const auto arguments = trace_.arguments(spans.args[span]);
      if (arguments.empty() || arguments[0].kind != ArgumentKind::kTensor || keys_.of_tensor[row] == kNoKey) continue;
      categories_.SetTensor(keys_.of_tensor[row], MemoryCategory::kGradient);
    }
  }

  void SetTemporaries() {
    for (const FlowEdge& edge : flow_.edges)
      if (edge.is_intermediate()) categories_.SetStorage(edge.key, MemoryCategory::kTemporary);
  }

  // The nodes that have some version of tensor t as input: nodes[first[t]] to before nodes[first[t + 1]].
  struct Readers {
    std::vector<uint32_t> first, nodes;
  };
  Readers FindReaders() const {
    Readers readers{std::vector<uint32_t>(size_t{keys_.tensor_count} + 1, 0), {}};
    const auto for_each_input = [&](const auto& visit) {
      for (uint32_t node = 0; node < flow_.nodes.size(); ++node) {
        for (const FlowEdge& edge : flow_.edges_of(flow_.nodes[node]))
          if (edge.is_input()) visit(keys_.keys[edge.key].tensor, node);
      }
    };
    for_each_input([&](uint32_t tensor, uint32_t) { ++readers.first[tensor + 1]; });
    std::partial_sum(readers.first.begin(), readers.first.end(), readers.first.begin());
    readers.nodes.resize(readers.first.back());
    std::vector<uint32_t> next(readers.first.begin(), readers.first.end() - 1);
    for_each_input([&](uint32_t tensor, uint32_t node) { readers.nodes[next[tensor]++] = node; });
    return readers;
  }

  // By tensor: true if any version depends on a gradient. A version does if it is learned and read, or is an output of
  // a node with such an input. It makes the earlier versions dependent too, so nodes are visited in any order of time.
  std::vector<uint8_t> FindDependentOnGradient() const {
    const Readers readers = FindReaders();
    std::vector<uint8_t> depends(keys_.tensor_count, 0), is_reached(flow_.nodes.size(), 0);
    std::vector<uint32_t> found;  // dependent tensors whose readers were not visited yet
    const auto add = [&](uint32_t key) {
      uint8_t& known = depends[keys_.keys[key].tensor];
      if (known == 0) found.push_back(keys_.keys[key].tensor);
      known = 1;
    };
    for (const FlowEdge& edge : flow_.edges)
      if (edge.is_input() && IsLearned(CategoryOfInput(edge))) add(edge.key);
    while (!found.empty()) {
      const uint32_t tensor = found.back();
      found.pop_back();
      for (uint32_t i = readers.first[tensor]; i < readers.first[tensor + 1]; ++i) {
        const uint32_t node = readers.nodes[i];
        if (is_reached[node] != 0) continue;
        is_reached[node] = 1;
        for (const FlowEdge& edge : flow_.edges_of(flow_.nodes[node]))
          if (edge.is_output()) add(edge.key);
      }
    }
    return depends;
  }

  // Inputs take part in the computation of a gradient and never depend on one. Tensors that the engine makes in the
  // backward pass are no inputs.
  void SetInputs() {
    const std::vector<uint8_t> depends = FindDependentOnGradient();
    const Versions takes_part = FindTakingPart();
    for (uint32_t key = 0; key < keys_.keys.size(); ++key) {
      if (depends[keys_.keys[key].tensor]) continue;
      for (uint32_t version = 0; version < flow_.versions[key]; ++version) {
        if (takes_part[categories_.NumberOf(key, version)])
          categories_.SetVersionIfUnset(key, version, MemoryCategory::kInput);
      }
    }
  }

  // Versions that take part in the computation of a gradient, without outputs of the backward pass.
  Versions FindTakingPart() const {
    Versions takes_part(categories_.version_count(), 0);
    for (auto node = flow_.nodes.rbegin(); node != flow_.nodes.rend(); ++node) {
      const bool counts = AnyInput(*node,
                                   [&](const FlowEdge& edge) {
                                     return takes_part[InputOf(edge)] || IsLearned(CategoryOfInput(edge));
                                   }) ||
                          AnyOutput(*node, [&](const FlowEdge& edge) {
                            return takes_part[OutputOf(edge)] || IsLearned(CategoryOfOutput(edge));
                          });
      if (!counts) continue;
      for (const FlowEdge& edge : flow_.edges_of(*node)) {
        if (edge.is_input()) takes_part[InputOf(edge)] = 1;
        if (edge.is_output()) takes_part[OutputOf(edge)] = 1;
      }
    }
    for (const FlowNode& node : flow_.nodes) {
      if (!node.is_backward) continue;
      for (const FlowEdge& edge : flow_.edges_of(node))
        if (edge.is_output()) takes_part[OutputOf(edge)] = 0;
    }
    return takes_part;
  }

  // A parameter is used in the forward pass together with inputs, takes part in computing a gradient, and depends on
  // one.
  void SetParametersByDataFlow() {
    const Versions candidate = FindReadWithInputs(), used = FindUsedForGradients();
    const std::vector<uint8_t> depends = FindDependentOnGradient();
    std::vector<uint8_t> is_parameter(keys_.tensor_count, 0);
    for (uint32_t key = 0; key < keys_.keys.size(); ++key) {
      for (uint32_t version = 0; version < flow_.versions[key]; ++version) {
        const size_t number = categories_.NumberOf(key, version);
        const uint32_t tensor = keys_.keys[key].tensor;
        if (candidate[number] && used[number] && depends[tensor]) is_parameter[tensor] = 1;
      }
    }
    for (uint32_t key = 0; key < keys_.keys.size(); ++key)
      if (is_parameter[keys_.keys[key].tensor]) categories_.SetTensor(key, MemoryCategory::kParameter);
  }

  static bool IsGradient(MemoryCategory category) { return category == MemoryCategory::kGradient; }

  // Versions that the forward pass reads together with inputs, or with what it computed of them.
  Versions FindReadWithInputs() const {
    Versions forward(categories_.version_count(), 0), candidate(categories_.version_count(), 0);
    for (uint32_t key = 0; key < keys_.keys.size(); ++key) {
      for (uint32_t version = 0; version < flow_.versions[key]; ++version)
        forward[categories_.NumberOf(key, version)] = categories_.Of(key, version) == MemoryCategory::kInput;
    }
    for (const FlowNode& node : flow_.nodes) {
      if (node.is_backward || AnyInput(node, [&](const FlowEdge& edge) { return IsGradient(CategoryOfInput(edge)); }) ||
          AnyOutput(node, [&](const FlowEdge& edge) { return IsGradient(CategoryOfOutput(edge)); }) ||
          !AnyInput(node, [&](const FlowEdge& edge) { return forward[InputOf(edge)] != 0; })) {
        continue;
      }
      for (const FlowEdge& edge : flow_.edges_of(node))
        if (edge.is_output()) forward[OutputOf(edge)] = 1;
      for (const FlowEdge& edge : flow_.edges_of(node))
        if (edge.is_input() && !forward[InputOf(edge)]) candidate[InputOf(edge)] = 1;
    }
    return candidate;
  }

  // Versions from which a gradient is computed.
  Versions FindUsedForGradients() const {
    Versions used(categories_.version_count(), 0);
    for (auto node = flow_.nodes.rbegin(); node != flow_.nodes.rend(); ++node) {
      if (!AnyOutput(*node, [&](const FlowEdge& edge) {
            return used[OutputOf(edge)] || IsGradient(CategoryOfOutput(edge));
          })) {
        continue;
      }
      for (const FlowEdge& edge : flow_.edges_of(*node))
        if (edge.is_input()) used[InputOf(edge)] = 1;
    }
    return used;
  }

  // Activations are outputs of forward operators that have inputs or activations, and otherwise only parameters and
  // temporaries, as inputs.
  void SetActivations() {
    for (const FlowNode& node : flow_.nodes) {
      if (node.is_backward) continue;
      bool is_reached = false, is_pure = true;
      for (const FlowEdge& edge : flow_.edges_of(node)) {
        if (!edge.is_input()) continue;
        const MemoryCategory category = CategoryOfInput(edge);
        const bool is_forward = category == MemoryCategory::kInput || category == MemoryCategory::kActivation;
        is_reached |= is_forward;
        is_pure &= is_forward || category == MemoryCategory::kParameter || category == MemoryCategory::kTemporary;
      }
      if (!is_reached || !is_pure) continue;
      SetOutputs(node, MemoryCategory::kActivation);
    }
  }

  void SetOutputs(const FlowNode& node, MemoryCategory category) {
    for (const FlowEdge& edge : flow_.edges_of(node))
      if (edge.is_output()) categories_.SetVersionIfUnset(edge.key, edge.output_version(), category);
  }

  void SetAutogradDetails() {
    for (const FlowNode& node : flow_.nodes) {
      if (!node.is_backward) continue;
      for (const FlowEdge& edge : flow_.edges_of(node)) {
        if (!edge.is_output()) continue;
        const MemoryCategory before = edge.is_allocation ? kUnset : CategoryOfInput(edge);
        if (before != kUnset && before != MemoryCategory::kAutogradDetail) continue;
        categories_.SetVersionIfUnset(edge.key, edge.output_version(), MemoryCategory::kAutogradDetail);
      }
    }
  }

  const Trace& trace_;
  const TensorKeys& keys_;
  const DataFlow& flow_;
  MemoryCategories categories_;
};

}  // namespace

MemoryCategories FindMemoryCategories(const Trace& trace, const TensorKeys& keys, const DataFlow& flow) {
  return Rules(trace, keys, flow).Apply();
}

}  // namespace opscope
