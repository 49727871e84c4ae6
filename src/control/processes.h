// The processes of a folder with their states, for `opscope ps` and `opscope record`.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "control/control_folder.h"
#include "control/exchange.h"
#include "opscope/result.h"

namespace opscope {

// All processes, by rank, host and pid. A process that does not answer is unavailable.
[[nodiscard]] Result<std::vector<Peer>> AskProcesses(ControlFolder* folder);
// Queries these processes again. A process that does not answer keeps its earlier state.
[[nodiscard]] Status AskAgain(ControlFolder* folder, const std::vector<Peer*>& peers);

}  // namespace opscope
