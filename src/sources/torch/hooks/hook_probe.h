// Do the drop-in functions fit the torch in this process? What they make is compared with what torch makes, byte by
// byte; then one operator runs through them, counted. For a process of its own: what does not fit may crash.
//
// Thread rule: any thread that nobody watches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sources/got/got_entries.h"

namespace opscope::drop_in {

// Null: they fit; else a static sentence. `slots`: those of torch, numbered as torch_layout::kSymbols.
// REQUIRES: drop_in::globals is set and no slot is pointed. May throw what torch throws.
const char* TryDropIns(std::span<const CallSlot> slots);

}  // namespace opscope::drop_in
