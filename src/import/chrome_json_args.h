// The members of "args": those that opscope knows become columns, the rest stays as it was written,
// joined for the `extra` column. Kineto writes the four lists of an operator's arguments
//
//   "Input Dims": [[2, 4], [[3], [3]], []], "Input Strides": [[4, 1], [[1], [1]], []],
//   "Input type": ["float", "TensorList", "Scalar"], "Concrete Inputs": ["", "", "1.5"]
//
// which become one argument list when the exporter can print exactly these texts from it; lists of
// other forms stay in `extra`. Operators repeat their lists, so the texts are looked up before they are
// parsed.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/chrome_json_event.h"
#include "trace/builder.h"

namespace opscope {

// "Python id" and its companions.
struct ChromePythonCall {
  bool present = false;
  PythonCallRow row;
};

struct ChromeAllocation {
  bool whole = false;  // it has an address and a size
  AllocationRow row;
};

class ChromeArgs {
 public:
  explicit ChromeArgs(TraceBuilder* builder) : builder_(builder) {}

  // Fills the columns that the members stand for, and `extra`. Without `call` the numbers of one stay in `extra`.
  void ReadSpan(const std::vector<JsonMember>& members, SpanRow* row, ChromePythonCall* call = nullptr);
  // Everything as it is; kNone when there is nothing.
  StringId ReadExtra(const std::vector<JsonMember>& members);
  // A "[memory]" instant. The members that an AllocationRow does not hold go to `extra`.
  ChromeAllocation ReadAllocation(const std::vector<JsonMember>& members, StringId* extra);

  // The members of both, those of `later` winning; either may be kNone.
  StringId Merge(StringId earlier, StringId later);

  StringId Text(const JsonValue& value);
  uint64_t dropped_values() const { return dropped_values_; }  // members that were NaN or infinite

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <typename Id>
  using IdOfText = std::unordered_map<std::string, Id, TextHash, std::equal_to<>>;

  bool ReadKnown(const JsonMember& member, SpanRow* row);
  bool ReadLists(const JsonValue (&lists)[4], ArgsId* args);
  bool ParseLists(const JsonValue (&lists)[4], ArgsId* args);
  bool ReadCallStack(const JsonValue& value, StackId* stack);
  void Keep(const JsonMember& member);
  StringId TakeExtra();

  TraceBuilder* builder_;
  IdOfText<ArgsId> args_of_text_;  // kNone: these texts stay in extra
  IdOfText<StackId> stack_of_text_;
  std::string extra_, key_, decoded_;
  uint64_t dropped_values_ = 0;
};

}  // namespace opscope
