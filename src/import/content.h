// Prepares the content of a file for its importer: decompresses it, converts it to UTF-8, and detects its format.
//
// Thread rule: any thread, one call per file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"
#include "import/text/text_source.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "opscope/trace.h"
#include "trace/builder.h"

namespace opscope {

// Replaces the importer of a streamed format.
struct FormatOverride {
  std::string_view format;
  std::function<Status(TextSource* text, std::string_view name, const ImportOptions& options, TraceBuilder* builder)>
      stream;
};

// Imports a content; these are the steps that all formats share. `name`: of the content, for errors. `instead`: the
// reader to use for its format; may be null.
[[nodiscard]] Result<Trace> ImportContent(std::span<const std::byte> bytes, std::string_view name,
                                          const ImportOptions& options, const FormatOverride* instead = nullptr);
// The same for a file. Returns its error if it could not be opened.
[[nodiscard]] Result<Trace> ImportContent(Result<InputFile> opened, std::string_view name, const ImportOptions& options,
                                          const FormatOverride* instead = nullptr);

// The name in the options, else "descriptor 3".
[[nodiscard]] std::string NameOfDescriptor(int descriptor, const ImportOptions& options);

}  // namespace opscope
