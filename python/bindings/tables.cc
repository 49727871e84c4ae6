// The columns of a `_core.Trace` for Python: memoryviews without a copy, text columns as codes and a dictionary, and
// Arrow streams (which pandas, Polars and DuckDB read without a copy).
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "opscope/arrow.h"
#include "opscope/table.h"

namespace opscope::python {
namespace {

using View = nb::ndarray<nb::memview, nb::ro>;

TableView TableOf(const SharedTrace& self, const std::string& table) {
  std::optional<TableView> view = FindTable(*self.trace, table);
  if (!view) throw nb::key_error(table.c_str());
  return *std::move(view);
}

// A ComputedTable holds a single table, so the name is ignored.
const TableView& TableOf(const ComputedTable& self, const std::string&) {
  return self.view;
}

TableColumn ColumnOf(const TableView& table, const std::string& name) {
  for (const TableColumn& column : table.columns) {
    if (column.name == name) return column;
  }
  throw nb::key_error(name.c_str());
}

struct TypeText {
  nb::dlpack::dtype type;
  const char* name;
};

TypeText TypeOf(ColumnType type) {
  switch (type) {
    case ColumnType::kUint8:
      return {nb::dtype<uint8_t>(), "uint8"};
    case ColumnType::kUint16:
      return {nb::dtype<uint16_t>(), "uint16"};
    case ColumnType::kUint32:
      return {nb::dtype<uint32_t>(), "uint32"};
    case ColumnType::kUint64:
      return {nb::dtype<uint64_t>(), "uint64"};
    case ColumnType::kInt32:
      return {nb::dtype<int32_t>(), "int32"};
    case ColumnType::kInt64:
      return {nb::dtype<int64_t>(), "int64"};
    case ColumnType::kFloat64:
      return {nb::dtype<double>(), "float64"};
    case ColumnType::kInt64List:
      return {nb::dtype<int64_t>(), "list<int64>"};
  }
  return {nb::dtype<uint8_t>(), "uint8"};
}

const char* MeaningText(ColumnMeaning meaning) {
  switch (meaning) {
    case ColumnMeaning::kValue:
      return "value";
    case ColumnMeaning::kText:
      return "text";
    case ColumnMeaning::kHandle:
      return "handle";
    case ColumnMeaning::kTime:
      return "time";
    case ColumnMeaning::kDuration:
      return "duration";
  }
  return "value";
}

View ViewOf(const void* data, size_t rows, nb::dlpack::dtype type, nb::handle owner) {
  static constexpr int64_t kNothing = 0;  // address for empty columns: a Py_buffer must not be null
  return View(data != nullptr ? data : &kNothing, 1, &rows, owner, nullptr, type);
}

// A read-only memoryview of the Trace's memory, without a copy; it keeps the Trace alive.
template <typename Holder>
View ColumnView(nb::pointer_and_handle<Holder> self, const std::string& table, const std::string& name) {
  const TableView& view = TableOf(*self.p, table);
  const TableColumn column = ColumnOf(view, name);
  if (column.type == ColumnType::kInt64List) throw nb::type_error((name + " is a column of lists").c_str());
  return ViewOf(column.data, view.rows, TypeOf(column.type).type, self.h);
}

nb::tuple TableNameTuple() {
  nb::list names;
  for (std::string_view name : TableNames())
    names.append(ToText(name));
  return nb::tuple(names);
}

template <typename Holder>
size_t RowCount(const Holder& self, const std::string& table) {
  return TableOf(self, table).rows;
}

// The value that means "unknown" in this column, as the integer that Python sees.
nb::object UnknownValue(const TableColumn& column) {
  if (!column.unknown) return nb::none();
  if (column.type == ColumnType::kFloat64) return nb::float_(std::bit_cast<double>(*column.unknown));
  if (column.type == ColumnType::kInt32) return nb::int_(static_cast<int32_t>(*column.unknown));
  if (column.type == ColumnType::kInt64) return nb::int_(static_cast<int64_t>(*column.unknown));
  return nb::int_(*column.unknown);
}

// (name, type, meaning, unknown, table, documentation) of each column.
template <typename Holder>
nb::list ColumnList(const Holder& self, const std::string& table) {
  nb::list list;
  const TableView& view = TableOf(self, table);
  for (const TableColumn& column : view.columns) {
    list.append(nb::make_tuple(ToText(column.name), TypeOf(column.type).name, MeaningText(column.meaning),
                               UnknownValue(column), ToText(column.refers_to), ToText(column.documentation)));
  }
  return list;
}

template <typename Holder>
nb::object TableDocumentation(const Holder& self, const std::string& table) {
  return ToText(TableOf(self, table).documentation);
}

// One element of a list column.
template <typename Holder>
nb::list ListAt(const Holder& self, const std::string& table, const std::string& name, size_t row) {
  const TableView& view = TableOf(self, table);
  const TableColumn column = ColumnOf(view, name);
  if (column.type != ColumnType::kInt64List || row >= view.rows) throw nb::index_error("no such list");
  nb::list list;
  for (const int64_t value : static_cast<const Int64List*>(column.data)[row])
    list.append(value);
  return list;
}

// (codes, texts) of a text column: an int32 memoryview with -1 for none, and the distinct texts.
template <typename Holder>
nb::tuple TextCodes(const Holder& self, const std::string& table, const std::string& name) {
  const TableView& view = TableOf(self, table);
  const TableColumn column = ColumnOf(view, name);
  if (column.meaning != ColumnMeaning::kText) throw nb::type_error((name + " is not a text column").c_str());
  auto dictionary =
      std::make_unique<TextDictionary>(WithoutGil([&] { return EncodeTexts(*self.trace, view, column); }));
  nb::list texts;
  for (StringId id : dictionary->texts)
    texts.append(ToText(TextIn(*self.trace, view, id)));
  const auto* codes = dictionary->codes.data();
  nb::capsule owner(dictionary.release(), [](void* held) noexcept { delete static_cast<TextDictionary*>(held); });
  return nb::make_tuple(ViewOf(codes, view.rows, nb::dtype<int32_t>(), owner), texts);
}

void ReleaseStream(PyObject* capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
  if (stream->release != nullptr) stream->release(stream);  // no consumer has moved the stream out
  delete stream;
}

void OpenStream(const SharedTrace& self, const std::string& table, ArrowArrayStream* stream) {
  Unwrap(OpenArrowStream(self.trace, table, stream));
}
void OpenStream(const ComputedTable& self, const std::string&, ArrowArrayStream* stream) {
  OpenArrowStream(self.trace, self.view, stream);
}

template <typename Holder>
nb::object ArrowStream(const Holder& self, const std::string& table) {
  auto stream = std::make_unique<ArrowArrayStream>();
  OpenStream(self, table, stream.get());
  return ArrowCapsule(std::move(stream));
}

template <typename Holder>
void BindTablesOf(nb::module_& module) {
  module.def("column", &ColumnView<Holder>, nb::arg("trace"), nb::arg("table"), nb::arg("name"),
             "A column as a read-only memoryview, without a copy; it keeps the trace.");
  module.def("row_count", &RowCount<Holder>, nb::arg("trace"), nb::arg("table"));
  module.def("columns", &ColumnList<Holder>, nb::arg("trace"), nb::arg("table"),
             "(name, type, meaning, unknown, table, documentation) of each column.");
  module.def("table_documentation", &TableDocumentation<Holder>, nb::arg("trace"), nb::arg("table"));
  module.def("list_at", &ListAt<Holder>, nb::arg("trace"), nb::arg("table"), nb::arg("name"), nb::arg("row"),
             "One value of a column of lists.");
  module.def("text_codes", &TextCodes<Holder>, nb::arg("trace"), nb::arg("table"), nb::arg("name"),
             "(codes, texts) of a text column; code -1 is none.");
  module.def("arrow_stream", &ArrowStream<Holder>, nb::arg("trace"), nb::arg("table"),
             "A capsule with an ArrowArrayStream over a table.");
}

}  // namespace

nb::object ArrowCapsule(std::unique_ptr<ArrowArrayStream> stream) {
  PyObject* capsule = PyCapsule_New(stream.get(), "arrow_array_stream", &ReleaseStream);
  if (capsule == nullptr) {
    stream->release(stream.get());
    throw nb::python_error();
  }
  stream.release();
  return nb::steal(capsule);
}

void BindTables(nb::module_& module) {
  nb::class_<ComputedTable>(module, "ComputedTable",
                            "A table that is made of a trace; stands for both in the functions below.")
      .def("text", [](const ComputedTable& self, uint32_t id) {
        const StringId text{id};
        if (text != StringId::kNone && id >= self.trace->string_count() + self.view.own_texts.size()) {
          throw nb::index_error("no such text");
        }
        return ToText(TextIn(*self.trace, self.view, text));
      });
  BindComputedTable(module);
  BindTablesOf<SharedTrace>(module);
  BindTablesOf<ComputedTable>(module);
  module.attr("TABLES") = TableNameTuple();
}

}  // namespace opscope::python
