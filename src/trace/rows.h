// One row of each table of a Trace, as importers pass it to a TraceBuilder: ProcessRow, SpanRow, ... It has a member
// per column, with the default of trace_tables.def.
//
//   builder.AddCounter({.time = {5}, .name = name, .track = track, .value = 0.5});
//
// Thread rule: plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "opscope/trace.h"

namespace opscope {

// Row number of a span in order of addition; Build() turns it into a SpanId.
enum class AddedSpan : uint32_t { kNone = 0xffffffff };

// The type of a member of a row: that of the column, but AddedSpan for spans.
template <typename T>
using RowValue = std::conditional_t<std::is_same_v<T, SpanId>, AddedSpan, T>;

#define OPSCOPE_TABLE(Name, name, number, documentation) struct Name##Row {
#define OPSCOPE_COLUMN(type, name, default_value, stored, documentation) \
  RowValue<type> name = static_cast<RowValue<type>>(columns::default_value.value);
#define OPSCOPE_END_TABLE(Name, column) \
  }                                     \
  ;
#include "opscope/trace_tables.def"

// The row of a table: RowStruct<ProcessDescription>::Type is ProcessRow.
template <typename Description>
struct RowStruct;
#define OPSCOPE_TABLE(Name, name, number, documentation) \
  template <>                                            \
  struct RowStruct<Name##Description> {                  \
    using Type = Name##Row;                              \
  };
#include "opscope/trace_tables.def"

// Special values of SpanRow::kind.
inline constexpr SpanKind kKindOfCategory = SpanKind::kOther;  // Build() derives it from category, name and flags
inline constexpr SpanKind kForcedOther{0xff};                  // kOther, whatever category, name and flags say

// Unknown time of a row, see TraceBuilder::FillMissingTimes. Do not do arithmetic on this value.
inline constexpr Timestamp kNoTime = {INT64_MIN};
inline Timestamp EarlierOf(Timestamp a, Timestamp b) {
  return a == kNoTime ? b : b == kNoTime ? a : std::min(a, b);
}

// One argument while it is added; sizes, strides and tensors are copied.
struct ArgumentRow {
  ArgumentKind kind = ArgumentKind::kOther;
  StringId dtype = StringId::kEmpty;
  StringId value = StringId::kEmpty;
  bool has_strides = false;
  TensorLayout layout = TensorLayout::kStrided;
  std::span<const int64_t> sizes = {};
  std::span<const int64_t> strides = {};
  std::span<const ArgumentRow> tensors = {};  // kTensorList; one level

  // The row of an argument that is not a list of tensors; sizes and strides are the argument's.
  static ArgumentRow Of(const Argument& argument) {
    return {.kind = argument.kind,
            .dtype = argument.dtype,
            .value = argument.value,
            .has_strides = argument.has_strides,
            .layout = argument.layout,
            .sizes = argument.sizes,
            .strides = argument.strides};
  }
};

}  // namespace opscope
