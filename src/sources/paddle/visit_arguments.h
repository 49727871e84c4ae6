// Visits an operator's arguments in the order of their payload (arguments.h), for a sink that writes the payload or one
// that compares it with an earlier one.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "opscope/record.h"
#include "sources/paddle/attributes.h"
#include "sources/paddle/paddle_layout.h"

namespace opscope {

// Before the words of the values: the header and the name of the keywords.
inline constexpr uint32_t kFixedBytesOfArguments =
    sizeof(PayloadHeader) + payload_fields::BytesOf(payload_fields::kKeywords);

// Whether a size takes two words.
inline bool IsWide(const paddle_layout::Dims& dims) {
  uint64_t high = 0;
  for (int32_t i = 0; i < dims.rank; ++i)
    high |= static_cast<uint64_t>(dims.sizes[i] + (int64_t{1} << 31)) >> 32;
  return high != 0;
}
inline bool HasShape(const paddle_layout::Dims& dims) {
  return dims.rank >= 0 && dims.rank <= paddle_layout::kMaxDims;
}
inline constexpr size_t kMaxWordsOfTensor = 1 + 2 * paddle_layout::kMaxDims;

// Calls take(uint32_t word) until it returns false. Returns true if it took all words.
template <typename Take>
__attribute__((always_inline)) inline bool VisitTensor(const paddle_layout::Dims& dims, const Take& take) {
  if (!HasShape(dims)) return take(static_cast<uint32_t>(ArgKind::kUndefined));
  const bool is_wide = IsWide(dims);
  if (!take(static_cast<uint32_t>(ArgKind::kTensor) | kUnknownElement << 4 | arg_flags::kNoStrides |
            (is_wide ? arg_flags::kWide : 0) | static_cast<uint32_t>(dims.rank) << 16)) {
    return false;
  }
  for (int32_t i = 0; i < dims.rank; ++i) {
    const auto size = static_cast<uint64_t>(dims.sizes[i]);
    if (!take(static_cast<uint32_t>(size))) return false;
    if (OPSCOPE_UNLIKELY(is_wide) && !take(static_cast<uint32_t>(size >> 32))) return false;
  }
  return true;
}

inline constexpr size_t kMaxDigits = 20;

inline std::string_view DigitsOf(size_t count, char (&digits)[kMaxDigits]) {
  char* begin = digits + kMaxDigits;
  do
    *--begin = static_cast<char>('0' + count % 10);
  while ((count /= 10) != 0);
  return {begin, static_cast<size_t>(digits + kMaxDigits - begin)};
}

// Passes names and values to a sink in their order, until it returns false. True: the sink took all.
template <typename Sink>
bool VisitArguments(const paddle_layout::Shapes& shapes, const paddle_layout::AttributeMap* attributes, Sink* sink) {
  for (const auto& [name, tensors] : shapes) {
    if (!sink->AddName(name, tensors.size())) return false;
    for (const paddle_layout::Dims& dims : tensors) {
      if (!sink->AddTensor(dims)) return false;
    }
  }
  sink->BeginAttributes();
  bool goes_on = true;
  ForEachAttribute(attributes, [&](const paddle_layout::Attribute& attribute) {
    goes_on = goes_on && sink->AddAttribute(attribute.name, TextOf(attribute)) && sink->AddValue(attribute);
  });
  return goes_on;
}

}  // namespace opscope
