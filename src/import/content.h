// The content of a file on its way to the importer of its format: decompressed, as UTF-8, its format detected.
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

// A reader that takes the place of the importer of one format that is read as a stream.
struct FormatOverride {
  std::string_view format;
  std::function<Status(TextSource* text, std::string_view name, const ImportOptions& options, TraceBuilder* builder)>
      stream;
};

// The Trace of a content, with what is the same for all formats. `name`: of the content, for errors. `instead`: null,
// or what reads its format.
[[nodiscard]] Result<Trace> ImportContent(std::span<const std::byte> bytes, std::string_view name,
                                          const ImportOptions& options, const FormatOverride* instead = nullptr);
// Likewise of a file, unless it could not be opened.
[[nodiscard]] Result<Trace> ImportContent(Result<InputFile> opened, std::string_view name, const ImportOptions& options,
                                          const FormatOverride* instead = nullptr);

// The name that the options give, else "descriptor 3".
[[nodiscard]] std::string NameOfDescriptor(int descriptor, const ImportOptions& options);

}  // namespace opscope
