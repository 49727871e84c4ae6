// JSON members that a framework adds to its spans beside their columns. A framework's folder defines them; the writer
// of Chrome JSON calls them.
//
// Thread rule: any thread may call FrameworkMembers; its result is for one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "opscope/trace.h"

namespace opscope {

// Appends the members of a span (`"device": "cpu0:0", ...`), behind a comma if `out` is not empty.
using AppendSpanMembers = std::function<void(uint32_t span, std::string* out)>;
// Makes an AppendSpanMembers for one thread.
using FrameworkMembers = std::function<AppendSpanMembers()>;

// Null if the Trace is not a recording of MegEngine. O(spans). The Trace must outlive the result.
FrameworkMembers MegEngineMembersBesideKineto(const Trace& trace);

}  // namespace opscope
