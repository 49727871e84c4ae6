// The tables and columns of trace_tables.def by name, with type and meaning by the C++ type of a value.
//
// The .def file lists each column once; templates derive the rest. For example a column of StringId is a uint32 column
// with the meaning "text", whose unknown value is StringId::kNone, and one of SpanId refers to the table "spans".
// SPDX-License-Identifier: Apache-2.0
#include "opscope/table.h"

#include <array>
#include <iterator>
#include <type_traits>

#include "export/unknown_values.h"

namespace opscope {
namespace {

// The integer type inside a strong type.
template <typename T>
struct Stored {
  using Type = T;
};
template <typename T>
  requires std::is_enum_v<T>
struct Stored<T> {
  using Type = std::underlying_type_t<T>;
};
template <>
struct Stored<Timestamp> {
  using Type = int64_t;
};
template <>
struct Stored<Duration> {
  using Type = int64_t;
};

template <typename T>
constexpr ColumnType TypeOf() {
  if constexpr (std::is_same_v<T, Int64List>) {
    return ColumnType::kInt64List;
  } else {
    using Plain = typename Stored<T>::Type;
    static_assert(sizeof(Plain) == sizeof(T));
    if constexpr (std::is_same_v<Plain, double>) return ColumnType::kFloat64;
    if constexpr (std::is_same_v<Plain, uint8_t>) return ColumnType::kUint8;
    if constexpr (std::is_same_v<Plain, uint16_t>) return ColumnType::kUint16;
    if constexpr (std::is_same_v<Plain, uint32_t>) return ColumnType::kUint32;
    if constexpr (std::is_same_v<Plain, uint64_t>) return ColumnType::kUint64;
    if constexpr (std::is_same_v<Plain, int32_t>) return ColumnType::kInt32;
    if constexpr (std::is_same_v<Plain, int64_t>) return ColumnType::kInt64;
  }
}

// The table whose rows an id names; empty for other types.
template <typename T>
constexpr std::string_view TableOfRows() {
  if constexpr (std::is_same_v<T, ProcessId>) return ProcessDescription::kName;
  if constexpr (std::is_same_v<T, TrackId>) return TrackDescription::kName;
  if constexpr (std::is_same_v<T, SpanId>) return SpanDescription::kName;
  if constexpr (std::is_same_v<T, ArgsId>) return ArgumentValueDescription::kName;
  if constexpr (std::is_same_v<T, StackId>) return StackDescription::kName;
  if constexpr (std::is_same_v<T, FrameId>) return FrameDescription::kName;
  return {};
}

template <typename T>
constexpr ColumnMeaning MeaningOf() {
  if constexpr (std::is_same_v<T, StringId>) return ColumnMeaning::kText;
  if constexpr (std::is_same_v<T, Timestamp>) return ColumnMeaning::kTime;
  if constexpr (std::is_same_v<T, Duration>) return ColumnMeaning::kDuration;
  return TableOfRows<T>().empty() ? ColumnMeaning::kValue : ColumnMeaning::kHandle;
}

template <typename Column>
constexpr std::optional<uint64_t> UnknownOf() {
  using T = typename Column::Type;
  if constexpr (std::is_enum_v<T> && sizeof(T) == sizeof(uint32_t)) {
    return kNoneBits;
  } else if constexpr (!Column::kDefaultIsUnknown) {
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, Duration>) {
    return static_cast<uint64_t>(Column::kDefault.ns);
  } else {
    return static_cast<uint64_t>(Column::kDefault);
  }
}

template <typename Description>
TableView ViewOf(const typename Description::Columns& columns) {
  TableView table{.name = Description::kName, .rows = columns.size(), .documentation = Description::kDocumentation};
  Description::ForEach(
      [&]<typename Column>(Column column, const auto& values) {
        using T = typename Column::Type;
        table.columns.push_back({.name = column.kName,
                                 .type = TypeOf<T>(),
                                 .meaning = MeaningOf<T>(),
                                 .data = values.data(),
                                 .unknown = UnknownOf<Column>(),
                                 .refers_to = TableOfRows<T>(),
                                 .documentation = column.kDocumentation});
      },
      columns);
  return table;
}

struct NamedTable {
  std::string_view name;
  TableView (*view)(const Trace&);
};
constexpr NamedTable kTables[] = {
#define OPSCOPE_TABLE(Name, name, number, documentation) \
  {#name, [](const Trace& trace) { return ViewOf<Name##Description>(trace.name()); }},
#include "opscope/trace_tables.def"
};

constexpr auto kTableNames = [] {
  std::array<std::string_view, std::size(kTables)> names;
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = kTables[i].name;
  return names;
}();

}  // namespace

std::span<const std::string_view> TableNames() {
  return kTableNames;
}

std::optional<TableView> FindTable(const Trace& trace, std::string_view name) {
  for (const NamedTable& table : kTables) {
    if (table.name == name) return table.view(trace);
  }
  return std::nullopt;
}

bool IsUnknown(const TableColumn& column, size_t row) {
  return VisitUnknown(column, row + 1, false, [row](auto values, auto unknown) { return values[row] == unknown; });
}

std::string_view TextIn(const Trace& trace, const TableView& table, StringId id) {
  const bool is_own = !table.own_texts.empty() && id != StringId::kNone && Row(id) >= table.first_own_text;
  return is_own ? table.own_texts[Row(id) - table.first_own_text] : trace.text(id);
}

TextDictionary EncodeTexts(const Trace& trace, const TableView& table, const TableColumn& column) {
  const auto* ids = static_cast<const StringId*>(column.data);
  std::vector<int32_t> code_of(trace.string_count() + table.own_texts.size(), -1);
  TextDictionary dictionary;
  dictionary.codes.reserve(table.rows);
  for (size_t i = 0; i < table.rows; ++i) {
    if (ids[i] == StringId::kNone) {
      dictionary.codes.push_back(-1);
      continue;
    }
    int32_t& code = code_of[Row(ids[i])];
    if (code < 0) {
      code = static_cast<int32_t>(dictionary.texts.size());
      dictionary.texts.push_back(ids[i]);
    }
    dictionary.codes.push_back(code);
  }
  return dictionary;
}

}  // namespace opscope
