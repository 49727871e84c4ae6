// SQL over the tables of a trace. The rows leave as JSON, which Python's own parser turns into values faster than calls
// through the binding would, and as an Arrow stream.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/sql.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "opscope/job_engine.h"

namespace opscope::python {
namespace {

struct SqlAnswer {
  std::shared_ptr<const SqlResult> result;
};

SqlOptions OptionsFrom(double max_seconds, uint64_t max_memory, uint64_t max_rows, const std::string& python_module) {
  SqlOptions options;
  options.max_seconds = max_seconds;
  options.max_memory = max_memory;
  options.max_rows = max_rows;
  options.python_module = python_module;
  return options;
}

SqlAnswer Run(const SharedTrace& self, nb::handle query, double max_seconds, uint64_t max_memory, uint64_t max_rows,
              const std::string& python_module) {
  const std::string sql = TextArgument(query, "query");
  const SqlOptions options = OptionsFrom(max_seconds, max_memory, max_rows, python_module);
  return {std::make_shared<const SqlResult>(Unwrap(WithoutGil([&] { return RunSql(self.trace, sql, options); })))};
}

SqlAnswer RunOverJob(nb::object job, nb::handle query, double max_seconds, uint64_t max_memory, uint64_t max_rows,
                     const std::string& python_module, std::optional<int32_t> attempt) {
  const std::string path = FromPath(job), sql = TextArgument(query, "query");
  const SqlOptions options = OptionsFrom(max_seconds, max_memory, max_rows, python_module);
  return {
      std::make_shared<const SqlResult>(Unwrap(WithoutGil([&] { return RunJobSql(path, sql, options, attempt); })))};
}

std::vector<std::pair<std::string, std::string>> Columns(const SqlAnswer& self) {
  std::vector<std::pair<std::string, std::string>> columns;
  for (const SqlColumn& column : self.result->columns())
    columns.emplace_back(column.name, column.type);
  return columns;
}

nb::bytes JsonRows(const SqlAnswer& self) {
  const std::string rows = WithoutGil([&] {
    std::string out;
    self.result->AppendExactJsonRows(&out);
    return out;
  });
  return nb::bytes(rows.data(), rows.size());
}

nb::object SqlArrowStreamOf(const SqlAnswer& self) {
  auto stream = std::make_unique<ArrowArrayStream>();
  OpenArrowStream(self.result, stream.get());
  return ArrowCapsule(std::move(stream));
}

void WriteParquet(const SharedTrace& self, nb::object folder, const std::string& python_module) {
  const std::string path = FromPath(folder);
  Unwrap(WithoutGil([&] { return ExportParquet(self.trace, path, {.python_module = python_module}); }));
}

}  // namespace

void BindSql(nb::module_& module) {
  nb::class_<SqlAnswer>(module, "SqlAnswer", "The rows of a SQL query; opscope.sql.SqlRows wraps them.")
      .def_prop_ro("columns", &Columns, "(name, type) of each column, the type as DuckDB names it.")
      .def_prop_ro("is_truncated", [](const SqlAnswer& self) { return self.result->is_truncated(); })
      .def("json_rows", &JsonRows, "The rows as JSON, integers and floats as they are.")
      .def("arrow_stream", &SqlArrowStreamOf, "A capsule with an ArrowArrayStream over the rows.");
  module.def("sql", &Run, nb::arg("trace"), nb::arg("sql"), nb::arg("max_seconds"), nb::arg("max_memory"),
             nb::arg("max_rows"), nb::arg("python_module"), "Runs one statement over the tables of the trace.");
  module.def(
      "job_sql", &RunOverJob, nb::arg("job"), nb::arg("sql"), nb::arg("max_seconds"), nb::arg("max_memory"),
      nb::arg("max_rows"), nb::arg("python_module"), nb::arg("attempt").none(),
      "Runs one statement over the tables of a JOB, which have the rows of `attempt`; None: of the largest one.");
  module.def("export_parquet", &WriteParquet, nb::arg("trace"), nb::arg("folder"), nb::arg("python_module"),
             "Writes every table as FOLDER/TABLE/rank=R/part-0.parquet.");
}

}  // namespace opscope::python
