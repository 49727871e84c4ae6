// ReadMegEngineProfile: imports the content as usual, except that the importer of a static graph is replaced by one
// that also reads its operators. Other formats become a Trace as usual.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "import/content.h"
#include "import/megengine/importer.h"
#include "opscope/megengine/operator_profile.h"

namespace opscope {
namespace {

// import(const FormatOverride*) returns the Trace.
template <typename Import>
Result<MegEngineProfile> ReadProfile(std::string_view name, const Import& import) {
  return CatchBadAlloc(name, [&]() -> Result<MegEngineProfile> {
    MegEngineProfile profile;
    const FormatOverride graph = {kMegEngineGraphFormat, [&](TextSource* text, std::string_view of,
                                                             const ImportOptions& options, TraceBuilder* builder) {
                                    return ReadMegEngineOperators(text, of, options, builder, &profile);
                                  }};
    Result<Trace> trace = import(&graph);
    if (!trace.ok()) return trace.error();
    profile.trace = std::move(trace).value();
    return profile;
  });
}

}  // namespace

Result<MegEngineProfile> ReadMegEngineProfile(const std::string& path, const ImportOptions& options) {
  const std::string_view name = options.name.empty() ? std::string_view(path) : options.name;
  return ReadProfile(
      name, [&](const FormatOverride* graph) { return ImportContent(InputFile::Open(path), name, options, graph); });
}

Result<MegEngineProfile> ReadMegEngineProfile(int descriptor, const ImportOptions& options) {
  const std::string name = NameOfDescriptor(descriptor, options);
  return ReadProfile(name, [&](const FormatOverride* graph) {
    return ImportContent(InputFile::FromDescriptor(descriptor, name), name, options, graph);
  });
}

Result<MegEngineProfile> ReadMegEngineProfile(std::span<const std::byte> bytes, std::string_view name,
                                              const ImportOptions& options) {
  return ReadProfile(name, [&](const FormatOverride* graph) { return ImportContent(bytes, name, options, graph); });
}

}  // namespace opscope
