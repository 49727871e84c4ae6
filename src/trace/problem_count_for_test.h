// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "opscope/trace.h"

namespace opscope {

// Of the first problem of this kind; 0: there is none.
inline uint64_t ProblemCount(const Trace& trace, std::string_view kind) {
  const ProblemColumns& problems = trace.problems();
  for (size_t i = 0; i < problems.size(); ++i) {
    if (trace.text(problems.kind[i]) == kind) return problems.count[i];
  }
  return 0;
}

}  // namespace opscope
