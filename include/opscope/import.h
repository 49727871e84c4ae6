// Reads traces: `.opscope` files, recordings still in memory, Kineto and Chrome
// JSON, and the other formats of docs/reference/formats.md. The content decides the format,
// never the file's name. Gzip and zstd are transparent.
//
//   opscope::Result<opscope::Trace> trace = opscope::ImportFile("trace.json.gz", {.max_memory = 4ull << 30});
//   if (!trace.ok()) return Fail(trace.error().message);      // "trace.json.gz: at byte 12: ..."
//   if (trace.value().is_partial()) Warn(trace.value().problems());
//
// Thread rule: any thread; each call is independent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// Limits and hooks of one import. The defaults suit a file of this machine.
struct ImportOptions {
  // Bytes that columns and input buffers may hold together; 0: no limit. At the
  // limit the Trace ends, with the Problem over_memory_limit.
  uint64_t max_memory = 0;
  // Threads that read at once, the caller among them; all others end before the
  // call does. 0: as many as the input's size justifies and the caller's processors
  // allow, at most 8. Does not change the Trace.
  uint32_t max_threads = 0;
  // Called now and then on the caller's thread: bytes of the file read so far
  // (compressed bytes if it is compressed) and their total, 0 if unknown (a pipe).
  std::function<void(uint64_t bytes_read, uint64_t total_bytes)> on_progress = nullptr;
  // Name of the input in messages; empty: its path.
  std::string name = {};
  // One of ImportFormatNames(): read the input as this format whatever it looks
  // like. Empty: detect it.
  std::string format = {};
  // Set by front ends that read a framework's own file instead of the framework's
  // records: the reason, which becomes the Problem framework_file.
  std::string fallback_reason = {};
};

// Names of all formats that can be read; TraceInfo::format is one of them.
[[nodiscard]] std::span<const std::string_view> ImportFormatNames();

// Reads a file. O(bytes), and O(n log n) for spans out of order. kNotFound, kIo:
// the system refused. kInvalidArgument: options.format is unknown. kMalformed:
// damaged before the first whole event. kUnsupported: a format or version that this
// build cannot read. kOutOfMemory: an allocation failed, or max_memory has no room
// for the first whole event. Damage after the first whole event is no error: the
// Trace has everything before it and a Problem.
[[nodiscard]] Result<Trace> ImportFile(const std::string& path, const ImportOptions& options = {});

// Reads from a descriptor's current position to its end: standard input, a socket,
// a file that only another process may open. The descriptor stays open.
// `options.name` names the input in messages.
[[nodiscard]] Result<Trace> ImportDescriptor(int descriptor, const ImportOptions& options = {});

// Reads bytes; they are not needed after the call. `name` names the input in
// messages.
[[nodiscard]] Result<Trace> ImportBytes(std::span<const std::byte> bytes, std::string_view name,
                                        const ImportOptions& options = {});

// A block of a recording: type (src/wire/FORMAT.md) and payload.
struct RecordingBlock {
  uint16_t type = 0;
  std::span<const std::byte> bytes;
};

// Reads a recording in memory: the blocks that opscope_window_read hands out. They
// are not needed after the call.
[[nodiscard]] Result<Trace> ImportRecording(std::span<const RecordingBlock> blocks, const ImportOptions& options = {});

}  // namespace opscope
