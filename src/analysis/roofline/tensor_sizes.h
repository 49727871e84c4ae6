// Sizes of tensors and of results, for the formulas of the roofline.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/roofline/amount.h"
#include "base/json_members.h"
#include "base/parse_whole.h"
#include "opscope/trace.h"

namespace opscope {

// What a call was made with.
struct CallArguments {
  const Trace& trace;
  std::span<const Argument> list;
  // What MegEngine records beside the tensors, as JSON members: `"stride_h": "2", "mode": "MAX"`.
  std::string_view attributes;

  // The i-th argument if it is a tensor, else null.
  const Argument* Tensor(size_t i) const {
    return i < list.size() && list[i].kind == ArgumentKind::kTensor ? &list[i] : nullptr;
  }
  // Text of the i-th argument; "" if it has none.
  std::string_view Text(size_t i) const { return i < list.size() ? trace.text(list[i].value) : std::string_view(); }
  std::string_view Type(const Argument& tensor) const { return trace.text(tensor.dtype); }
  // Text of an attribute, without quotes; "" if it was not recorded.
  std::string_view Attribute(std::string_view name) const { return Unquoted(FindJsonMember(attributes, name)); }
  // The same as a number; nullopt: not recorded, or no number.
  std::optional<int64_t> NumberOf(std::string_view attribute) const {
    return ParseWhole<int64_t>(Attribute(attribute));
  }
};

// Number of elements; unknown for a negative size and for layouts that do not store all elements.
Amount Elements(const Argument& tensor);
// The same of sizes.
Amount Elements(std::span<const int64_t> sizes);
// Elements that lie in memory: a dimension with stride 0 repeats one.
Amount StoredElements(const Argument& tensor);
// Bytes per element; unknown for an unknown type.
Amount BytesPerElement(const CallArguments& call, const Argument& tensor);
// The same of a type of MegEngine; unknown for types of fewer than 8 bits, too, whose elements share bytes.
Amount BytesOfMegEngineType(std::string_view dtype);
// Bytes that reading or writing all elements moves.
Amount TensorBytes(const CallArguments& call, const Argument& tensor);
// Likewise; 0 for null.
Amount TensorBytes(const CallArguments& call, const Argument* tensor);
// Sum over all tensors from argument `first` until before `end`.
Amount TensorBytesBetween(const CallArguments& call, size_t first, size_t end);

// Sizes of the tensors broadcast against each other; nullopt if they do not fit.
std::optional<std::vector<int64_t>> Broadcast(std::span<const Argument* const> tensors);

// Kinds of types in the order of promotion.
enum class TypeCategory : uint8_t { kUnknown, kBool, kInteger, kFloat, kComplex };
TypeCategory CategoryOfType(std::string_view dtype);
// Bytes per element of the type to which torch promotes the operands, the arguments [first, end). Unknown where it
// depends on the default type of the program: an operand without dimensions raises the category.
struct PromotedType {
  TypeCategory category = TypeCategory::kUnknown;
  Amount bytes;
};
PromotedType PromoteTypes(const CallArguments& call, size_t first, size_t end);
// Bytes per element of a number of torch's ScalarType ("6" is float); unknown for others.
Amount BytesOfScalarType(std::string_view number);

}  // namespace opscope
