// VizTracer's dialect of Chrome JSON: Python calls as complete events of category "FEE", followed by
//
//   "viztracer_metadata": {"version": "1.0.0", "baseTimeNanoseconds": 1795223306178402185, ...}
//
// A truncated file is recognised by the first category alone.
// SPDX-License-Identifier: Apache-2.0
#include "import/dialects/importer.h"

namespace opscope {
namespace {

constexpr std::string_view kMetadata = "viztracer_metadata";

bool IsVizTracerFile(const ChromeFile& file) {
  return !file.builder->FindMetadata(kMetadata).empty() || file.FirstCategoryIs("FEE");
}

}  // namespace

constinit const ChromeDialect kVizTracerChromeDialect = {
    .format = "viztracer-json",
    .is_writer = IsVizTracerFile,
    .base_time_key = kMetadata,
    .base_time_member = "baseTimeNanoseconds",
};

}  // namespace opscope
