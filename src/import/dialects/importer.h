// Imports Chrome JSON of all writers that opscope supports. The dialect of a writer with other formats is in the folder
// of those; the other dialects are here. The contract of the importer is in import/importer.h.
//
// Thread rule: any thread, one builder per call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "import/chrome/dialect.h"
#include "import/chrome/importer.h"
#include "import/text/text_source.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

extern const ChromeDialect kOnnxRuntimeChromeDialect, kVizTracerChromeDialect;

// In the order of detection.
[[nodiscard]] const ChromeDialects& AllChromeDialects();

[[nodiscard]] Status ImportChromeOfAnyWriter(TextSource* text, std::string_view name, const ImportOptions& options,
                                             TraceBuilder* builder);

}  // namespace opscope
