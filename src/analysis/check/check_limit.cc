// Limits as texts, which the command line, rules files and Python share. Everything that is not a limit is refused: a
// mistyped one would otherwise never fail.
//
//   op_self_ns:aten::mm, max_increase, 5%     the name of an operator may have colons itself
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <string>

#include "base/parse_whole.h"
#include "opscope/analysis/check.h"

namespace opscope {
namespace {

Error WrongLimit(const std::string& what) {
  return {ErrorCode::kInvalidArgument, what};
}

// False: neither a number nor, where the kind allows one, a percentage.
bool ReadLimitNumber(std::string_view text, CheckLimit* limit) {
  limit->is_percent = text.ends_with('%');
  if (limit->is_percent && !IsRelative(limit->kind)) return false;
  if (limit->is_percent) text.remove_suffix(1);
  const std::optional<double> number = ParseWhole<double>(text);
  limit->number = number.value_or(0);
  return number && std::isfinite(*number);
}

}  // namespace

std::optional<LimitKind> LimitKindFromName(std::string_view name) {
  for (const LimitKind kind : {LimitKind::kMin, LimitKind::kMax, LimitKind::kMaxIncrease, LimitKind::kMaxDecrease})
    if (LimitKindName(kind) == name) return kind;
  return std::nullopt;
}

Result<CheckLimit> ParseCheckLimit(std::string_view metric, LimitKind kind, std::string_view number) {
  const size_t colon = metric.find(':');
  const std::string_view metric_name = metric.substr(0, colon);
  const std::optional<CheckMetric> known = CheckMetricFromName(metric_name);
  if (!known) {
    std::string all;
    for (const std::string_view each : CheckMetricNames())
      all.append(all.empty() ? "" : ", ").append(each);
    return WrongLimit("there is no metric '" + std::string(metric_name) + "'; known: " + all);
  }
  const bool has_name = colon != metric.npos;
  CheckLimit limit{.metric = *known, .kind = kind};
  if (has_name) limit.name = metric.substr(colon + 1);
  if (IsOpMetric(*known) && limit.name.empty())
    return WrongLimit(std::string(metric_name) + " lacks the name of an operator");
  if (!IsOpMetric(*known) && has_name) return WrongLimit(std::string(metric_name) + " takes no name");
  if (!ReadLimitNumber(number, &limit)) {
    return WrongLimit("'" + std::string(number) + "' is not a number" +
                      (IsRelative(kind) ? " or per cent such as 5%" : ""));
  }
  return limit;
}

}  // namespace opscope
