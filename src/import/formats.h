// The formats that opscope reads, and the detection of the format of a content.
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

// Bytes at the begin of the content that the detection reads; fewer if the content is shorter.
inline constexpr size_t kHeadBytes = size_t{64} << 10;

// A format has either `import`, which gets the complete content, or `stream`, which reads it through a window.
struct Format {
  std::string_view name;  // TraceInfo::format
  bool (*detect)(std::span<const std::byte> head);
  Status (*import)(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                   TraceBuilder* builder) = nullptr;
  Status (*stream)(TextSource* text, std::string_view name, const ImportOptions& options,
                   TraceBuilder* builder) = nullptr;
  const ChromeDialects& (*dialects)() = nullptr;  // dialects that this importer also reads; null: it has none

  bool IsNamed(std::string_view format) const;
};

// Finds the format of a content. `wanted`: the format that the user names, which overrides the detection, or "".
// `name`: of the content, for errors.
[[nodiscard]] Result<const Format*> FindFormat(std::span<const std::byte> content, std::string_view name,
                                               const std::string& wanted);

}  // namespace opscope
