// Names of threads and processes for people. Threads of one name are told apart by what they differ in:
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

// By track. A track without a name has its number. Only tracks with spans count as alike.
[[nodiscard]] std::vector<std::string> LabelTracks(const Trace& trace);
// By process: its name, its number where it has none or another process has the same name.
[[nodiscard]] std::vector<std::string> LabelProcesses(const Trace& trace);

// How the input spells the id of a thread or a process.
[[nodiscard]] std::string NumberOrText(const Trace& trace, int64_t number, StringId text);

}  // namespace opscope
