// The ranges become conditions, so that there is one way to choose spans.
// SPDX-License-Identifier: Apache-2.0
#include "cli/selection.h"

#include <string_view>
#include <utility>

#include "opscope/cut.h"

namespace opscope {
namespace {

// "3..7" -> "field >= 3 and field OP 7"; "3" -> "field = 3" where one value makes sense.
Result<std::string> RangeCondition(std::string_view option, std::string_view field, std::string_view range,
                                   std::string_view end_operator) {
  const size_t dots = range.find("..");
  const std::string name(field);
  std::string condition;
  if (dots == std::string_view::npos) {
    condition = name + " = '" + std::string(range) + "'";
  } else {
    const std::string_view first = range.substr(0, dots), last = range.substr(dots + 2);
    if (!first.empty()) condition = name + " >= '" + std::string(first) + "'";
    if (!last.empty()) {
      condition +=
          (condition.empty() ? "" : " and ") + name + " " + std::string(end_operator) + " '" + std::string(last) + "'";
    }
    if (field == "step" && first.empty()) condition += " and step >= 0";
  }
  const bool is_one_moment = dots == std::string_view::npos && field == "start";
  if (condition.empty() || is_one_moment || range.find('\'') != std::string_view::npos ||
      !SpanFilter::Parse(condition).ok()) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string(option) + ": '" + std::string(range) + "' is no range; " +
                     (field == "step" ? "3, 3..7, 3.. or ..7" : "10ms..20ms, 1s.. or ..5us")};
  }
  return condition;
}

}  // namespace

void AddSelectionOptions(Verb* verb, SelectionOptions* options) {
  verb->Add(
      {.names = {"--where"},
       .target = &options->where,
       .description =
           "only spans for which this holds, such as \"name ~ conv and duration > 10us\"; several must all hold"});
  verb->Add({.names = {"--steps"},
             .target = &options->steps,
             .description = "only spans that begin within these steps: 3, 3..7, 3.. or ..7"});
  verb->Add({.names = {"--time"},
             .target = &options->time,
             .description = "only spans that begin then, after the first begin: 10ms..20ms, 1s.."});
}

Result<std::optional<SpanFilter>> ReadSelection(const SelectionOptions& options) {
  std::string all;
  const auto add = [&](const std::string& condition) { all += (all.empty() ? "(" : " and (") + condition + ")"; };
  for (const std::string& condition : options.where) {
    // By itself first: the error counts characters as the user did, and no bracket reaches out of it.
    if (Result<SpanFilter> parsed = SpanFilter::Parse(condition); !parsed.ok())
      return Error{parsed.error().code, "--where: " + parsed.error().message};
    add(condition);
  }
  if (!options.steps.empty()) {
    Result<std::string> steps = RangeCondition("--steps", "step", options.steps, "<=");
    if (!steps.ok()) return steps.error();
    add(steps.value());
  }
  if (!options.time.empty()) {
    Result<std::string> time = RangeCondition("--time", "start", options.time, "<");
    if (!time.ok()) return time.error();
    add(time.value());
  }
  if (all.empty()) return std::optional<SpanFilter>();
  Result<SpanFilter> filter = SpanFilter::Parse(all);
  if (!filter.ok()) return filter.error();
  return std::optional<SpanFilter>(std::move(filter).value());
}

int ForEachSelected(const CommonOptions& common, const std::optional<SpanFilter>& filter,
                    const std::function<int(const Trace&, const std::string& file)>& use, bool is_titled) {
  const auto cut_first = [&](const Trace& trace, const std::string& file) {
    if (!filter) return use(trace, file);
    const Result<Trace> cut = CutTrace(trace, filter->Select(trace), filter->text());
    return cut.ok() ? use(cut.value(), file) : ExitFor(Error{cut.error().code, file + ": " + cut.error().message});
  };
  return ForEachInput(common, cut_first, is_titled);
}

}  // namespace opscope
