// The tables of a Trace as columns: one struct per table (ProcessColumns,
// SpanColumns, ...) with one std::span per column, and compile-time facts about
// each column. trace_tables.def describes tables and columns; this header has the
// types used there.
//
//   for (size_t row = 0; row < trace.spans().size(); ++row)
//     total += trace.spans().duration[row].ns;
//
// All columns of a table have the same length, size(). Code that handles every
// column alike visits them:
//
//   SpanDescription::ForEach([](auto column, auto values) { Print(column.kName, values.size()); }, trace.spans());
//
// Thread rule: immutable, any thread. Columns live as long as their Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "opscope/column_encoding.h"
#include "opscope/span_kind.h"
#include "opscope/types.h"

namespace opscope {

// What a track stands for. Stored in files: new kinds come at the end.
enum class TrackKind : uint8_t {
  kThread = 0,
  kDeviceStream = 1,      // kernels, copies, sets: busy time
  kDeviceAnnotation = 2,  // gpu_user_annotation of a stream: not busy time
  kOther = 3,             // anything else that a file names (counters' homes, "Spans", "Traces")
};

// The framework's own class of a span. Values 0..9 are torch's at::RecordScope.
enum class ScopeType : uint8_t {
  kFunction = 0,
  kBackwardFunction = 1,
  kTorchScriptFunction = 2,
  kKernelFunctionDtype = 3,
  kCustomClass = 4,
  kBuildFeature = 5,
  kLiteInterpreter = 6,
  kUserScope = 7,
  kStaticRuntimeOp = 8,
  kStaticRuntimeModel = 9,
  kUnknown = 255,
};

namespace span_flags {
// Still open at the end of the recording.
inline constexpr uint8_t kUnfinished = 1;
// Outside the nesting: no parent, no children.
inline constexpr uint8_t kAsync = 2;
// Ended on another thread than it began on.
inline constexpr uint8_t kOtherThread = 4;
// The range of one step; also a row of `steps`.
inline constexpr uint8_t kStep = 8;
// A scope of the program itself (OPSCOPE_SCOPE), not of a framework.
inline constexpr uint8_t kNative = 16;
// kAsync only because a scope that began inside it ended after it.
inline constexpr uint8_t kCrossing = 32;
}  // namespace span_flags

// What a Python object holds a tensor as.
enum class StoredAs : uint8_t { kParameter = 0, kGradient = 1, kOptimizerState = 2 };

// How much a Problem cost. kDataLoss and kError make a Trace partial.
enum class ProblemSeverity : uint8_t { kInfo = 0, kDataLoss = 1, kError = 2 };

// Kind of an Argument. kUndefined: an undefined, nested or symbolic tensor.
enum class ArgumentKind : uint8_t { kOther, kTensor, kUndefined, kTensorList, kScalar, kScalarList };

// Memory layout of a tensor; torch's numbers. kStrided if the input does not say
// it.
enum class TensorLayout : uint8_t {
  kStrided,
  kSparse,
  kSparseCsr,
  kMkldnn,
  kSparseCsc,
  kSparseBsr,
  kSparseBsc,
  kJagged
};
// The layout with torch's number; kStrided for an unknown number.
constexpr TensorLayout TensorLayoutFromNumber(uint64_t number) {
  return static_cast<TensorLayout>(number <= static_cast<uint64_t>(TensorLayout::kJagged) ? number : 0);
}

// Sizes or strides of one tensor, a value per dimension.
using Int64List = std::span<const int64_t>;

// A struct of columns per table.
#define OPSCOPE_TABLE(Name, name, number, documentation) struct Name##Columns {
#define OPSCOPE_COLUMN(type, name, default_value, stored, documentation) std::span<const type> name;
#define OPSCOPE_END_TABLE(Name, column) \
  size_t size() const {                 \
    return column.size();               \
  }                                     \
  }                                     \
  ;
#include "opscope/trace_tables.def"

// What trace_tables.def says of each column, as a type: columns::processes::pid,
// ...
namespace columns {

// A column's default value. is_unknown: it means "unknown" and leaves opscope as
// NULL.
template <typename T>
struct Default {
  T value;
  bool is_unknown;
};
// ValueIs(x): x is an ordinary value.
template <typename T>
constexpr Default<T> ValueIs(T value) {
  return {value, false};
}
// UnknownIs(x): x means "unknown".
template <typename T>
constexpr Default<T> UnknownIs(T value) {
  return {value, true};
}

// How `.opscope` files store a column. A number is never reused.
struct Stored {
  uint32_t number;  // 0: not as a column of its own
  ColumnEncoding encoding;
};
// Stored under this number with this encoding.
constexpr Stored At(uint32_t number, ColumnEncoding encoding) {
  return {number, encoding};
}
// The format derives the column from others, or has code for this column alone.
constexpr Stored InOwnWay() {
  return {0, ColumnEncoding::kPlain};
}

using enum ColumnEncoding;

// A struct per column, with the facts that code for all columns alike needs:
//
//   Type               C++ type of one value
//   kName              name in Python, SQL and CSV
//   kDefault           value of a row that sets nothing
//   kDefaultIsUnknown  kDefault means "unknown"
//   kNumber            number in `.opscope` files; 0: not stored as a column
//   kEncoding          how files encode it
//   kDocumentation     one or two sentences, Markdown
//
// and per table ForRows, a column that is always stored: it has as many values as
// the table has rows.
#define OPSCOPE_TABLE(Name, name, number, documentation) namespace name {
#define OPSCOPE_COLUMN(type, name, default_value, stored, documentation)       \
  struct name {                                                                \
    using Type = type;                                                         \
    static constexpr std::string_view kName = #name;                           \
    static constexpr Type kDefault = static_cast<Type>((default_value).value); \
    static constexpr bool kDefaultIsUnknown = (default_value).is_unknown;      \
    static constexpr uint32_t kNumber = (stored).number;                       \
    static constexpr ColumnEncoding kEncoding = (stored).encoding;             \
    static constexpr std::string_view kDocumentation = documentation;          \
  };
#define OPSCOPE_END_TABLE(Name, column) \
  using ForRows = column;               \
  }
#include "opscope/trace_tables.def"

}  // namespace columns

// What trace_tables.def says of each table. ForEach calls visit(column{}, member of
// each struct...) for every column in order; the structs are any that have a member
// per column (SpanColumns, a row, storage, ...).
#define OPSCOPE_TABLE(Name, name, number, documentation)                 \
  struct Name##Description {                                             \
    using Columns = Name##Columns;                                       \
    using ForRows = columns::name::ForRows; /* always stored */          \
    static constexpr std::string_view kName = #name;                     \
    static constexpr uint32_t kNumber = number;                          \
    static constexpr std::string_view kDocumentation = documentation;    \
    template <typename Visit, typename... Structs>                       \
    static constexpr void ForEach(Visit&& visit, Structs&&... structs) { \
      namespace here = columns::name;
#define OPSCOPE_COLUMN(type, name, default_value, stored, documentation) visit(here::name{}, structs.name...);
#define OPSCOPE_END_TABLE(Name, column) \
  }                                     \
  }                                     \
  ;
#include "opscope/trace_tables.def"

}  // namespace opscope
