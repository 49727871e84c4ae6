// Buffers for CUPTI's activity records, reused and limited in number, and the queue of filled buffers.
//
// CUPTI requests and returns buffers inside its own functions, on threads of the program and on its own. So both take
// no longer than a push or a pop, allocate only when the pool is empty, and do not call CUPTI.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/mutex.h"

namespace opscope::cuda {

struct FilledBuffer {
  uint8_t* bytes = nullptr;
  size_t valid = 0;
  bool is_discarded = false;  // taken beyond the cap: its records are counted but not written
};

class BufferPool {
 public:
  static constexpr size_t kBufferBytes = size_t{4} << 20;
  static constexpr size_t kDefaultCap = 64;  // buffers

  // Allocates buffers for the first requests. At most `cap` buffers will be in use.
  void Prepare(size_t buffers, size_t cap);
  // Null: the cap is reached and may_decline is true. Without may_decline the pool returns a buffer beyond the cap.
  uint8_t* Take(bool may_decline);
  // Takes a buffer back from CUPTI. False: it does not belong to this pool.
  bool Fill(uint8_t* bytes, size_t valid);
  // Takes the oldest filled buffer. False: no buffer is filled.
  bool TakeFilled(FilledBuffer* filled);
  void Return(const FilledBuffer& filled);
  // Allocates buffers until kReady are free. Slow: for the collector's thread.
  void KeepReady();

  size_t with_cupti() const;  // buffers that CUPTI has not returned
  // Frees all buffers except those that CUPTI has.
  void Release();

 private:
  struct Outstanding {  // a buffer that CUPTI has
    uint8_t* bytes;
    bool is_discarded;
  };
  static uint8_t* NewTouched();

  mutable Mutex mutex_;
  size_t cap_ OPSCOPE_GUARDED_BY(mutex_) = kDefaultCap;
  std::vector<uint8_t*> ready_ OPSCOPE_GUARDED_BY(mutex_);
  std::vector<Outstanding> outstanding_ OPSCOPE_GUARDED_BY(mutex_);
  std::deque<FilledBuffer> filled_ OPSCOPE_GUARDED_BY(mutex_);
  // Outstanding, filled or with the collector; buffers beyond the cap are not counted.
  size_t in_use_ OPSCOPE_GUARDED_BY(mutex_) = 0;
};

}  // namespace opscope::cuda
