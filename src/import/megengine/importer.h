// The importers of MegEngine's own formats. The contract is in import/importer.h.
//
// Thread rule: any thread, one builder per call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "import/text/text_source.h"
#include "opscope/import.h"
#include "opscope/megengine/operator_profile.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

struct ChromeDialect;

inline constexpr const char* kMegEngineGraphFormat = "megengine-graph-profile";

// Imports the output of MegEngine's get_profile() for a static graph (graph.cc).
[[nodiscard]] Status ImportMegEngineGraph(TextSource* text, std::string_view name, const ImportOptions& options,
                                          TraceBuilder* builder);
// Reads only the operators of such a graph. `builder` gets the problems and no rows.
[[nodiscard]] Status ReadMegEngineOperators(TextSource* text, std::string_view name, const ImportOptions& options,
                                            TraceBuilder* builder, MegEngineProfile* profile);
[[nodiscard]] bool LooksLikeMegEngineGraph(std::span<const std::byte> head);

// MegEngine's dialect of Chrome JSON (chrome_dialect.cc).
extern const ChromeDialect kMegEngineChromeDialect;

}  // namespace opscope
