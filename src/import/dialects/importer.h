// Chrome JSON of all the writers that opscope knows. A writer with formats of its own has its dialect in the folder of
// those; the others have theirs here. The contract of the importer is in import/importer.h.
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
