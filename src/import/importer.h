// The importers and how one is found. Each reads one format into a TraceBuilder; import.cc detects the format by the
// first 64 KiB of the (decompressed) content and calls it. A new format is one declaration here, one row in import.cc
// and one source file. Texts are read as a stream (TextSource), binary formats get the bytes.
//
// Contract of every importer: what is whole is added to `builder`; damage after the first whole event
// is a problem row and success; damage before it is kMalformed with "NAME: at byte N: what is wrong".
// It sets builder->info().format, format_version, epoch_ns and options_json. With
// options.max_memory != 0 it stops, with an `over_memory_limit` problem, when the text that it holds plus
// builder->memory_bytes() passes the limit.
//
// Thread rule: any thread, one builder per call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "import/text_source.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

// Chrome JSON and Kineto's dialect of it (chrome_json.cc), as a stream or lying in memory without padding.
[[nodiscard]] Status ImportChromeText(TextSource* text, std::string_view name, const ImportOptions& options,
                                      TraceBuilder* builder);
// How the text is divided; the Trace is the same in any case.
struct ChromeBlockSizes {
  size_t first = size_t{256} << 10;  // read before helpers are worth it
  size_t block = size_t{1} << 20;
};
[[nodiscard]] Status ImportChromeText(TextSource* text, std::string_view name, const ImportOptions& options,
                                      const ChromeBlockSizes& sizes, TraceBuilder* builder);
[[nodiscard]] Status ImportChromeJson(std::span<const std::byte> text, std::string_view name,
                                      const ImportOptions& options, TraceBuilder* builder);
[[nodiscard]] bool LooksLikeJson(std::span<const std::byte> text);  // '{' or '[' after blanks and a byte order mark

// What MegEngine's get_profile() gives of a static graph (megengine_graph.cc).
[[nodiscard]] Status ImportMegEngineGraph(TextSource* text, std::string_view name, const ImportOptions& options,
                                          TraceBuilder* builder);
[[nodiscard]] bool LooksLikeMegEngineGraph(std::span<const std::byte> head);

// What export_memory_timeline writes, raw or as sums (memory_timeline.cc).
[[nodiscard]] Status ImportMemoryTimeline(TextSource* text, std::string_view name, const ImportOptions& options,
                                          TraceBuilder* builder);
[[nodiscard]] bool LooksLikeMemoryTimeline(std::span<const std::byte> head);

// PyTorch execution traces (execution_trace.cc).
[[nodiscard]] Status ImportExecutionTrace(TextSource* text, std::string_view name, const ImportOptions& options,
                                          TraceBuilder* builder);
[[nodiscard]] bool LooksLikeExecutionTrace(std::span<const std::byte> head);

// Snapshots of torch's caching allocator, dumped as JSON (memory_snapshot_json.cc).
[[nodiscard]] Status ImportMemorySnapshotJson(TextSource* text, std::string_view name, const ImportOptions& options,
                                              TraceBuilder* builder);
[[nodiscard]] bool LooksLikeMemorySnapshotJson(std::span<const std::byte> head);

// The same as a pickle, torch.cuda.memory._dump_snapshot() (memory_snapshot_pickle.cc).
[[nodiscard]] Status ImportMemorySnapshotPickle(std::span<const std::byte> bytes, std::string_view name,
                                                const ImportOptions& options, TraceBuilder* builder);
[[nodiscard]] bool LooksLikePickle(std::span<const std::byte> head);

// Collapsed stacks, as flamegraph.pl takes them (collapsed_stacks.cc).
[[nodiscard]] Status ImportCollapsedStacks(TextSource* text, std::string_view name, const ImportOptions& options,
                                           TraceBuilder* builder);
[[nodiscard]] bool LooksLikeCollapsedStacks(std::span<const std::byte> head);

// `.opscope` files: raw chunks, column blocks, any mix (opscope_file.cc).
[[nodiscard]] Status ImportOpscope(std::span<const std::byte> bytes, std::string_view name,
                                   const ImportOptions& options, TraceBuilder* builder);

// Paddle's protobuf dump (paddle_protobuf.cc).
[[nodiscard]] Status ImportPaddleProtobuf(std::span<const std::byte> bytes, std::string_view name,
                                          const ImportOptions& options, TraceBuilder* builder);
[[nodiscard]] bool LooksLikePaddleProtobuf(std::span<const std::byte> head);

// XLA's profiles, of JAX and others (xplane.cc).
[[nodiscard]] Status ImportXPlane(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                                  TraceBuilder* builder);
[[nodiscard]] bool LooksLikeXPlane(std::span<const std::byte> head);

}  // namespace opscope
