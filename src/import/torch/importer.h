// The importers of PyTorch's own formats. The contract is in import/importer.h.
//
// Thread rule: any thread, one builder per call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "import/text/text_source.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

// Files by export_memory_timeline, raw or summed (memory_timeline.cc).
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

// The same snapshots as a pickle, by torch.cuda.memory._dump_snapshot() (memory_snapshot_pickle.cc).
[[nodiscard]] Status ImportMemorySnapshotPickle(std::span<const std::byte> bytes, std::string_view name,
                                                const ImportOptions& options, TraceBuilder* builder);
[[nodiscard]] bool LooksLikePickle(std::span<const std::byte> head);

}  // namespace opscope
