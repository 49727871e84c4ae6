// Kinds of spans that a Chrome trace tells otherwise than by categories and names alone (docs/span_kinds.md):
//
//   XLA        a stream of a device        kernel; with "memcpy_details" copy, with "memset_details" set
//              "$file.py:12 name"          a call of Python
//              with "hlo_op"               operator
//   MegEngine  named as its "__name__"     operator; its dispatch and what it waits for are named otherwise
//
// Thread rule: one thread at a time per builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/builder.h"

namespace opscope {

// When all spans were added and the builder knows the format.
void GiveChromeKinds(TraceBuilder* builder);

}  // namespace opscope
