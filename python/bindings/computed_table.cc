// `_core.make_table`: Python values as a table with the same interface as the tables of a Trace, so that code for the
// one (DataFrame conversion, Arrow export) also works for the other.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "opscope/owned_table.h"

namespace opscope::python {
namespace {

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

void AddTexts(const std::string& name, nb::list values, OwnedTable* table) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  std::vector<std::optional<std::string_view>> views;
  for (nb::handle value : values) {
    if (value.is_none()) {
      views.emplace_back();
    } else {
      views.emplace_back(texts.emplace_back(FromText(value)));
    }
  }
  if (views.size() != table->view().rows) throw nb::value_error("columns of different lengths");
  table->AddTexts({.name = name}, views);
}

void AddNumbers(const std::string& name, const std::string& type, nb::handle values, OwnedTable* table) {
  const NumberType* known = nullptr;
  for (const NumberType& one : kNumberTypes)
    if (type == one.name) known = &one;
  if (known == nullptr) throw nb::value_error("no such type of column");
  const auto bytes = nb::cast<nb::bytes>(values);
  if (bytes.size() != table->view().rows * known->bytes) throw nb::value_error("columns of different lengths");
  table->AddBytes({.name = name}, known->type, std::string(bytes.c_str(), bytes.size()));
}

ComputedTable MakeTable(const std::string& name, size_t rows, nb::list columns) {
  auto table = std::make_shared<OwnedTable>(name, rows);
  for (nb::handle one : columns) {
    const auto column = nb::cast<nb::tuple>(one);
    const std::string column_name = FromText(column[0]), type = FromText(column[1]);
    if (type == "text") {
      AddTexts(column_name, nb::cast<nb::list>(column[2]), table.get());
    } else {
      AddNumbers(column_name, type, column[2], table.get());
    }
  }
  return ToComputedTable(std::move(table));
}

}  // namespace

ComputedTable ToComputedTable(std::shared_ptr<const OwnedTable> table) {
  TableView view = table->view();
  return {OwnedTable::TraceOf(std::move(table)), std::move(view)};
}

void BindComputedTable(nb::module_& module) {
  module.def("make_table", &MakeTable, nb::arg("name"), nb::arg("rows"), nb::arg("columns"),
             "A ComputedTable of (name, type, values): bytes of uint8, int64, uint64 or float64, or a list of texts "
             "and None.");
}

}  // namespace opscope::python
