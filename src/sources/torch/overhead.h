// The overhead of recording one torch operator and one user range on this machine: the time that torch spends on
// calling callbacks, and the time of ours. The source measures it once per process and kind of window, in a fraction of
// a millisecond and without running an operator: it constructs RecordFunction objects as torch's dispatcher does, with
// only our callback, in a scratch window. Other observers do not see them.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// Members of a JSON object (src/wire/FORMAT.md, "own_cost"); never freed. "": it could not be measured. flags:
// torch_source_flags. Call it before the recording's window opens, else that window contains the time of the
// measurement.
const char* OverheadJson(uint32_t flags);

}  // namespace opscope
