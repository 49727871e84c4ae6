// What a framework knows of spans beside their columns, as members of JSON objects: a framework's folder defines it,
// the writer of Chrome JSON asks for it.
//
// Thread rule: FrameworkMembers may be called by any thread, what it returns by one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "opscope/trace.h"

namespace opscope {

// Appends the members of a span (`"device": "cpu0:0", ...`), behind a comma if `out` is not empty.
using AppendSpanMembers = std::function<void(uint32_t span, std::string* out)>;
// Makes one for a thread.
using FrameworkMembers = std::function<AppendSpanMembers()>;

// Null if the Trace is no recording of MegEngine. O(spans). The Trace must outlive the result.
FrameworkMembers MegEngineMembersBesideKineto(const Trace& trace);

}  // namespace opscope
