// The quality of a trace as text. docs/reference/analyses.md defines the verdicts.
//
//   const std::string line = FormatQuality(JudgeQuality(trace));
//   if (!line.empty()) Print(line);
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/analysis/quality.h"

namespace opscope {

// {"verdict": "good"|"usable"|"doubtful", "reasons": [text]}: the member "quality"
// of every JSON result.
[[nodiscard]] std::string QualityJson(const Quality& quality);

// One line, "doubtful: 3 of 10 events were dropped; ...", escaped for a terminal;
// "" if the quality is good.
[[nodiscard]] std::string FormatQuality(const Quality& quality);

}  // namespace opscope
