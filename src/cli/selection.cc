// --where, --steps and --time: ranges are rewritten as conditions ("3..7" becomes "step >= 3 and step <= 7"), so that
// there is one way to select spans and one error format.
// SPDX-License-Identifier: Apache-2.0
#include "cli/selection.h"

#include <algorithm>
#include <utility>

#include "base/assign.h"
#include "cli/result_options.h"
#include "opscope/analysis/contents.h"
#include "opscope/cut.h"

namespace opscope {
namespace {

// An option that takes a range: "3..7" becomes "field >= 3 and field OP 7".
struct RangeOption {
  std::string name;
  std::string field;
  FilterField number;
  std::string end_operator;
  int64_t min_length;  // least value of end minus begin
  std::string allowed;
};
const RangeOption kSteps = {"--steps", "step", FilterField::kStep, "<=", 0, "3, 3..7, 3.. or ..7, from 0 on"};
const RangeOption kTime = {"--time", "start", FilterField::kStart, "<", 1, "10ms..20ms, 1s.. or ..5us"};

// Times need a unit: "10" could mean milliseconds or nanoseconds. 0 is the same in all units.
bool LacksUnit(const RangeOption& option, const std::string& value) {
  return option.number == FilterField::kStart && !value.empty() && !value.ends_with('s') &&
         value.find_first_not_of("0.") != std::string::npos;
}

// Parses a range; a single value "3" means "3..3" if the option allows an empty range.
Result<SpanFilter> RangeFilter(const RangeOption& option, const std::string& range) {
  const size_t dots = range.find("..");
  const bool is_one = dots == std::string::npos;
  const std::string first = range.substr(0, dots), last = is_one ? first : range.substr(dots + 2);
  const auto begin = SpanFilter::NumberOf(option.number, first), end = SpanFilter::NumberOf(option.number, last);
  const auto wrong = [&](const char* what) {
    return Error{ErrorCode::kInvalidArgument, option.name + ": '" + range + "' " + what + "; " + option.allowed};
  };
  const bool is_number = (begin || first.empty()) && (end || last.empty()) && (begin || end);
  const bool is_below_zero = begin.value_or(0) < 0 || end.value_or(0) < 0;
  if (!is_number || is_below_zero || (is_one && option.min_length > 0)) return wrong("is not a range");
  if (LacksUnit(option, first) || LacksUnit(option, last)) return wrong("lacks a unit: ns, us, ms or s");
  if (begin && end && *end - *begin < option.min_length) return wrong("ends before it begins");
  std::string condition = option.field + " >= " + std::to_string(begin.value_or(0));
  if (end) condition += " and " + option.field + " " + option.end_operator + " " + std::to_string(*end);
  return SpanFilter::Parse(condition);
}

}  // namespace

void AddSelectionOptions(Verb* verb, SelectionOptions* options) {
  verb->Add({.names = {"--where"},
             .target = &options->where,
             .description = "only spans for which this holds, such as \"name ~ conv and duration > 10us\"; several "
                            "must all hold; fields: " +
                            SpanFilter::FieldNames()});
  verb->Add({"--steps"}, &options->steps, "only spans that begin within these steps: 3, 3..7, 3.. or ..7");
  verb->Add({"--time"}, &options->time, "only spans that begin then, after the first begin: 10ms..20ms, 1s..");
}

Result<std::optional<SpanFilter>> ReadSelection(const SelectionOptions& options) {
  std::vector<SpanFilter> filters;
  for (const std::string& condition : options.where) {
    // Conditions are parsed one by one, so that error positions refer to the user's text and brackets cannot span two.
    Result<SpanFilter> parsed = SpanFilter::Parse(condition);
    if (!parsed.ok()) return Error{parsed.error().code, "--where: " + parsed.error().message};
    filters.push_back(std::move(parsed).value());
  }
  const auto add_range = [&](const RangeOption& option, const std::optional<std::string>& range) -> Status {
    if (!range) return {};
    OPSCOPE_ASSIGN(SpanFilter filter, RangeFilter(option, *range));
    filters.push_back(std::move(filter));
    return {};
  };
  OPSCOPE_TRY(add_range(kSteps, options.steps));
  OPSCOPE_TRY(add_range(kTime, options.time));
  if (filters.empty()) return std::optional<SpanFilter>();
  return std::optional<SpanFilter>(SpanFilter::And(filters));
}

void EmptySelection::Add(const Trace& trace) {
  if (has_selected_) return;
  if (!filter_) {
    has_selected_ = trace.spans().size() > 0;
    has_async_spans_ = has_async_spans_ || trace.async_spans().size() > 0;
    return;
  }
  const std::vector<uint8_t> selected = filter_->Select(trace);
  has_selected_ = std::find(selected.begin(), selected.end(), 1) != selected.end();
  if (steps_.empty()) steps_ = StepRanges(trace);
}

std::string EmptySelection::Text() const {
  if (has_selected_) return "";
  if (!filter_) {
    return has_async_spans_ ? "all its spans are asynchronous, so they are on no thread's stack"
                            : "there are no spans in it";
  }
  const std::string nothing = "none of its spans is chosen by --where, --steps and --time";
  if (!filter_->Uses(FilterField::kStep)) return nothing;
  return nothing + "; " + (steps_.empty() ? kNoSteps : "its steps are " + steps_);
}

std::string DescribeEmptySelection(const Trace& trace, const std::optional<SpanFilter>& filter) {
  EmptySelection selection(filter);
  selection.Add(trace);
  return selection.Text();
}

int ForEachSelected(const CommonOptions& common, const std::optional<SpanFilter>& filter,
                    const std::function<int(const Trace&, const std::string& file)>& use) {
  const auto cut_first = [&](const Trace& trace, const std::string& file) {
    if (!filter) return use(trace, file);
    const Result<Trace> cut = CutTrace(trace, filter->Select(trace), filter->text());
    if (cut.ok() && cut.value().spans().size() == 0)
      ReportNoResult(file, common, DescribeEmptySelection(trace, filter));
    return cut.ok() ? use(cut.value(), file) : ExitFor(Error{cut.error().code, file + ": " + cut.error().message});
  };
  return ForEachInput(common, cut_first);
}

}  // namespace opscope
