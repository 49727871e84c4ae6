// A Trace as plain text for golden tests: one line per row, in the order of the tables, with every
// column that differs from its default. The text depends on content alone, never on the numbers of
// strings, argument lists or stacks, so equal traces have equal texts however they were built.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/trace.h"

namespace opscope {

struct DebugTextOptions {
  bool info = true;  // format, epoch, counts, options
  bool problems = true;
};

[[nodiscard]] std::string ToDebugText(const Trace& trace, const DebugTextOptions& options = {});

}  // namespace opscope
