// A Trace as plain text for golden files: one row per line, every column that is set, in row order.
// Times in nanoseconds. Ids are printed as what they stand for, never as row numbers, except the parent
// of a span (its number on its track).
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/trace.h"

namespace opscope {

std::string DumpTrace(const Trace& trace);

}  // namespace opscope
