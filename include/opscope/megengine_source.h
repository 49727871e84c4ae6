// The MegEngine source: libopscope_megengine, one library, compiled without MegEngine and not linked to it. MegEngine's
// own recorder records; when it has stopped, this takes the records out of the memory where they lie, by declarations
// of their layouts of its own, and writes them into the recording (megengine_event.h). Beside `opscope_source`
// (source.h) it exports `opscope_megengine_source`, which returns this table.
//
// Thread rule: any thread; calls take turns. Python's GIL is never taken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "opscope/source.h"

namespace opscope {

inline constexpr uint32_t kMegEngineSourceAbi = 2;

struct MegEngineSource {
  Source source;  // "megengine"; it has no flags, and one recording at a time
  uint32_t abi = kMegEngineSourceAbi;

  // Takes the records behind what stop_profile() returned into the recording that runs, as its next piece; import joins
  // pieces. function_record: what the capsule in the callable's __self__ points to; the callable stays the caller's,
  // who drops it and never calls it where this returned true. False: nothing, or a part, was taken, and `error` (of
  // `size` bytes) says why; then what MegEngine itself writes of the callable is whole. Of a window with backtraces the
  // caller holds Python's GIL meanwhile; of others nobody needs to.
  bool (*take)(const void* function_record, char* error, size_t size) = nullptr;
  // Frees what was taken, so that dropping the callable, for which Python's GIL is held, takes no time. Nothing where
  // MegEngine's function is not as known; then the records go with the callable. Backtraces as above. REQUIRES: take
  // returned true of it; nobody calls the callable any more.
  void (*free)(const void* function_record) = nullptr;
  // Records of MegEngine's that the recording that runs, or ran last, has taken.
  uint64_t (*taken)() = nullptr;
};

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::MegEngineSource* opscope_megengine_source();
