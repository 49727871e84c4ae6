// The members of "args": those that opscope knows become columns, the rest stays as it was written,
// joined for the `extra` column. Kineto writes the four lists of an operator's arguments
//
//   "Input Dims": [[2, 4], [[3], [3]], []], "Input Strides": [[4, 1], [[1], [1]], []],
//   "Input type": ["float", "TensorList", "Scalar"], "Concrete Inputs": ["", "", "1.5"]
//
// which become one argument list when the exporter can print exactly these texts from it; lists of
// other forms stay in `extra`. Operators repeat their lists, so their texts are numbered here and parsed once for the
// whole file (join.h).
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/chrome/dialect.h"
#include "import/chrome/event.h"
#include "import/chrome/part.h"
#include "trace/builder.h"

namespace opscope {

// "Python id", "Python parent id" and "Python module id" of a call.
struct ChromePythonCall {
  bool present = false;
  PythonCallRow row;
};

struct ChromeAllocation {
  bool whole = false;  // the event has an address and a size
  AllocationRow row;
};

// Reads the "args" of events into the columns of a part, one part after the other.
class ChromeArgs {
 public:
  void Begin(ChromePart* part, const ChromeConventions& conventions) { part_ = part, conventions_ = conventions; }

  // Fills the columns of the members, and `extra`. If `call` is null, the numbers of a Python call stay in `extra`.
  void ReadSpan(const std::vector<JsonMember>& members, SpanRow* row, ChromePythonCall* call = nullptr);
  // Adds all members unchanged, after `first` (members of JSON, or ""). kNone if both are empty.
  StringId ReadExtra(const std::vector<JsonMember>& members, std::string_view first = {});
  // A "[memory]" instant. The members that an AllocationRow does not hold go to `extra`, if the allocation is whole.
  ChromeAllocation ReadAllocation(const std::vector<JsonMember>& members, StringId* extra);
  // The same with read_allocation of the declared dialect. `category`, which has no column, goes to `extra` as "type".
  // REQUIRES: the dialect has read_allocation.
  ChromeAllocation ReadDialectAllocation(const std::vector<JsonMember>& members, std::string_view category,
                                         StringId* extra);

  // The number of the step if the members of the last span say that it is a step.
  const std::optional<int64_t>& step_number() const { return step_number_; }

  StringId Text(const JsonValue& value);
  uint64_t dropped_values() const { return dropped_values_; }  // members that were NaN or infinite

 private:
  bool ReadKnown(const JsonMember& member, SpanRow* row);
  bool ReadDialectMember(const ChromeMember& meaning, const JsonMember& member, SpanRow* row);
  bool ReadLists(const JsonValue (&lists)[4], ArgsId* args);
  bool ReadCallStack(const JsonValue& value, StackId* stack);
  bool ReadOverload(const JsonValue& value, SpanRow* row);
  void Keep(const JsonMember& member);
  StringId TakeExtra();

  ChromePart* part_ = nullptr;
  ChromeConventions conventions_;
  std::string extra_, key_, decoded_;
  std::vector<JsonMember> others_;
  std::optional<int64_t> step_number_;
  uint64_t dropped_values_ = 0;
};

// Joins the four texts to a key of ChromePart::lists, and splits it again. "" for a list that the file does not have.
void AppendListTexts(const std::string_view (&texts)[4], std::string* key);
void ReadListTexts(std::string_view key, std::string_view (&texts)[4]);
// Appends the lists to `extra` as members.
StringId ExtraWithLists(StringId extra, std::string_view key, TraceBuilder* builder);

// Adds the frames of a call stack from its JSON text.
StackId AddCallStack(std::string_view json_text, TraceBuilder* builder);

// The members of both; for equal keys those of `later`. Either may be kNone. Adds to *replaced the number of values
// that differed.
StringId MergeExtra(StringId earlier, StringId later, TraceBuilder* builder, uint64_t* replaced);

}  // namespace opscope
