// Consumes the results of several threads one at a time in the order of their indices. The thread that finishes the
// next result consumes it, and all further ones that are ready; no thread waits.
//
//   InOrder order(blocks.size());
//   team.ForEach(blocks.size(), [&](size_t block, size_t) {
//     parts[block] = Count(blocks[block]);
//     order.Finished(block, [&](size_t next) { Join(&parts[next]); });
//   });
//
// Thread rule: any thread; uses never overlap.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/mutex.h"

namespace opscope {

class InOrder {
 public:
  explicit InOrder(size_t count) : is_ready_(count) {}

  // REQUIRES: once for each index. When all calls have returned, and none threw, all results were used.
  template <typename Use>
  void Finished(size_t index, const Use& use) {
    MutexLock lock(mutex_);
    is_ready_[index] = 1;
    if (is_in_use_) return;
    is_in_use_ = true;
    while (next_ < is_ready_.size() && is_ready_[next_] != 0) {
      lock.unlock();
      use(next_);
      lock.lock();
      ++next_;
    }
    is_in_use_ = false;
  }

 private:
  Mutex mutex_;
  std::vector<uint8_t> is_ready_ OPSCOPE_GUARDED_BY(mutex_);
  bool is_in_use_ OPSCOPE_GUARDED_BY(mutex_) = false;  // by a thread, which alone reads and changes next_
  size_t next_ = 0;
};

}  // namespace opscope
