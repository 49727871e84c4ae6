// A buffer moves between two lists: free -> CUPTI fills it -> filled -> the collector decodes it -> free. Pages are
// touched when a buffer is made, so that no page fault happens inside CUPTI's callback.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/buffer_pool.h"

#include <stdlib.h>

#include <algorithm>
#include <cstring>

namespace opscope::cuda {
namespace {

constexpr size_t kReady = 2;  // buffers; touched in advance, because a first use costs a thousand page faults

}  // namespace

uint8_t* BufferPool::NewTouched() {
  void* bytes = nullptr;
  if (posix_memalign(&bytes, 4096, kBufferBytes) != 0) return nullptr;
  std::memset(bytes, 0, kBufferBytes);
  return static_cast<uint8_t*>(bytes);
}

void BufferPool::Prepare(size_t buffers, size_t cap) {
  size_t missing = 0;
  {
    const MutexLock lock(mutex_);
    cap_ = cap;
    ready_.reserve(cap);
    outstanding_.reserve(cap);
    missing = std::min(buffers, cap) > ready_.size() ? std::min(buffers, cap) - ready_.size() : 0;
  }
  for (; missing > 0; --missing) {
    uint8_t* bytes = NewTouched();
    if (bytes == nullptr) return;
    const MutexLock lock(mutex_);
    ready_.push_back(bytes);
  }
}

uint8_t* BufferPool::Take(bool may_decline) {
  bool is_discarded = false;
  {
    const MutexLock lock(mutex_);
    is_discarded = in_use_ >= cap_;
    if (is_discarded && may_decline) return nullptr;
    if (!is_discarded) ++in_use_;
    if (!ready_.empty()) {
      uint8_t* bytes = ready_.back();
      ready_.pop_back();
      outstanding_.push_back({bytes, is_discarded});
      return bytes;
    }
  }
  uint8_t* bytes = NewTouched();
  const MutexLock lock(mutex_);
  if (bytes != nullptr) {
    outstanding_.push_back({bytes, is_discarded});
  } else if (!is_discarded) {
    --in_use_;
  }
  return bytes;
}

bool BufferPool::Fill(uint8_t* bytes, size_t valid) {
  const MutexLock lock(mutex_);
  const auto found = std::find_if(outstanding_.begin(), outstanding_.end(),
                                  [&](const Outstanding& each) { return each.bytes == bytes; });
  if (found == outstanding_.end()) return false;
  try {
    filled_.push_back({bytes, std::min(valid, kBufferBytes), found->is_discarded});
  } catch (...) {  // the buffer stays outstanding, which the window reports as late
    return false;
  }
  outstanding_.erase(found);
  return true;
}

bool BufferPool::TakeFilled(FilledBuffer* filled) {
  const MutexLock lock(mutex_);
  if (filled_.empty()) return false;
  *filled = filled_.front();
  filled_.pop_front();
  return true;
}

void BufferPool::Return(const FilledBuffer& filled) {
  {
    const MutexLock lock(mutex_);
    if (!filled.is_discarded) {
      --in_use_;
      if (ready_.size() < cap_) return ready_.push_back(filled.bytes);
    }
  }
  free(filled.bytes);
}

void BufferPool::KeepReady() {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (ready_.size() >= kReady || in_use_ + ready_.size() >= cap_) return;
    }
    uint8_t* bytes = NewTouched();
    if (bytes == nullptr) return;
    const MutexLock lock(mutex_);
    ready_.push_back(bytes);
  }
}

size_t BufferPool::with_cupti() const {
  const MutexLock lock(mutex_);
  return outstanding_.size();
}

void BufferPool::Release() {
  std::vector<uint8_t*> freed;
  {
    const MutexLock lock(mutex_);
    freed.swap(ready_);
  }
  for (uint8_t* bytes : freed)
    free(bytes);
}

}  // namespace opscope::cuda
