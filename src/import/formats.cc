// The list of formats. The content decides, not the name of a file: each format inspects the first 64 KiB. Formats are
// tried in order, so those that are recognised by a signature or a first member come before those that accept much: any
// JSON may be a Chrome trace, and any text may begin like a collapsed stack.
// SPDX-License-Identifier: Apache-2.0
#include "import/formats.h"

#include <algorithm>
#include <vector>

#include "import/importer.h"
#include "wire/container.h"

namespace opscope {
namespace {

// One row per format, tried in order.
constexpr Format kFormats[] = {
    {.name = "opscope", .detect = LooksLikeOpscope, .import = ImportOpscope},
    {.name = "paddle-protobuf", .detect = LooksLikePaddleProtobuf, .import = ImportPaddleProtobuf},
    {.name = "xplane", .detect = LooksLikeXPlane, .import = ImportXPlane},
    {.name = kMegEngineGraphFormat, .detect = LooksLikeMegEngineGraph, .stream = ImportMegEngineGraph},
    {.name = "torch-memory-timeline", .detect = LooksLikeMemoryTimeline, .stream = ImportMemoryTimeline},
    {.name = "torch-execution-trace", .detect = LooksLikeExecutionTrace, .stream = ImportExecutionTrace},
    {.name = "torch-memory-snapshot", .detect = LooksLikePickle, .import = ImportMemorySnapshotPickle},
    {.name = "torch-memory-snapshot", .detect = LooksLikeMemorySnapshotJson, .stream = ImportMemorySnapshotJson},
    {.name = "chrome-json", .detect = LooksLikeJson, .stream = ImportChromeOfAnyWriter, .dialects = AllChromeDialects},
    {.name = "collapsed-stacks",
     .detect = LooksLikeCollapsedStacks,
     .stream = ImportCollapsedStacks},  // any other text may begin like a stack
};

// The format that the user names, whatever the content; of two formats with that name the one that the content matches.
Result<const Format*> FindNamedFormat(std::span<const std::byte> head, const std::string& wanted) {
  const Format* named = nullptr;
  for (const Format& format : kFormats) {
    if (!format.IsNamed(wanted)) continue;
    if (format.detect(head)) return &format;
    named = &format;
  }
  if (named != nullptr) return named;
  std::string message = "there is no format '" + wanted + "'; choose from";
  for (const std::string_view name : ImportFormatNames())
    message.append(message.ends_with("from") ? " " : ", ").append(name);
  return Error{ErrorCode::kInvalidArgument, message};
}

}  // namespace

bool Format::IsNamed(std::string_view format) const {
  return format == name || (dialects != nullptr && dialects().Named(format).format == format);
}

Result<const Format*> FindFormat(std::span<const std::byte> content, std::string_view name, const std::string& wanted) {
  const std::span<const std::byte> head = content.first(std::min(content.size(), kHeadBytes));
  if (!wanted.empty() && !head.empty()) return FindNamedFormat(head, wanted);
  for (const Format& format : kFormats) {
    if (format.detect(head)) return &format;
  }
  const char* what = head.empty() ? ": at byte 0: the file is empty"
                                  : ": at byte 0: not a trace in a format that opscope reads (also in gzip or zstd)";
  return Error{head.empty() ? ErrorCode::kMalformed : ErrorCode::kUnsupported, std::string(name) + what, 0};
}

std::span<const std::string_view> ImportFormatNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    const auto add = [&](std::string_view name) {
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    };
    for (const Format& format : kFormats) {
      add(format.name);
      if (format.dialects == nullptr) continue;
      for (const ChromeDialect* dialect : format.dialects().list())
        add(dialect->format);
    }
    return all;
  }();
  return names;
}

}  // namespace opscope
