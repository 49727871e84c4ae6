// The public entry points: they open the content and make a Trace of it.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/import.h"

#include <string>

#include "base/catch_bad_alloc.h"
#include "base/text.h"
#include "import/content.h"
#include "import/ranks.h"
#include "import/recording/recording.h"
#include "wire/container.h"

namespace opscope {

Result<Trace> ImportBytes(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options) {
  return CatchBadAlloc(name, [&] { return ImportContent(bytes, name, options); });
}

Result<Trace> ImportFile(const std::string& path, const ImportOptions& options) {
  const std::string_view name = options.name.empty() ? std::string_view(path) : options.name;
  return CatchBadAlloc(name, [&] { return ImportContent(InputFile::Open(path), name, options); });
}

Result<Trace> ImportDescriptor(int descriptor, const ImportOptions& options) {
  return CatchBadAlloc(options.name, [&] {
    const std::string name = NameOfDescriptor(descriptor, options);
    return ImportContent(InputFile::FromDescriptor(descriptor, name), name, options);
  });
}

Result<Trace> ImportRecording(std::span<const RecordingBlock> blocks, const ImportOptions& options) {
  return CatchBadAlloc("the recording", [&]() -> Result<Trace> {
    TraceBuilder builder;
    builder.info().format = "opscope";
    AppendUint(&builder.info().format_version, kFormatMajor);
    builder.info().format_version += '.';
    AppendUint(&builder.info().format_version, kPlainMinor);
    RecordingReader reader(&builder);
    uint64_t bytes = 0;
    for (const RecordingBlock& block : blocks) {
      reader.AddBlock(block.type, block.bytes, -1);
      bytes += block.bytes.size();
    }
    reader.Finish(options, bytes);
    ReadRanksAndHosts(&builder);
    return builder.Build(options.max_threads);
  });
}

}  // namespace opscope
