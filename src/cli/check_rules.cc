// A rule is one metric with one limit or more, `max = 2000000` or `max_increase = "5%"`. Everything that is not a limit
// is refused: a mistyped key would otherwise be a limit that never fails.
// SPDX-License-Identifier: Apache-2.0
#include "cli/check_rules.h"

#include <charconv>
#include <optional>

#include "base/toml.h"

namespace opscope {
namespace {

using Kind = TomlValue::Kind;

Error WrongRule(const std::string& what) {
  return {ErrorCode::kInvalidArgument, what};
}

// The value of a limit as ParseCheckLimit takes it; nullopt: it is no limit. A number is no text here.
std::optional<std::string> LimitText(const TomlValue& value) {
  if (value.kind == Kind::kInteger) return std::to_string(value.integer);
  if (value.kind == Kind::kString && value.text.ends_with('%')) return value.text;
  if (value.kind != Kind::kReal) return std::nullopt;
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof(text), value.real).ptr);
}

Status AddRule(const TomlValue& rule, std::vector<CheckLimit>* limits) {
  if (rule.kind != Kind::kTable) return WrongRule("it is not a table");
  const TomlValue *metric = rule.Find("metric"), *name = rule.Find("name");
  if (metric == nullptr || metric->kind != Kind::kString) return WrongRule("it lacks a metric");
  if (name != nullptr && (name->kind != Kind::kString || name->text.empty())) return WrongRule("name is not a text");
  const bool is_known = CheckMetricFromName(metric->text).has_value();  // a metric with a colon is not
  const std::string of_rule = is_known && name != nullptr ? metric->text + ":" + name->text : metric->text;
  if (!is_known && metric->text.find(':') != std::string::npos)
    return WrongRule("there is no metric '" + metric->text + "'; the name of an operator is a key, name");
  const size_t before = limits->size();
  for (const auto& [key, value] : rule.members) {
    if (key == "metric" || key == "name") continue;
    const std::optional<LimitKind> kind = LimitKindFromName(key);
    if (!kind) return WrongRule("there is no key '" + key + "'");
    const std::optional<std::string> number = LimitText(value);
    if (!number) return WrongRule(key + " is not a number or a percentage");
    const Result<CheckLimit> limit = ParseCheckLimit(of_rule, *kind, *number);
    if (!limit.ok()) return WrongRule(key + ": " + limit.error().message);
    limits->push_back(limit.value());
  }
  if (limits->size() == before) return WrongRule("it lacks min, max, max_increase and max_decrease");
  return {};
}

}  // namespace

Result<CheckLimit> ParseLimit(LimitKind kind, std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == text.npos) return WrongRule("'" + std::string(text) + "' is not METRIC[:NAME]=N");
  return ParseCheckLimit(text.substr(0, equals), kind, text.substr(equals + 1));
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
      if (value.kind != Kind::kArray) return WrongRule("rule is not a list: a rule begins with [[rule]]");
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
