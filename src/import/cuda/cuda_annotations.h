// Kineto's gpu_user_annotation: when the devices worked for each user range of the program. There is one span for each
// pair of range and stream, from the begin of the first to the end of the last work that was launched in the range.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <vector>

#include "import/cuda/cuda_devices.h"
#include "trace/builder.h"

namespace opscope {

class CudaAnnotations {
 public:
  explicit CudaAnnotations(TraceBuilder* builder) : builder_(builder) {}

  // Adds a kernel, copy or set on `stream` that was launched in `range`.
  void Extend(AddedSpan range, TrackId stream, Timestamp start, Timestamp end);
  // Adds the spans.
  void Finish(CudaDevices* devices);

 private:
  struct Annotation {
    AddedSpan range;
    TrackId stream;
    Timestamp start, end;
  };
  TraceBuilder* builder_;
  std::vector<Annotation> annotations_;
  tsl::robin_map<uint64_t, uint32_t> number_of_;  // by range and stream
  uint64_t last_key_ = ~uint64_t{0};
  uint32_t last_ = 0;
};

}  // namespace opscope
