// Reads many blocks of events at once. The text is divided where an event seems to begin, helper threads read the
// blocks, and the caller joins them in order. A division was right if the block before it ends exactly there. If not,
// the rest goes back to the source and the caller reads on sequentially, so a wrong guess costs only time.
//
// Thread rule: Run by one thread, which starts and ends the helpers' work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/thread_team.h"
#include "import/chrome/block.h"
#include "import/text/text_source.h"

namespace opscope {

class ChromePipeline {
 public:
  // members: number of reading threads, including the caller. A block with an event longer than block_bytes is longer,
  // as long as all blocks in flight fit into most_bytes.
  ChromePipeline(TextSource* source, size_t members, size_t block_bytes, uint64_t most_bytes);
  ~ChromePipeline();

  // REQUIRES: an event was read.
  // Reads from source->offset(), where an element begins, and calls `join` for each block in order with its part.
  // Returns when join returns false, at the end of the text, or after a block that does not end where the next one
  // begins. The source is then after the last byte that was joined. comma_due as in ChromeBlockEnd.
  using Join = std::function<bool(const ChromePart& part, const ChromeBlockEnd& end)>;
  void Run(const ChromeConventions& conventions, const Join& join, bool* comma_due);

  uint64_t memory_bytes() const;

 private:
  enum class State : uint8_t { kFree, kReady, kTaken, kDone };
  struct Slot {
    State state = State::kFree;
    TextBlock block;
    ChromePart part;
    ChromeBlockEnd end;
    std::exception_ptr thrown;
  };

  void Lead(const Join& join, bool* comma_due);
  void Help(size_t member);
  bool CutBlock();
  void AwaitOldest();
  bool TakeBlock(size_t member) OPSCOPE_REQUIRES(mutex_);
  void GiveBack(size_t consumed);
  Slot& At(size_t i) { return *slots_[(first_ + i) % slots_.size()]; }

  TextSource* source_;
  const size_t block_bytes_;
  ThreadTeam team_;
  std::vector<ChromeBlockReader> readers_;  // by member
  std::vector<std::unique_ptr<Slot>> slots_;
  const uint64_t most_block_bytes_;
  ChromeConventions conventions_;
  mutable Mutex mutex_;
  ConditionVariable work_, done_;
  // The blocks in flight, oldest first: a ring of slots_. Written by the caller under the mutex.
  size_t first_ = 0, count_ = 0;
  size_t most_ = 0;  // blocks in flight at once; grows while the guesses are right
  bool ends_ OPSCOPE_GUARDED_BY(mutex_) = false;
};

}  // namespace opscope
