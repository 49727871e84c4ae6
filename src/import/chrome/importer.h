// The importer of Chrome JSON. The contract is in import/importer.h.
//
// Thread rule: any thread, one builder per call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "import/chrome/dialect.h"
#include "import/text/text_source.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

// Imports Chrome JSON with the members of Kineto and of `dialects`. `dialects` outlives the call.
[[nodiscard]] Status ImportChromeText(TextSource* text, std::string_view name, const ImportOptions& options,
                                      const ChromeDialects& dialects, TraceBuilder* builder);
// Sizes of blocks in bytes. The Trace does not depend on them.
struct ChromeBlockSizes {
  size_t first = size_t{256} << 10;  // bytes to read before more threads pay off
  size_t block = size_t{1} << 20;
};
[[nodiscard]] Status ImportChromeText(TextSource* text, std::string_view name, const ImportOptions& options,
                                      const ChromeDialects& dialects, const ChromeBlockSizes& sizes,
                                      TraceBuilder* builder);
[[nodiscard]] bool LooksLikeJson(std::span<const std::byte> text);  // '{' or '[' after blanks and a byte order mark

}  // namespace opscope
