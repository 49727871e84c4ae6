// A key of the JSON is the name of a source with a suffix for the kind ("torch_op", "torch_argument"), or a fixed name
// for the recorder itself and for Python. Keys become rows (source, kind), by which corrections look them up. Values
// are limited to a second, so that a damaged file cannot move times further.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/overheads.h"

#include <simdjson.h>

namespace opscope {
namespace {

using simdjson::dom::element;

double NumberAt(const element& costs, std::string_view key) {
  double ns = 0;
  constexpr double kSecond = 1e9;  // no event takes so long
  return costs[key].get(ns) == simdjson::SUCCESS && ns > 0 && ns < kSecond ? ns : 0;
}

EventCost CostAt(const element& costs) {
  return {.begin_ns = NumberAt(costs, "begin_ns"),
          .end_ns = NumberAt(costs, "end_ns"),
          .inside_ns = NumberAt(costs, "inside_ns"),
          .floor_ns = NumberAt(costs, "floor_ns")};
}

// A framework's keys are its name with one of these suffixes; FORMAT.md lists all.
constexpr std::string_view kOperator = "_op", kArgument = "_argument", kRange = "_range";

void AddRow(std::string_view key, const element& costs, MeasuredOverheads* all) {
  const auto of = [&](std::string_view source, SpanKind kind) -> OverheadRow& {
    for (OverheadRow& row : all->rows) {
      if (row.source == source && row.kind == kind) return row;
    }
    OverheadRow& row = all->rows.emplace_back();
    row.source = source, row.kind = kind;
    return row;
  };
  const auto source = [&](std::string_view end) { return key.substr(0, key.size() - end.size()); };
  if (key == "scope") {
    OverheadRow& row = of(MeasuredOverheads::kProgram, SpanKind::kUserRange);
    row.cost = CostAt(costs);
    row.async_end_ns = NumberAt(costs, "async_end_ns");
  } else if (key == "point") {
    of(MeasuredOverheads::kProgram, SpanKind::kOther).cost = CostAt(costs);
  } else if (key == "python_call") {
    of(MeasuredOverheads::kPython, SpanKind::kPythonFunction).cost = CostAt(costs);
  } else if (key == "c_call") {
    of(MeasuredOverheads::kPython, SpanKind::kCFunction).cost = CostAt(costs);
  } else if (key == "module_call") {
    of(MeasuredOverheads::kPython, SpanKind::kModule).cost = CostAt(costs);
  } else if (key.ends_with(kOperator)) {
    of(source(kOperator), SpanKind::kOperator).cost = CostAt(costs);
  } else if (key.ends_with(kArgument)) {
    of(source(kArgument), SpanKind::kOperator).argument = CostAt(costs);
  } else if (key.ends_with(kRange)) {
    of(source(kRange), SpanKind::kUserRange).cost = CostAt(costs);
  }
}

}  // namespace

std::optional<MeasuredOverheads> ParseOverheads(std::string_view options_json) {
  if (options_json.find("\"own_cost\"") == std::string_view::npos) return std::nullopt;
  simdjson::dom::parser parser;
  simdjson::dom::object overhead;
  const simdjson::padded_string padded(options_json);
  if (parser.parse(padded)["own_cost"].get(overhead) != simdjson::SUCCESS) return std::nullopt;
  MeasuredOverheads costs;
  for (const auto& [key, cost] : overhead)
    AddRow(key, cost, &costs);
  if (costs.Find(MeasuredOverheads::kProgram, SpanKind::kUserRange) == nullptr) return std::nullopt;
  return costs;
}

}  // namespace opscope
