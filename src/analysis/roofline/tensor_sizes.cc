// Sizes of tensors and of results. The size of a result is not recorded; it follows from the operands: [8, 1] and [8,
// 4] broadcast to [8, 4], and float with double gives double. Rules of promotion: torch's result_type, as far as they
// do not depend on the default type of the program.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/tensor_sizes.h"

#include <algorithm>

#include "analysis/torch/element_size.h"
#include "opscope/megengine/element_types.h"

namespace opscope {
namespace {

// The category of a number as torch prints it: "1", "0.5", "1e-05", "inf", "True", "(1+2j)".
TypeCategory CategoryOfNumber(std::string_view text) {
  if (text == "True" || text == "False") return TypeCategory::kBool;
  if (text.find('j') != std::string_view::npos) return TypeCategory::kComplex;
  return text.find_first_of(".enf") != std::string_view::npos ? TypeCategory::kFloat : TypeCategory::kInteger;
}

Amount ProductOfSizes(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  Amount product(1);
  bool is_empty = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0) return {};
    is_empty |= sizes[d] == 0;
    if (strides.size() == sizes.size() && strides[d] == 0) continue;
    product = product * Amount(sizes[d]);
  }
  return is_empty ? Amount(0) : product;
}

}  // namespace

Amount Elements(std::span<const int64_t> sizes) {
  return ProductOfSizes(sizes, {});
}

Amount Elements(const Argument& tensor) {
  const bool is_dense = tensor.layout == TensorLayout::kStrided || tensor.layout == TensorLayout::kMkldnn;
  return is_dense ? ProductOfSizes(tensor.sizes, {}) : Amount();
}

Amount StoredElements(const Argument& tensor) {
  return Elements(tensor).is_known() || tensor.has_strides ? ProductOfSizes(tensor.sizes, tensor.strides) : Amount();
}

Amount BytesPerElement(const CallArguments& call, const Argument& tensor) {
  if (const int64_t size = ElementSize(call.Type(tensor)); size > 0) return Amount(size);
  return BytesOfMegEngineType(call.Type(tensor));
}

Amount TensorBytes(const CallArguments& call, const Argument& tensor) {
  return StoredElements(tensor) * BytesPerElement(call, tensor);
}

Amount TensorBytes(const CallArguments& call, const Argument* tensor) {
  return tensor == nullptr ? Amount(0) : TensorBytes(call, *tensor);
}

Amount TensorBytesBetween(const CallArguments& call, size_t first, size_t end) {
  Amount sum(0);
  for (size_t i = first; i < std::min(end, call.list.size()); ++i)
    sum = sum + TensorBytes(call, call.Tensor(i));
  return sum;
}

std::optional<std::vector<int64_t>> Broadcast(std::span<const Argument* const> tensors) {
  std::vector<int64_t> sizes;
  for (const Argument* tensor : tensors) {
    if (tensor->sizes.size() > sizes.size()) sizes.insert(sizes.begin(), tensor->sizes.size() - sizes.size(), 1);
    for (size_t d = 0; d < tensor->sizes.size(); ++d) {
      int64_t& size = sizes[sizes.size() - 1 - d];
      const int64_t other = tensor->sizes[tensor->sizes.size() - 1 - d];
      if (size != other && size != 1 && other != 1) return std::nullopt;
      if (other != 1) size = other;
    }
  }
  return sizes;
}

TypeCategory CategoryOfType(std::string_view dtype) {
  if (dtype == "bool") return TypeCategory::kBool;
  if (dtype.starts_with("c10::complex") || dtype == "Complex64") return TypeCategory::kComplex;
  if (dtype == "float" || dtype == "double" || dtype == "c10::Half" || dtype == "c10::BFloat16" ||
      dtype.starts_with("c10::Float") || dtype == "Float32" || dtype == "Float16" || dtype == "BFloat16")
    return TypeCategory::kFloat;
  return ElementSize(dtype) > 0 ? TypeCategory::kInteger : TypeCategory::kUnknown;
}

Amount BytesOfMegEngineType(std::string_view dtype) {
  const uint32_t bits = MegEngineElementBits(dtype);
  return bits >= 8 ? Amount(bits / 8) : Amount();
}

PromotedType PromoteTypes(const CallArguments& call, size_t first, size_t end) {
  PromotedType result;
  std::string_view type;
  TypeCategory without_dimensions = TypeCategory::kUnknown;
  const size_t last = std::min(end, call.list.size());
  const auto has_dimensions = [&](size_t i) { return call.Tensor(i) != nullptr && !call.list[i].sizes.empty(); };
  bool any_dimensions = false;
  for (size_t i = first; i < last; ++i)
    any_dimensions |= has_dimensions(i);
  for (size_t i = first; i < last; ++i) {
    const Argument& argument = call.list[i];
    if (call.Tensor(i) == nullptr || (any_dimensions && !has_dimensions(i))) {
      const TypeCategory category = call.Tensor(i) != nullptr ? CategoryOfType(call.Type(argument))
                                    : argument.kind == ArgumentKind::kScalar
                                        ? CategoryOfNumber(call.trace.text(argument.value))
                                        : TypeCategory::kUnknown;
      without_dimensions = std::max(without_dimensions, category);
      continue;
    }
    const std::string_view own = call.Type(argument);
    const TypeCategory category = CategoryOfType(own);
    const Amount bytes = BytesPerElement(call, argument);
    if (category == TypeCategory::kUnknown) return {};
    if (result.category == TypeCategory::kUnknown || category > result.category) {
      result = {category, bytes};
      type = own;
    } else if (category == result.category && own != type) {
      // Two types of one size, such as Half and BFloat16, promote to a larger one; without dimensions it may be a
      // number of Python, which does not count.
      if (!any_dimensions || bytes.Or(0) == result.bytes.Or(0)) return {category, Amount()};
      if (bytes.Or(0) > result.bytes.Or(0)) result.bytes = bytes, type = own;
    }
  }
  if (without_dimensions > result.category) return {};
  return result;
}

Amount BytesOfScalarType(std::string_view number) {
  struct NumberedType {
    std::string_view number;
    int64_t bytes;
  };
  // c10/core/ScalarType.h: uint8, int8, int16, int32, int64, half, float, double, bool, bfloat16.
  constexpr NumberedType kTypes[] = {{"0", 1}, {"1", 1}, {"2", 2}, {"3", 4},  {"4", 8},
                                     {"5", 2}, {"6", 4}, {"7", 8}, {"11", 1}, {"15", 2}};
  for (const NumberedType& type : kTypes)
    if (type.number == number) return Amount(type.bytes);
  return {};
}

}  // namespace opscope
