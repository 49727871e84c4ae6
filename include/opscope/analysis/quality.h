// Judges how far answers about a trace can be trusted. docs/reference/analyses.md
// has the rules.
//
//   const Quality quality = JudgeQuality(trace);
//   if (quality.verdict != Verdict::kGood) Warn(quality.reasons);
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// From "trust every number" to "numbers may be far off".
enum class Verdict : uint8_t { kGood, kUsable, kDoubtful };

// The result with its reasons.
struct Quality {
  Verdict verdict = Verdict::kGood;
  // One sentence per reason; empty for kGood.
  std::vector<std::string> reasons;
};

// O(spans), and O(n log n) in device spans and the calls that launched them.
[[nodiscard]] Quality JudgeQuality(const Trace& trace);

}  // namespace opscope
