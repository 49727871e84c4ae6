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

// What MegEngine's get_profile() gives of a static graph (graph.cc).
[[nodiscard]] Status ImportMegEngineGraph(TextSource* text, std::string_view name, const ImportOptions& options,
                                          TraceBuilder* builder);
// Its operators, in place of a Trace: `builder` gets the problems alone.
[[nodiscard]] Status ReadMegEngineOperators(TextSource* text, std::string_view name, const ImportOptions& options,
                                            TraceBuilder* builder, MegEngineProfile* profile);
[[nodiscard]] bool LooksLikeMegEngineGraph(std::span<const std::byte> head);

// Its dialect of Chrome JSON (chrome_dialect.cc).
extern const ChromeDialect kMegEngineChromeDialect;

}  // namespace opscope
