// Operators whose indices are tensors or results: sorting, selection, scattering. How often an index occurs is not
// recorded, so each one counts as an access of its own: scatter_add of 6 floats reads 6 indices and 6 values, and reads
// and writes 6 elements of the result, 6 (8 + 4 + 4 + 4) = 120 bytes. aten::index and aten::index_put take lists in
// which a dimension may be missing, which no profiler records; their costs are unknown.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <optional>

#include "analysis/roofline/operator_cost.h"
#include "analysis/torch/flop_arguments.h"

namespace opscope {
namespace {

// Values and their places, int64.
Amount ValueAndIndexBytes(const CallArguments& call, const Argument& self) {
  return BytesPerElement(call, self) + Amount(8);
}

// The size of the dimension that the argument names; nullopt: it was not recorded, or the tensor has no such dimension.
std::optional<int64_t> SizeOfNamedDimension(const CallArguments& call, const Argument& self, size_t at) {
  const std::optional<int64_t> dimension = NumberAt(call.list, at, call.trace);
  const auto rank = static_cast<int64_t>(self.sizes.size());
  if (!dimension || *dimension < -rank || *dimension >= rank) return std::nullopt;
  return self.sizes[static_cast<size_t>(*dimension < 0 ? *dimension + rank : *dimension)];
}

// self, dimension, descending; the form with `stable` has it before the dimension.
OperatorCost SortCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr) return {};
  const std::optional<int64_t> size = SizeOfNamedDimension(call, *self, call.list.size() == 4 ? 2 : 1);
  return {size ? SortComparisons(Elements(*self), *size) : Amount(),
          TensorBytes(call, *self) + Elements(*self) * ValueAndIndexBytes(call, *self)};
}

// self, k, dimension: each element is compared at least once.
OperatorCost TopkCost(const CallArguments& call, const CostRule&, bool) {
  const Argument* self = call.Tensor(0);
  if (self == nullptr) return {};
  const std::optional<int64_t> k = NumberAt(call.list, 1, call.trace);
  const std::optional<int64_t> size = SizeOfNamedDimension(call, *self, 2);
  const std::optional<int64_t> elements = Elements(*self).value();
  if (!k || !size || *size <= 0 || *k < 0 || !elements) return {Elements(*self), Amount()};
  const Amount chosen = Amount(*elements / *size) * Amount(*k);
  return {Elements(*self), TensorBytes(call, *self) + chosen * ValueAndIndexBytes(call, *self)};
}

// Out of place, self is copied first.
Amount BytesOfCopiedSelf(const CallArguments& call, const Argument& self, bool is_in_place) {
  return is_in_place ? Amount(0) : TensorBytes(call, self) + Elements(self) * BytesPerElement(call, self);
}

// self, dimension, index, source (a tensor, or one number): an element is written per index, and read before it if the
// rule has operations.
OperatorCost ScatterCost(const CallArguments& call, const CostRule& rule, bool is_in_place) {
  const Argument *self = call.Tensor(0), *index = call.Tensor(2);
  if (self == nullptr || index == nullptr) return {};
  const Amount places = Elements(*index), bytes = BytesPerElement(call, *self);
  const Amount source = call.Tensor(3) != nullptr ? places * BytesPerElement(call, *call.Tensor(3)) : Amount(0);
  const Amount written = places * bytes * Amount(rule.per_element > 0 ? 2 : 1);
  return {places * Amount(rule.per_element),
          TensorBytes(call, *index) + source + written + BytesOfCopiedSelf(call, *self, is_in_place)};
}

// self, dimension, index, source: rows of self, one per index, each as large as that of the source.
OperatorCost IndexedRowsCost(const CallArguments& call, const CostRule& rule, bool is_in_place) {
  const Argument *self = call.Tensor(0), *index = call.Tensor(2), *source = call.Tensor(3);
  if (self == nullptr || index == nullptr || source == nullptr) return {};
  const Amount written = Elements(*source) * BytesPerElement(call, *self) * Amount(rule.per_element > 0 ? 2 : 1);
  return {Elements(*source) * Amount(rule.per_element), TensorBytes(call, *index) + TensorBytes(call, *source) +
                                                            written + BytesOfCopiedSelf(call, *self, is_in_place)};
}

constexpr CostRule kIndexRules[] = {
    {"sort", SortCost, 1, 1, ResultType::kPromoted, 1, true},
    {"topk", TopkCost},
    {"scatter", ScatterCost, 1, 0},
    {"scatter_add", ScatterCost, 1, 1},
    {"index_copy", IndexedRowsCost, 1, 0},
    {"index_add", IndexedRowsCost, 1, 1},
};

}  // namespace

// A merge sort of n elements takes at most n ceil(log2 n) comparisons (Knuth, The Art of Computer Programming 3, 5.2.4).
Amount SortComparisons(Amount elements, int64_t row) {
  if (row < 0) return {};
  return elements * Amount(row < 2 ? 0 : std::bit_width(static_cast<uint64_t>(row - 1)));
}

std::span<const CostRule> IndexRules() {
  return kIndexRules;
}

}  // namespace opscope
