// The output of MegEngine's profile_analyze, character for character.
//
//   const MegEngineAnalysis analysis = AnalyzeMegEngineOperators(operators, selection);
//   Print(FormatMegEngineAnalysis(analysis, {.with_host = true}));
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "opscope/megengine/profile_analyze.h"

namespace opscope {

// The part to print.
enum class MegEnginePart : uint8_t { kAll, kSummary, kDevice, kHost };

// Options of profile_analyze.
struct MegEngineTextOptions {
  // Also print the times of copies.
  bool with_copy_time = false;
  // kAll: also print the table of host times.
  bool with_host = false;
  // Lines "NAME TYPE ID" instead of tables.
  bool is_list = false;
  // Tables in wiki markup, with bars.
  bool is_for_confluence = false;
  MegEnginePart part = MegEnginePart::kAll;
};

// Includes the last newline. Cells that the original fails on are empty or "N/A":
// shares of nothing, bars without a longest, copies without any. Escapes control
// characters of names.
[[nodiscard]] std::string FormatMegEngineAnalysis(const MegEngineAnalysis& analysis,
                                                  const MegEngineTextOptions& options);

}  // namespace opscope
