// One record of the CUDA source (opscope/cuda_event.h) as the importer sees it. The size of the details is not trusted.
//
// Thread rule: plain values; views live as long as the recording's bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "opscope/cuda_event.h"
#include "opscope/record.h"
#include "opscope/types.h"

namespace opscope {

struct CudaRecord {
  CudaEvent event = CudaEvent::kNone;
  bool is_outside = false;  // its time is outside of the window or in a pause: it counts only if its call is inside
  uint32_t correlation = 0;
  Timestamp start = {};
  Duration duration = {};
  StringId name = StringId::kEmpty;
  std::span<const std::byte> details;

  // Members beyond the end of the details are 0.
  template <typename Details>
  Details As() const {
    Details copy;
    if (details.empty()) return copy;  // their address may be null
    std::memcpy(static_cast<void*>(&copy), details.data(), std::min(sizeof(copy), details.size()));
    return copy;
  }
};

inline CudaEvent EventOf(const Record& record) {
  return static_cast<CudaEvent>(record.scope);
}
inline bool IsOfCuda(const Record& record) {
  return record.kind == RecordKind::kNative && record.source == RecordSource::kCuda && record.scope < kCudaEvents;
}

// A record about the source itself.
inline bool IsOwnNote(CudaEvent event) {
  return event == CudaEvent::kClock || event == CudaEvent::kDevice || event == CudaEvent::kWindow ||
         event == CudaEvent::kPaused;
}
// A call of the runtime or the driver.
inline bool IsCall(CudaEvent event) {
  return event == CudaEvent::kRuntimeCall || event == CudaEvent::kDriverCall;
}
// Work of a device on a stream.
inline bool IsWork(CudaEvent event) {
  return event == CudaEvent::kKernel || event == CudaEvent::kCopy || event == CudaEvent::kPeerCopy ||
         event == CudaEvent::kSet || event == CudaEvent::kGraph;
}

}  // namespace opscope
