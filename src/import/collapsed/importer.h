// The importer of collapsed stacks. The contract is in import/importer.h.
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

// Collapsed stacks, as flamegraph.pl takes them (collapsed_stacks.cc).
[[nodiscard]] Status ImportCollapsedStacks(TextSource* text, std::string_view name, const ImportOptions& options,
                                           TraceBuilder* builder);
[[nodiscard]] bool LooksLikeCollapsedStacks(std::span<const std::byte> head);

}  // namespace opscope
