// Which spans an analysis is about: `name ~ conv and duration > 10us and not category = python_function`.
//
//   condition  = and-part { "or" and-part }
//   and-part   = part { "and" part }
//   part       = "not" part | "(" condition ")" | field operator value
//   operator   = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" (contains; * stands for anything) | "!~"
//   value      = word | 'text' | "text"      a time may have a unit: ns (also without one), us, ms, s
//
// Fields of text: name, category, overload, thread, process; `thread` and `process` mean the name or the number,
// or what tables call it where several have one name.
// Fields of numbers: duration, start (since the first begin of the trace), depth, sequence, step, rank, device,
// correlation; all are whole (times in nanoseconds), so `depth = 1.5` is never true and `depth < 1.5` is `depth <= 1`.
// `step` is the number of the step within whose time the span begins, of its own rank where steps have
// ranks; a span outside of steps, ranks or devices has -1. `name = ProfilerStep*` holds for every "ProfilerStep#N",
// which tables show under that name.
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

enum class FilterOperator : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kContains,
  kContainsNot,
  kAnd,  // the rest combine
  kOr,
  kNot,
};

class SpanFilter {
 public:
  // kInvalidArgument says what is wrong, and where.
  [[nodiscard]] static Result<SpanFilter> Parse(std::string_view condition);
  // Of spans for which all hold. REQUIRES: there is one at least.
  [[nodiscard]] static SpanFilter And(std::span<const SpanFilter> filters);

  // What a value says of a field of numbers: "10us" of a time is 10000. nullopt: nothing.
  [[nodiscard]] static std::optional<int64_t> NumberOf(FilterField field, std::string_view value);
  // "name, category, ...": all fields.
  [[nodiscard]] static std::string FieldNames();

  // One entry per span: 1 when it is selected. O(spans) per field operator; texts are compared once each.
  // `max_threads`: as in OpSummaryOptions.
  [[nodiscard]] std::vector<uint8_t> Select(const Trace& trace, uint32_t max_threads = 0) const;

  // Whether the condition compares this field.
  [[nodiscard]] bool Uses(FilterField field) const;

  const std::string& text() const { return text_; }  // as it was parsed; of several, "(one) and (other)"

  // A node of the condition; operands stand before it.
  struct Node {
    FilterOperator op = FilterOperator::kEqual;
    FilterField field = FilterField::kName;
    std::string text;
    int64_t number = 0;
    uint32_t left = 0, right = 0;  // nodes; kNot: left
  };

 private:
  std::string text_;
  std::vector<Node> nodes_;  // the last one is the whole condition
};

}  // namespace opscope
