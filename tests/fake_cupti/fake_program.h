// Begins anew what the simulated program has made: events and memory, graphs. Need the library's lock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fake {

void ResetProgram();
void ResetGraphs();

}  // namespace fake
