// SPDX-License-Identifier: Apache-2.0
#include "import/own_costs.h"

#include <simdjson.h>

namespace opscope {
namespace {

using simdjson::dom::element;

double NumberAt(const element& costs, std::string_view key) {
  double ns = 0;
  constexpr double kSecond = 1e9;  // no event costs as much
  return costs[key].get(ns) == simdjson::SUCCESS && ns > 0 && ns < kSecond ? ns : 0;
}

EventCost CostAt(const element& costs) {
  return {.begin_ns = NumberAt(costs, "begin_ns"),
          .end_ns = NumberAt(costs, "end_ns"),
          .inside_ns = NumberAt(costs, "inside_ns"),
          .floor_ns = NumberAt(costs, "floor_ns")};
}

}  // namespace

std::optional<OwnCosts> ParseOwnCosts(std::string_view options_json) {
  if (options_json.find("\"own_cost\"") == std::string_view::npos) return std::nullopt;
  simdjson::dom::parser parser;
  element own_cost, kind;
  const simdjson::padded_string padded(options_json);
  if (parser.parse(padded)["own_cost"].get(own_cost) != simdjson::SUCCESS) return std::nullopt;
  if (own_cost["scope"].get(kind) != simdjson::SUCCESS) return std::nullopt;
  OwnCosts costs;
  costs.scope = CostAt(kind);
  costs.async_end_ns = NumberAt(kind, "async_end_ns");
  if (own_cost["point"].get(kind) == simdjson::SUCCESS) costs.point = CostAt(kind);
  if (own_cost["torch_op"].get(kind) == simdjson::SUCCESS) {
    costs.has_torch = true;
    costs.torch_op = CostAt(kind);
  }
  if (own_cost["torch_argument"].get(kind) == simdjson::SUCCESS) costs.torch_argument = CostAt(kind);
  if (own_cost["torch_range"].get(kind) == simdjson::SUCCESS) costs.torch_range = CostAt(kind);
  if (own_cost["python_call"].get(kind) == simdjson::SUCCESS) {
    costs.has_calls = true;
    costs.python_call = CostAt(kind);
  }
  if (own_cost["c_call"].get(kind) == simdjson::SUCCESS) costs.c_call = CostAt(kind);
  if (own_cost["module_call"].get(kind) == simdjson::SUCCESS) costs.module_call = CostAt(kind);
  return costs;
}

}  // namespace opscope
