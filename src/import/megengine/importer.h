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
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

// What MegEngine's get_profile() gives of a static graph (graph.cc).
[[nodiscard]] Status ImportMegEngineGraph(TextSource* text, std::string_view name, const ImportOptions& options,
                                          TraceBuilder* builder);
[[nodiscard]] bool LooksLikeMegEngineGraph(std::span<const std::byte> head);

}  // namespace opscope
