// `_core.make_table`: values of Python as a table like those of a Trace, so that what reads one reads the other.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bindings.h"
#include "opscope/table.h"

namespace opscope::python {
namespace {

// What the views point into; the deques never move what they hold. Templates over types of ours would be exported.
struct OwnTable {
  Trace trace;  // empty: every text is the table's own
  TableView view;
  std::string name;
  std::deque<std::string> column_names;
  std::deque<std::string> numbers;
  std::deque<std::vector<uint32_t>> texts_of_rows;  // StringIds
  std::unordered_map<std::string, uint32_t> texts;  // and their ids
};

struct NumberType {
  const char* name;
  ColumnType type;
  size_t bytes;
};
constexpr NumberType kNumberTypes[] = {
    {"uint8", ColumnType::kUint8, 1},
    {"int64", ColumnType::kInt64, 8},
    {"uint64", ColumnType::kUint64, 8},
    {"float64", ColumnType::kFloat64, 8},
};

const void* AddTexts(nb::list values, OwnTable* table) {
  std::vector<uint32_t>& ids = table->texts_of_rows.emplace_back();
  for (nb::handle value : values) {
    if (value.is_none()) {
      ids.push_back(Row(StringId::kNone));
      continue;
    }
    const uint32_t next = table->view.first_own_text + static_cast<uint32_t>(table->texts.size());
    const auto [found, added] = table->texts.try_emplace(FromText(value), next);
    if (added) table->view.own_texts.push_back(found->first);  // keys of a map stay where they are
    ids.push_back(found->second);
  }
  return ids.data();
}

TableColumn AddColumn(const std::string& name, const std::string& type, nb::handle values, OwnTable* table) {
  TableColumn column;
  column.name = table->column_names.emplace_back(name);
  size_t rows = 0;
  if (type == "text") {
    column.type = ColumnType::kUint32;
    column.meaning = ColumnMeaning::kText;
    column.unknown = kNoneBits;
    column.data = AddTexts(nb::cast<nb::list>(values), table);
    rows = table->texts_of_rows.back().size();
  } else {
    const NumberType* known = nullptr;
    for (const NumberType& one : kNumberTypes)
      if (type == one.name) known = &one;
    if (known == nullptr) throw nb::value_error("no such type of column");
    const auto bytes = nb::cast<nb::bytes>(values);
    column.type = known->type;
    column.data = table->numbers.emplace_back(bytes.c_str(), bytes.size()).data();
    rows = bytes.size() / known->bytes;
  }
  if (rows != table->view.rows) throw nb::value_error("columns of different lengths");
  return column;
}

MadeTable MakeTable(const std::string& name, size_t rows, nb::list columns) {
  auto table = std::make_shared<OwnTable>();
  table->name = name;
  table->view.name = table->name;
  table->view.rows = rows;
  table->view.first_own_text = static_cast<uint32_t>(table->trace.string_count());
  for (nb::handle one : columns) {
    const auto column = nb::cast<nb::tuple>(one);
    table->view.columns.push_back(AddColumn(FromText(column[0]), FromText(column[1]), column[2], table.get()));
  }
  const Trace* trace = &table->trace;
  TableView view = table->view;
  return {std::shared_ptr<const Trace>(std::move(table), trace), std::move(view)};
}

}  // namespace

void BindMadeTable(nb::module_& module) {
  module.def(
      "make_table", &MakeTable, nb::arg("name"), nb::arg("rows"), nb::arg("columns"),
      "A MadeTable of (name, type, values): bytes of uint8, int64, uint64 or float64, or a list of texts and None.");
}

}  // namespace opscope::python
