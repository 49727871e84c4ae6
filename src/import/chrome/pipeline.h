// Many blocks of events at once: the text is divided where an event seems to begin, helpers read the blocks, and the
// caller joins them in order. A block proves the guess behind it: when it does not end exactly there, the rest goes
// back to the source and the caller reads on one by one (chrome_json.cc), so that a wrong guess costs time only.
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
  // members: threads that read, the caller among them. A block is longer than block_bytes where an event is, as long
  // as all that are on their way can be within most_bytes.
  ChromePipeline(TextSource* source, size_t members, size_t block_bytes, uint64_t most_bytes);
  ~ChromePipeline();

  // REQUIRES: an event was read.
  // Reads from source->offset(), where an element is due, and calls `join` for one block after the other with what was
  // read of it. Returns when join does not return true, the text has ended, or a block ended anyhow but at the next
  // one; the source then stands behind the last byte that was read. comma_due as in ChromeBlockEnd.
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
  // The blocks on their way, oldest first: written by the caller under the mutex.
  size_t first_ = 0, count_ = 0;
  size_t most_ = 0;  // of them at once: grows while the guesses are right
  bool ends_ OPSCOPE_GUARDED_BY(mutex_) = false;
};

}  // namespace opscope
