// Reads traces: `.opscope` files, recordings still in memory, Kineto and Chrome JSON, and what docs/formats.md lists.
// The format is found by content, never by the name of the file; gzip and zstd are transparent.
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

struct ImportOptions {
  uint64_t max_memory = 0;  // bytes that the columns and the input buffer may hold together; 0: no limit
  // Threads that read at once, the caller among them; the others end before the call does. 0: as many as the size of
  // the input deserves and the caller's processors allow, at most 8. The Trace is the same in any case.
  uint32_t max_threads = 0;
  // Called now and then on the caller's thread: bytes of the file that were read (compressed ones where it is
  // compressed), and all of them, or 0 where nobody knows how many there are: a pipe.
  std::function<void(uint64_t bytes_read, uint64_t total_bytes)> on_progress = nullptr;
  std::string name = {};  // of the file in messages; empty: its path
  // One of ImportFormatNames(): the input is read as that, whatever it looks like. Empty: its content tells.
  std::string format = {};
  // Why the file, a framework's own, is read where its records were to be: a Problem of the Trace says so.
  std::string stands_in_because = {};
};

// The formats that are read, by the names that TraceInfo::format has.
[[nodiscard]] std::span<const std::string_view> ImportFormatNames();

// kNotFound, kIo: the system's refusal. kInvalidArgument: options.format is no format. kMalformed: damaged before any
// whole event. kUnsupported: a format or version that this build does not read. Damage after the first whole event is
// not an error: the Trace holds everything before it and a Problem.
[[nodiscard]] Result<Trace> ImportFile(const std::string& path, const ImportOptions& options = {});

// The same for what a descriptor gives from where it stands to its end: standard input, a socket, a file that only
// another process may open. It is read itself and stays open. `options.name` stands for the file in messages.
[[nodiscard]] Result<Trace> ImportDescriptor(int descriptor, const ImportOptions& options = {});

// The same for bytes; `name` stands for the file in messages.
[[nodiscard]] Result<Trace> ImportBytes(std::span<const std::byte> bytes, std::string_view name,
                                        const ImportOptions& options = {});

// A block of a recording: type (src/wire/FORMAT.md) and payload.
struct RecordingBlock {
  uint16_t type = 0;
  std::span<const std::byte> bytes;
};

// A recording in memory, as a closed window gives it. The bytes are not needed after the call.
[[nodiscard]] Result<Trace> ImportRecording(std::span<const RecordingBlock> blocks, const ImportOptions& options = {});

}  // namespace opscope
