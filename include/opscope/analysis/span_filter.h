// Selects spans by a condition: `name ~ conv and duration > 10us and not category =
// python_function`.
//
//   condition  = and-part { "or" and-part }
//   and-part   = part { "and" part }
//   part       = "not" part | "(" condition ")" | field operator value
//   operator   = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" (contains; * matches anything) | "!~"
//   value      = word | 'text' | "text"      a time may have a unit: ns (default), us, ms, s
//
// Text fields: name, category, kind, overload, thread, process. `thread` and
// `process` match the name or the number, or the label of tables if several have
// one name.
//
// Number fields: duration, start (since the first begin of the trace), depth,
// sequence, step, rank, device, correlation. All are integers (times in
// nanoseconds), so `depth = 1.5` is never true and `depth < 1.5` means `depth <=
// 1`. `step` is the number of the step in whose time the span begins, of its own
// rank if steps have ranks. A span outside of steps, ranks or devices has -1.
//
// `name = ProfilerStep*` matches every "ProfilerStep#N", which tables show under
// that name.
//
//   const Result<SpanFilter> filter = SpanFilter::Parse("name ~ conv");
//   const std::vector<uint8_t> selected = filter.value().Select(trace);
//   const OpSummary summary = SummarizeOps(trace, {.selected = &selected});
//
// Thread rule: immutable once parsed; Select is a pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// A field of a span. Text fields come first; kProcess is the last one.
enum class FilterField : uint8_t {
  kName,
  kCategory,
  kKind,
  kOverload,
  kThread,
  kProcess,  // the last one of text
  kDuration,
  kStart,
  kDepth,
  kSequence,
  kStep,
  kRank,
  kDevice,
  kCorrelation,
};

// A comparison, or one of the three operators that combine conditions.
enum class FilterOperator : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kContains,
  kContainsNot,
  // From here on: combine conditions.
  kAnd,
  kOr,
  kNot,
};

// A parsed condition.
class SpanFilter {
 public:
  // kInvalidArgument: not a condition; the message says what is wrong, and where.
  [[nodiscard]] static Result<SpanFilter> Parse(std::string_view condition);
  // Matches spans that all filters match. REQUIRES: at least one filter.
  [[nodiscard]] static SpanFilter And(std::span<const SpanFilter> filters);

  // The value of a number field as an integer: "10us" of a time is 10000. nullopt:
  // not a number.
  [[nodiscard]] static std::optional<int64_t> NumberOf(FilterField field, std::string_view value);
  // "name, category, ...": all fields, for messages.
  [[nodiscard]] static std::string FieldNames();

  // One entry per span: 1 if it matches. O(spans) per comparison, O(spans log steps)
  // for one of `step`; each distinct text is compared once. `max_threads`: as
  // OpSummaryOptions.
  [[nodiscard]] std::vector<uint8_t> Select(const Trace& trace, uint32_t max_threads = 0) const;

  // One entry per row of `steps`: 1 if a span in the step may match, as far as the number, the
  // rank and the begin of the step tell; other fields may have any value. 0 for a step without
  // a range. O(steps).
  [[nodiscard]] std::vector<uint8_t> SelectSteps(const Trace& trace) const;

  // True if the condition compares this field.
  [[nodiscard]] bool Uses(FilterField field) const;

  // The condition as it was parsed; of And "(one) and (other)".
  const std::string& text() const { return text_; }

  // A node of the expression tree; operands precede it.
  struct Node {
    FilterOperator op = FilterOperator::kEqual;
    FilterField field = FilterField::kName;
    std::string text;
    int64_t number = 0;
    // Indices of the operands; kNot uses left alone.
    uint32_t left = 0, right = 0;
  };

 private:
  std::string text_;
  // The last node is the whole condition.
  std::vector<Node> nodes_;
};

// The spans of a trace that a filter selects, in the form that the options of analyses have.
class SelectedSpans {
 public:
  // As Select; nullopt selects all, at no cost.
  SelectedSpans(const std::optional<SpanFilter>& filter, const Trace& trace) {
    if (filter) spans_ = filter->Select(trace);
  }
  // nullptr: all.
  const std::vector<uint8_t>* get() const { return spans_ ? &*spans_ : nullptr; }

 private:
  std::optional<std::vector<uint8_t>> spans_;
};

}  // namespace opscope
