// The importer of `.opscope` files. The contract is in import/importer.h.
//
// Thread rule: any thread, one builder per call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

// `.opscope` files: raw chunks, column blocks, any mix (opscope_file.cc).
[[nodiscard]] Status ImportOpscope(std::span<const std::byte> bytes, std::string_view name,
                                   const ImportOptions& options, TraceBuilder* builder);

}  // namespace opscope
