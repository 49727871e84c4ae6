// Whatever can be read must be written in every format, whatever its names, times and nesting.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>

#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const opscope::ImportOptions options{.max_memory = size_t{64} << 20, .max_threads = 1};
  const opscope::Result<opscope::Trace> trace =
      opscope::ImportBytes(std::as_bytes(std::span(data, size)), "fuzz", options);
  if (!trace.ok()) return 0;
  for (const std::string_view name : opscope::ExportFormatNames()) {
    const opscope::ExportFormat format = *opscope::ExportFormatFromName(name);
    OPSCOPE_CHECK(opscope::ExportToBytes(trace.value(), format).ok());
  }
  for (const std::string_view table : opscope::TableNames()) {
    opscope::ExportOptions csv;
    csv.table = table;
    OPSCOPE_CHECK(opscope::ExportToBytes(trace.value(), opscope::ExportFormat::kCsv, csv).ok());
  }
  return 0;
}
