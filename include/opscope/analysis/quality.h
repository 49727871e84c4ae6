// How far the answers about a trace can be trusted. docs/analyses.md, "Quality", has the rules.
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

enum class Verdict : uint8_t { kGood, kUsable, kDoubtful };

struct Quality {
  Verdict verdict = Verdict::kGood;
  std::vector<std::string> reasons;  // a sentence each; none where it is good
};

// O(n log n) in works of devices and the calls that launched them.
[[nodiscard]] Quality JudgeQuality(const Trace& trace);

}  // namespace opscope
