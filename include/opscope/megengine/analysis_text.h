// What MegEngine's profile_analyze prints, character for character.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "opscope/megengine/profile_analyze.h"

namespace opscope {

enum class MegEnginePart : uint8_t { kAll, kSummary, kDevice, kHost };

struct MegEngineTextOptions {
  bool with_copy_time = false;
  bool with_host = false;          // of kAll: the table of host times too
  bool is_list = false;            // lines "NAME TYPE ID" in place of tables
  bool is_for_confluence = false;  // tables for a wiki, with bars
  MegEnginePart part = MegEnginePart::kAll;
};

// With the end of the last line. What the original fails on is empty or "N/A": shares of nothing, bars without a
// longest, copies where there are none. Control characters of names are escaped.
[[nodiscard]] std::string FormatMegEngineAnalysis(const MegEngineAnalysis& analysis,
                                                  const MegEngineTextOptions& options);

}  // namespace opscope
