// The processes of a folder, asked for their state: what `opscope ps` lists and `opscope record` chooses from.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "control/control_folder.h"
#include "control/exchange.h"
#include "opscope/result.h"

namespace opscope {

// All of them, by rank, host and pid; a process that does not answer is unavailable.
[[nodiscard]] Result<std::vector<Peer>> AskProcesses(ControlFolder* folder);
// Asks these again. A process that does not answer keeps what is known of it.
[[nodiscard]] Status AskAgain(ControlFolder* folder, const std::vector<Peer*>& peers);

}  // namespace opscope
