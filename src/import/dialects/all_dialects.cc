// The list of dialects; add a new writer as a row here.
// SPDX-License-Identifier: Apache-2.0
#include "import/dialects/importer.h"
#include "import/megengine/importer.h"
#include "import/paddle/importer.h"
#include "import/xla/importer.h"

namespace opscope {

// Writers that are declared, or have a member in the document, come before those that are recognised by events.
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
