// Forget what the simulated program has made: its events and memory; its graphs. REQUIRES: the library's lock is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fake {

void ResetProgram();
void ResetGraphs();

}  // namespace fake
