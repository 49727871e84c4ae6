// The probe: do the hooks fit the torch in this process? It compares the objects that the hooks construct with those
// that torch constructs, byte by byte, and then runs one operator through the hooks and counts their calls. Run it in a
// separate process: hooks that do not fit may crash.
//
// Thread rule: any thread that has no callbacks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sources/got/got_entries.h"

namespace opscope::range_hooks {

// Null: the hooks fit; else a static sentence. `entries`: the GOT entries of torch's libraries, numbered as
// torch_layout::kSymbols. REQUIRES: range_hooks::globals is set and no entry is patched. May throw what torch throws.
const char* ProbeHooks(std::span<const GotEntry> entries);

}  // namespace opscope::range_hooks
