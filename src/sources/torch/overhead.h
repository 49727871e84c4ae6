// The overhead of recording one torch operator and one user range on this machine: what torch spends on being observed
// and ours. The source measures it once per process and kind of window, in a fraction of a millisecond and without
// running an operator: it makes RecordFunction objects as torch's dispatcher does, with our callbacks alone, in a
// window of its own. Other observers do not see them.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// Members of a JSON object (src/wire/FORMAT.md, "own_cost"); never freed. "": it could not be measured. flags:
// torch_source_flags. Call it before the recording's own window opens, else that window records the measurement's time.
const char* OverheadJson(uint32_t flags);

}  // namespace opscope
