// The one list of tables and columns by name. A column that trace.h gains is a line here.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/table.h"

#include <array>
#include <iterator>
#include <type_traits>
#include <utility>

namespace opscope {
namespace {

// The integer inside a strong type.
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

template <typename T>
constexpr ColumnMeaning MeaningOf() {
  if constexpr (std::is_same_v<T, StringId>) return ColumnMeaning::kText;
  if constexpr (std::is_enum_v<T> && sizeof(T) == sizeof(uint32_t)) return ColumnMeaning::kHandle;
  return ColumnMeaning::kValue;
}

class TableMaker {
 public:
  TableMaker(std::string_view name, size_t rows) {
    table_.name = name;
    table_.rows = rows;
  }

  template <typename T>
  TableMaker& Add(std::string_view name, std::span<const T> values) {
    table_.columns.push_back({name, TypeOf<T>(), MeaningOf<T>(), static_cast<const void*>(values.data())});
    return *this;
  }
  TableView Take() { return std::move(table_); }

 private:
  TableView table_;
};

TableView Processes(const Trace& trace) {
  const auto& t = trace.processes();
  return TableMaker("processes", t.size())
      .Add("pid", t.pid)
      .Add("pid_text", t.pid_text)
      .Add("name", t.name)
      .Add("labels", t.labels)
      .Add("sort_index", t.sort_index)
      .Add("rank", t.rank)
      .Take();
}

TableView Tracks(const Trace& trace) {
  const auto& t = trace.tracks();
  return TableMaker("tracks", t.size())
      .Add("process", t.process)
      .Add("kind", t.kind)
      .Add("tid", t.tid)
      .Add("tid_text", t.tid_text)
      .Add("name", t.name)
      .Add("sort_index", t.sort_index)
      .Add("logical_thread", t.logical_thread)
      .Add("device", t.device)
      .Add("first_span", t.first_span)
      .Add("span_count", t.span_count)
      .Take();
}

TableView Spans(const Trace& trace) {
  const auto& t = trace.spans();
  return TableMaker("spans", t.size())
      .Add("start", t.start)
      .Add("duration", t.duration)
      .Add("name", t.name)
      .Add("overload", t.overload)
      .Add("category", t.category)
      .Add("track", t.track)
      .Add("parent", t.parent)
      .Add("depth", t.depth)
      .Add("flags", t.flags)
      .Add("scope", t.scope)
      .Add("sequence", t.sequence)
      .Add("forward_thread", t.forward_thread)
      .Add("correlation", t.correlation)
      .Add("external_id", t.external_id)
      .Add("args", t.args)
      .Add("stack", t.stack)
      .Add("extra", t.extra)
      .Add("kind", t.kind)
      .Take();
}

TableView AsyncSpans(const Trace& trace) {
  const auto& t = trace.async_spans();
  return TableMaker("async_spans", t.size())
      .Add("start", t.start)
      .Add("duration", t.duration)
      .Add("name", t.name)
      .Add("category", t.category)
      .Add("track", t.track)
      .Add("id", t.id)
      .Add("extra", t.extra)
      .Take();
}

TableView Instants(const Trace& trace) {
  const auto& t = trace.instants();
  return TableMaker("instants", t.size())
      .Add("time", t.time)
      .Add("name", t.name)
      .Add("category", t.category)
      .Add("track", t.track)
      .Add("scope", t.scope)
      .Add("extra", t.extra)
      .Take();
}

TableView Counters(const Trace& trace) {
  const auto& t = trace.counters();
  return TableMaker("counters", t.size())
      .Add("time", t.time)
      .Add("name", t.name)
      .Add("series", t.series)
      .Add("track", t.track)
      .Add("value", t.value)
      .Take();
}

TableView Flows(const Trace& trace) {
  const auto& t = trace.flows();
  return TableMaker("flows", t.size())
      .Add("id", t.id)
      .Add("category", t.category)
      .Add("name", t.name)
      .Add("start_time", t.start_time)
      .Add("start_track", t.start_track)
      .Add("start_span", t.start_span)
      .Add("end_time", t.end_time)
      .Add("end_track", t.end_track)
      .Add("end_span", t.end_span)
      .Take();
}

TableView Allocations(const Trace& trace) {
  const auto& t = trace.allocations();
  return TableMaker("allocations", t.size())
      .Add("time", t.time)
      .Add("track", t.track)
      .Add("address", t.address)
      .Add("bytes", t.bytes)
      .Add("total_allocated", t.total_allocated)
      .Add("total_reserved", t.total_reserved)
      .Add("device_type", t.device_type)
      .Add("device", t.device)
      .Add("stack", t.stack)
      .Take();
}

TableView Tensors(const Trace& trace) {
  const auto& t = trace.tensors();
  return TableMaker("tensors", t.size())
      .Add("span", t.span)
      .Add("tensor", t.tensor)
      .Add("storage", t.storage)
      .Add("device_type", t.device_type)
      .Add("device", t.device)
      .Take();
}

TableView HeldTensors(const Trace& trace) {
  const auto& t = trace.held_tensors();
  return TableMaker("held_tensors", t.size())
      .Add("time", t.time)
      .Add("track", t.track)
      .Add("owner", t.owner)
      .Add("held_as", t.held_as)
      .Add("tensor", t.tensor)
      .Add("storage", t.storage)
      .Add("device_type", t.device_type)
      .Add("device", t.device)
      .Add("bytes", t.bytes)
      .Add("name", t.name)
      .Take();
}

TableView TensorLives(const Trace& trace) {
  const auto& t = trace.tensor_lives();
  return TableMaker("tensor_lives", t.size())
      .Add("produced", t.produced)
      .Add("duration", t.duration)
      .Add("track", t.track)
      .Add("tensor", t.tensor)
      .Add("op", t.op)
      .Add("address", t.address)
      .Add("bytes", t.bytes)
      .Add("uses", t.uses)
      .Add("args", t.args)
      .Add("name", t.name)
      .Take();
}

TableView Operators(const Trace& trace) {
  const auto& t = trace.operators();
  return TableMaker("operators", t.size()).Add("name", t.name).Add("arguments", t.arguments).Take();
}

TableView Steps(const Trace& trace) {
  const auto& t = trace.steps();
  return TableMaker("steps", t.size()).Add("number", t.number).Add("name", t.name).Add("span", t.span).Take();
}

TableView Frames(const Trace& trace) {
  const auto& t = trace.frames();
  return TableMaker("frames", t.size()).Add("text", t.text).Take();
}

TableView Stacks(const Trace& trace) {
  const auto& t = trace.stacks();
  return TableMaker("stacks", t.size()).Add("frame", t.frame).Add("caller", t.caller).Take();
}

TableView PythonCalls(const Trace& trace) {
  const auto& t = trace.python_calls();
  return TableMaker("python_calls", t.size())
      .Add("span", t.span)
      .Add("id", t.id)
      .Add("caller", t.caller)
      .Add("module_id", t.module_id)
      .Add("thread", t.thread)
      .Take();
}

TableView Problems(const Trace& trace) {
  const auto& t = trace.problems();
  return TableMaker("problems", t.size())
      .Add("kind", t.kind)
      .Add("severity", t.severity)
      .Add("count", t.count)
      .Add("first_offset", t.first_offset)
      .Add("message", t.message)
      .Take();
}

TableView Metadata(const Trace& trace) {
  const auto& t = trace.metadata();
  return TableMaker("metadata", t.size()).Add("key", t.key).Add("json", t.json).Take();
}

struct NamedTable {
  std::string_view name;
  TableView (*view)(const Trace&);
};
constexpr NamedTable kTables[] = {
    {"processes", Processes}, {"tracks", Tracks},
    {"spans", Spans},         {"async_spans", AsyncSpans},
    {"instants", Instants},   {"counters", Counters},
    {"flows", Flows},         {"allocations", Allocations},
    {"steps", Steps},         {"frames", Frames},
    {"stacks", Stacks},       {"python_calls", PythonCalls},
    {"problems", Problems},   {"metadata", Metadata},
    {"tensors", Tensors},     {"held_tensors", HeldTensors},
    {"operators", Operators}, {"tensor_lives", TensorLives},
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
