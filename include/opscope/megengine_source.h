// The MegEngine source: libopscope_megengine, one library, compiled without
// MegEngine and not linked to it. MegEngine's own recorder records. When it has
// stopped, this source reads the records in the memory where they lie, by its own
// declarations of their layouts, and writes them into the recording
// (megengine_event.h). Beside `opscope_source` (source.h) it exports
// `opscope_megengine_source`, which returns this table.
//
// Thread rule: any thread; calls run one after the other. It never takes Python's
// GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "opscope/source.h"

namespace opscope {

// Version of MegEngineSource.
inline constexpr uint32_t kMegEngineSourceAbi = 2;

// The interface that MegEngine's front end needs beyond Source.
struct MegEngineSource {
  // "megengine"; no flags, one recording at a time.
  Source source;
  uint32_t abi = kMegEngineSourceAbi;

  // Copies the records behind the result of stop_profile() into the running
  // recording, as its next piece; import joins pieces. function_record: the pointer
  // in the capsule of the callable's __self__. The callable stays the caller's, who
  // drops it and, after true, never calls it. False: `error` (of `size` bytes) says
  // why nothing, or only a part, was copied; the file that MegEngine itself writes
  // is then complete. For a window with backtraces the caller must hold Python's
  // GIL.
  bool (*take)(const void* function_record, char* error, size_t size) = nullptr;
  // Frees what was copied, so that dropping the callable, for which the caller
  // holds Python's GIL, takes no time. Does nothing if MegEngine's function is
  // unknown; the records then go with the callable. Backtraces: as take. REQUIRES:
  // take returned true for it; the callable is not called any more.
  void (*free)(const void* function_record) = nullptr;
  // Number of MegEngine's records in the running, or the last, recording.
  uint64_t (*taken)() = nullptr;
};

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::MegEngineSource* opscope_megengine_source();
