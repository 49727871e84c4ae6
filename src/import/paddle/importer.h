// The importer of Paddle's own format. The contract is in import/importer.h.
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

// Reads Paddle's protobuf dump (protobuf.cc).
[[nodiscard]] Status ImportPaddleProtobuf(std::span<const std::byte> bytes, std::string_view name,
                                          const ImportOptions& options, TraceBuilder* builder);
[[nodiscard]] bool LooksLikePaddleProtobuf(std::span<const std::byte> head);

// Paddle's dialect of Chrome JSON (chrome_dialect.cc).
extern const ChromeDialect kPaddleChromeDialect;

}  // namespace opscope
