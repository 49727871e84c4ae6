// Turns the four lists that Kineto prints for an operator's arguments into one argument list.
//
// Thread rule: one thread at a time per builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/builder.h"

namespace opscope {

// The lists are the JSON arrays of the file; "" if the file has no such list. All lists given must have the same
// length. A missing list reads as the empty values that a newer torch prints.
struct ArgumentListTexts {
  std::string_view dims, strides, types, values;
};

// kNone: there are no arguments, or the lists could not be written again as they are.
ArgsId AddChromeArguments(const ArgumentListTexts& texts, TraceBuilder* builder);

}  // namespace opscope
