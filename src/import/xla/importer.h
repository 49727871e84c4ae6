// The importer of XLA's own format. The contract is in import/importer.h.
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

struct ChromeDialect;

// Profiles by XLA, for example of JAX (xplane.cc).
[[nodiscard]] Status ImportXPlane(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                                  TraceBuilder* builder);
[[nodiscard]] bool LooksLikeXPlane(std::span<const std::byte> head);

// XLA's dialect of Chrome JSON (chrome_dialect.cc).
extern const ChromeDialect kXlaChromeDialect;

}  // namespace opscope
