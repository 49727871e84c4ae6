// The formats that opscope reads, and which of them a content is.
//
// Thread rule: any thread; the list is immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "import/chrome/dialect.h"
#include "import/text/text_source.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

// What detection looks at: the first bytes of the content, or all of it where there is less.
inline constexpr size_t kHeadBytes = size_t{64} << 10;

// `import` gets the whole content, `stream` reads it through a window; each format has one of them.
struct Format {
  std::string_view name;  // TraceInfo::format
  bool (*detect)(std::span<const std::byte> head);
  Status (*import)(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                   TraceBuilder* builder) = nullptr;
  Status (*stream)(TextSource* text, std::string_view name, const ImportOptions& options,
                   TraceBuilder* builder) = nullptr;
  const ChromeDialects& (*dialects)() = nullptr;  // whose formats this importer reads, too

  bool IsNamed(std::string_view format) const;
};

// `wanted`: the format that the user names, whatever the content looks like, or "". `name`: of the content, for errors.
[[nodiscard]] Result<const Format*> FindFormat(std::span<const std::byte> content, std::string_view name,
                                               const std::string& wanted);

}  // namespace opscope
