// Buffers for CUPTI's activity records: touched before they are asked for, given back and used again, under a cap. And
// the ones that CUPTI has filled, until somebody takes them.
//
// CUPTI asks for a buffer, and gives it back, on threads of the program and of its own, in the midst of its calls:
// these two take no longer than a push and a pop, allocate nothing unless the pool is empty, and call nothing of
// CUPTI's.
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
  bool is_thrown_away = false;  // it was given beyond the cap: its records are counted and no more
};

class BufferPool {
 public:
  static constexpr size_t kBufferBytes = size_t{4} << 20;
  static constexpr size_t kDefaultCap = 64;  // buffers

  // Room for the first requests. No more than `cap` buffers will be out.
  void Prepare(size_t buffers, size_t cap);
  // Null: the cap is reached, and may_decline. Without that a buffer beyond the cap comes.
  uint8_t* Take(bool may_decline);
  // From CUPTI. False: it is none of ours.
  bool Fill(uint8_t* bytes, size_t valid);
  // The oldest one that was filled. False: there is none.
  bool TakeFilled(FilledBuffer* filled);
  void GiveBack(const FilledBuffer& filled);
  // Touches buffers until some are ready again. For a thread that nobody waits for.
  void KeepReady();

  size_t with_cupti() const;  // that it has not given back
  // Frees what is not with CUPTI.
  void Release();

 private:
  struct Lent {
    uint8_t* bytes;
    bool is_thrown_away;
  };
  static uint8_t* NewTouched();

  mutable Mutex mutex_;
  size_t cap_ OPSCOPE_GUARDED_BY(mutex_) = kDefaultCap;
  std::vector<uint8_t*> ready_ OPSCOPE_GUARDED_BY(mutex_);
  std::vector<Lent> lent_ OPSCOPE_GUARDED_BY(mutex_);
  std::deque<FilledBuffer> filled_ OPSCOPE_GUARDED_BY(mutex_);
  size_t in_use_ OPSCOPE_GUARDED_BY(mutex_) =
      0;  // lent or filled, or taken from there, but for those that are thrown away
};

}  // namespace opscope::cuda
