// The list of dialects: a new writer is a row here.
// SPDX-License-Identifier: Apache-2.0
#include "import/dialects/importer.h"
#include "import/megengine/importer.h"
#include "import/paddle/importer.h"
#include "import/xla/importer.h"

namespace opscope {

// Those that are declared or have a member of the document of their own come before those that are guessed by events.
const ChromeDialects& AllChromeDialects() {
  static constexpr const ChromeDialect* kAll[] = {&kPaddleChromeDialect, &kVizTracerChromeDialect,
                                                  &kMegEngineChromeDialect, &kXlaChromeDialect,
                                                  &kOnnxRuntimeChromeDialect};
  static const ChromeDialects dialects(kAll);
  return dialects;
}

Status ImportChromeOfAnyWriter(TextSource* text, std::string_view name, const ImportOptions& options,
                               TraceBuilder* builder) {
  return ImportChromeText(text, name, options, AllChromeDialects(), builder);
}

}  // namespace opscope
