// The argument lists of operators in Kineto's JSON, rendered once per distinct list. Construction costs O(bytes of all
// lists), a look-up O(1).
//
// Thread rule: immutable after construction, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Which members a text has beside "Input Dims".
struct ArgumentKeys {
  bool values = true, types = true, strides = true;
};
// Those of which the trace has at least one value. O(arguments of all lists)
[[nodiscard]] ArgumentKeys ArgumentKeysWithValues(const Trace& trace);

class ArgumentTexts {
 public:
  explicit ArgumentTexts(const Trace& trace, const ArgumentKeys& keys = {});

  // "Concrete Inputs": [...], "Input type": [...], "Input Strides": [...]; "" without any of them.
  const std::string& values_types_strides(ArgsId id) const { return before_stack_[Row(id)]; }
  // "Input Dims": [...]; torch writes the call stack between the two
  const std::string& dims(ArgsId id) const { return dims_[Row(id)]; }

 private:
  std::vector<std::string> before_stack_, dims_;
};

}  // namespace opscope
