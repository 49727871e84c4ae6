// A rule is one metric with one limit or more, `max = 2000000` or `max_increase = "5%"`. Everything that is not a limit
// is refused: a mistyped key would otherwise be a limit that never fails.
// SPDX-License-Identifier: Apache-2.0
#include "cli/check_rules.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>

#include "base/toml.h"

namespace opscope {
namespace {

using Kind = TomlValue::Kind;

constexpr LimitKind kLimitKinds[] = {LimitKind::kMin, LimitKind::kMax, LimitKind::kMaxIncrease,
                                     LimitKind::kMaxDecrease};

Error WrongRule(const std::string& what) {
  return {ErrorCode::kInvalidArgument, what};
}

std::optional<LimitKind> LimitKindFromName(std::string_view name) {
  for (const LimitKind kind : kLimitKinds)
    if (LimitKindName(kind) == name) return kind;
  return std::nullopt;
}

// "5%", or a number where the kind allows one. False: neither.
bool ReadLimitText(std::string_view text, bool allows_number, CheckLimit* limit) {
  limit->is_percent = text.ends_with('%');
  if (limit->is_percent ? !IsRelative(limit->kind) : !allows_number) return false;
  if (limit->is_percent) text.remove_suffix(1);
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, limit->number);
  return error == std::errc() && read == end && std::isfinite(limit->number);
}

std::string LimitForm(LimitKind kind) {
  return IsRelative(kind) ? "a number or per cent such as 5%" : "a number";
}

Result<CheckMetric> MetricOf(std::string_view name, bool has_name) {
  const std::optional<CheckMetric> metric = CheckMetricFromName(name);
  if (!metric) {
    std::string known;
    for (const std::string_view each : CheckMetricNames())
      known.append(known.empty() ? "" : ", ").append(each);
    return WrongRule("there is no metric '" + std::string(name) + "'; known: " + known);
  }
  if (IsOpMetric(*metric) && !has_name) return WrongRule(std::string(name) + " lacks the name of an operator");
  if (!IsOpMetric(*metric) && has_name) return WrongRule(std::string(name) + " takes no name");
  return *metric;
}

Result<CheckLimit> LimitFromToml(const CheckLimit& of_rule, LimitKind kind, const TomlValue& value) {
  CheckLimit limit = of_rule;
  limit.kind = kind;
  bool is_limit = value.kind == Kind::kInteger || (value.kind == Kind::kReal && std::isfinite(value.real));
  if (is_limit) limit.number = value.kind == Kind::kInteger ? static_cast<double>(value.integer) : value.real;
  if (value.kind == Kind::kString) is_limit = ReadLimitText(value.text, false, &limit);
  if (!is_limit) return WrongRule(std::string(LimitKindName(kind)) + " is not " + LimitForm(kind));
  return limit;
}

Status AddRule(const TomlValue& rule, std::vector<CheckLimit>* limits) {
  if (rule.kind != Kind::kTable) return WrongRule("it is no table");
  const TomlValue *metric = rule.Find("metric"), *name = rule.Find("name");
  if (metric == nullptr || metric->kind != Kind::kString) return WrongRule("it lacks a metric");
  if (name != nullptr && (name->kind != Kind::kString || name->text.empty())) return WrongRule("name is not a text");
  CheckLimit of_rule;
  const Result<CheckMetric> known = MetricOf(metric->text, name != nullptr);
  if (!known.ok()) return known.error();
  of_rule.metric = known.value();
  if (name != nullptr) of_rule.name = name->text;
  const size_t before = limits->size();
  for (const auto& [key, value] : rule.members) {
    if (key == "metric" || key == "name") continue;
    const std::optional<LimitKind> kind = LimitKindFromName(key);
    if (!kind) return WrongRule("there is no key '" + key + "'");
    const Result<CheckLimit> limit = LimitFromToml(of_rule, *kind, value);
    if (!limit.ok()) return limit.error();
    limits->push_back(limit.value());
  }
  if (limits->size() == before) return WrongRule("it lacks min, max, max_increase and max_decrease");
  return {};
}

}  // namespace

Result<CheckLimit> ParseLimit(LimitKind kind, std::string_view text) {
  const size_t equals = text.rfind('='), colon = text.substr(0, equals).find(':');
  if (equals == text.npos) return WrongRule("'" + std::string(text) + "' is not METRIC[:NAME]=N");
  const bool has_name = colon != text.npos;
  const Result<CheckMetric> metric = MetricOf(text.substr(0, has_name ? colon : equals), has_name);
  if (!metric.ok()) return metric.error();
  CheckLimit limit{.metric = metric.value(), .kind = kind};
  if (has_name) limit.name = text.substr(colon + 1, equals - colon - 1);
  if (has_name && limit.name.empty()) return WrongRule("'" + std::string(text) + "' lacks the name of an operator");
  if (!ReadLimitText(text.substr(equals + 1), true, &limit))
    return WrongRule("'" + std::string(text.substr(equals + 1)) + "' is not " + LimitForm(kind));
  return limit;
}

Result<CheckRules> ParseCheckRules(std::string_view text) {
  const Result<TomlValue> file = ParseToml(text);
  if (!file.ok()) return WrongRule(file.error().message);
  CheckRules rules;
  for (const auto& [key, value] : file.value().members) {
    if (key == "baseline") {
      if (value.kind != Kind::kString || value.text.empty()) return WrongRule("baseline is not the name of a file");
      rules.baseline = value.text;
    } else if (key == "rule") {
      if (value.kind != Kind::kArray) return WrongRule("rule is no list: a rule begins with [[rule]]");
      for (size_t i = 0; i < value.items.size(); ++i) {
        const Status added = AddRule(value.items[i], &rules.limits);
        if (!added.ok()) return WrongRule("rule " + std::to_string(i + 1) + ": " + added.error().message);
      }
    } else {
      return WrongRule("there is no key '" + key + "'");
    }
  }
  return rules;
}

}  // namespace opscope
