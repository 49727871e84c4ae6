// Attributes of operators as words: an int, a float or a bool is a value, a string becomes part of the names, and lists
// are encoded as lists of these.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/attributes.h"

#include <cstring>
#include <vector>

#include "opscope/record.h"

namespace opscope {
namespace {

using paddle_layout::Attribute;
using paddle_layout::AttributeType;

constexpr size_t kMaxValues = 0xffff, kMaxText = 64;

template <typename T>
const T& ValueOf(const Attribute& attribute) {
  return *reinterpret_cast<const T*>(attribute.value);
}

// How a value is encoded: one of `kind`, or `count` in a list.
struct Encoding {
  ArgKind kind = ArgKind::kOther;
  bool is_wide = false;
  uint32_t count = 0;
};

template <typename T>
Encoding List(const Attribute& attribute, ArgKind kind, bool is_wide) {
  const size_t count = ValueOf<std::vector<T>>(attribute).size();
  return count <= kMaxValues ? Encoding{kind, is_wide, static_cast<uint32_t>(count)} : Encoding{};
}

Encoding EncodingOf(const Attribute& attribute) {
  switch (static_cast<AttributeType>(attribute.type)) {
    case AttributeType::kBool:
      return {ArgKind::kBool, false, ValueOf<bool>(attribute) ? 1u : 0u};
    case AttributeType::kInt:
    case AttributeType::kLong:
      return {ArgKind::kInt, true, 0};
    case AttributeType::kFloat:
    case AttributeType::kDouble:
      return {ArgKind::kDouble, true, 0};
    case AttributeType::kInts:
      return List<int32_t>(attribute, ArgKind::kIntList, false);
    case AttributeType::kLongs:
    case AttributeType::kIntArray:
      return List<int64_t>(attribute, ArgKind::kIntList, true);
    case AttributeType::kFloats:
      return List<float>(attribute, ArgKind::kDoubleList, true);
    case AttributeType::kDoubles:
      return List<double>(attribute, ArgKind::kDoubleList, true);
    default:
      return {};
  }
}

template <typename T>
uint32_t* Append(T value, uint32_t* at) {
  static_assert(sizeof(T) % 4 == 0);
  std::memcpy(at, &value, sizeof(value));
  return at + sizeof(T) / 4;
}
template <typename Out, typename T>
uint32_t* AppendList(const Attribute& attribute, uint32_t* at) {
  for (const T value : ValueOf<std::vector<T>>(attribute))
    at = Append(static_cast<Out>(value), at);
  return at;
}

}  // namespace

uint32_t WordsOf(const Attribute& attribute) {
  const Encoding encoding = EncodingOf(attribute);
  switch (encoding.kind) {
    case ArgKind::kInt:
    case ArgKind::kDouble:
      return 3;
    case ArgKind::kIntList:
    case ArgKind::kDoubleList:
      return 1 + encoding.count * (encoding.is_wide ? 2 : 1);
    default:
      return 1;
  }
}

uint32_t* WriteAttribute(const Attribute& attribute, uint32_t* at) {
  const Encoding encoding = EncodingOf(attribute);
  const bool is_list = encoding.kind == ArgKind::kIntList;
  *at++ = static_cast<uint32_t>(encoding.kind) | (is_list && encoding.is_wide ? arg_flags::kWide : 0) |
          encoding.count << 16;
  if (encoding.kind == ArgKind::kOther) return at;
  switch (static_cast<AttributeType>(attribute.type)) {
    case AttributeType::kInt:
      return Append(int64_t{ValueOf<int32_t>(attribute)}, at);
    case AttributeType::kLong:
      return Append(ValueOf<int64_t>(attribute), at);
    case AttributeType::kFloat:
      return Append(static_cast<double>(ValueOf<float>(attribute)), at);
    case AttributeType::kDouble:
      return Append(ValueOf<double>(attribute), at);
    case AttributeType::kInts:
      return AppendList<int32_t, int32_t>(attribute, at);
    case AttributeType::kLongs:
    case AttributeType::kIntArray:
      return AppendList<int64_t, int64_t>(attribute, at);
    case AttributeType::kFloats:
      return AppendList<double, float>(attribute, at);
    case AttributeType::kDoubles:
      return AppendList<double, double>(attribute, at);
    default:
      return at;
  }
}

std::string_view TextOf(const Attribute& attribute) {
  if (static_cast<AttributeType>(attribute.type) != AttributeType::kText) return {};
  const std::string_view text = ValueOf<std::string>(attribute);
  const bool fits = text.size() <= kMaxText && text.find_first_of(",;*=") == std::string_view::npos;
  return fits ? text : std::string_view();
}

}  // namespace opscope
