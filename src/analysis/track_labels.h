// Labels of threads and processes for the user. Threads with the same name are distinguished by what differs:
//
//   name      tid   rank      label                     a stream and its annotations share name and number:
//   main        1      0      main (1, rank 0)          stream 7
//   main        1      1      main (1, rank 1)          stream 7 (annotations)
//   worker      2      0      worker (2)
//   worker      3      0      worker (3)
//   pin         4      0      pin
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Labels by track. A track without a name has its number. Only tracks with spans are distinguished. O(tracks).
[[nodiscard]] std::vector<std::string> LabelTracks(const Trace& trace);
// Labels by process: its name, or its number if it has none; both if another process has the same name.
[[nodiscard]] std::vector<std::string> LabelProcesses(const Trace& trace);

// The id of a thread or process as the input spells it: the number, or its text.
[[nodiscard]] std::string NumberOrText(const Trace& trace, int64_t number, StringId text);

}  // namespace opscope
