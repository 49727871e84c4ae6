// Turns the four lists that Kineto prints for an operator's arguments into one argument list.
//
// Thread rule: one thread at a time per builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/builder.h"

namespace opscope {

// JSON arrays as they stand in the file; a list that the file does not have is "". Lists that are there
// must have the same length. A missing list reads as the empty values that a newer torch prints there.
struct ArgumentListTexts {
  std::string_view dims, strides, types, values;
};

// kNone: no arguments, or of a form that could not be printed again as it was.
ArgsId AddChromeArguments(const ArgumentListTexts& texts, TraceBuilder* builder);

}  // namespace opscope
