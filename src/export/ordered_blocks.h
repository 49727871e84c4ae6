// Makes the blocks of a file on several threads and passes them on in order. Workers run at most kAhead blocks per
// thread ahead of the next block to pass on, so memory holds a few blocks and not the file.
//
// Thread rule: Run calls workers on several threads and `take` on the caller's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/thread_team.h"

namespace opscope {

template <typename Block, typename MakeWorker, typename Take>
class OrderedBlocks {
 public:
  // make_worker() returns an object, one per thread, whose operator()(size_t, Block) makes a block in the memory of an
  // old one. take(const Block&) returns false to stop early.
  OrderedBlocks(size_t count, MakeWorker make_worker, Take take)
      : count_(count), make_worker_(make_worker), take_(take) {}

  void Run(size_t threads) {
    threads = std::min(threads, count_ / 2);
    if (threads < 2) {
      auto worker = make_worker_();
      Block block;
      for (size_t i = 0; i < count_; ++i) {
        block = worker(i, std::move(block));
        if (!take_(block)) return;
      }
      return;
    }
    ThreadTeam team(threads + 1);  // the caller only passes blocks on
    if (team.size() < 2) return Run(1);
    slots_.resize(threads * kAhead);
    team.Run([this](size_t member) { OrStop([&] { member == 0 ? TakeAll() : MakeBlocks(); }); });
  }

 private:
  static constexpr size_t kAhead = 3;

  // Runs one member of the team. If it throws (std::bad_alloc), the other members stop waiting, and ThreadTeam rethrows
  // on the caller's thread.
  template <typename Part>
  void OrStop(Part part) {
    try {
      part();
    } catch (...) {
      const MutexLock lock(mutex_);
      stopped_ = true;
      room_.notify_all();
      ready_.notify_all();
      throw;
    }
  }

  void MakeBlocks() {
    auto worker = make_worker_();
    MutexLock lock(mutex_);
    while (true) {
      while (!stopped_ && next_ < count_ && next_ >= taken_ + slots_.size())
        room_.wait(mutex_);
      if (stopped_ || next_ >= count_) return;
      const size_t block = next_++;
      Block spare;
      if (!spares_.empty()) {
        spare = std::move(spares_.back());
        spares_.pop_back();
      }
      lock.unlock();
      Block made = worker(block, std::move(spare));
      lock.lock();
      slots_[block % slots_.size()] = std::move(made);
      if (block == taken_) ready_.notify_one();
    }
  }

  void TakeAll() {
    MutexLock lock(mutex_);
    while (taken_ < count_) {
      std::optional<Block>& slot = slots_[taken_ % slots_.size()];
      while (!slot.has_value() && !stopped_)
        ready_.wait(mutex_);
      if (!slot.has_value()) return;
      Block block = std::move(*slot);
      slot.reset();
      lock.unlock();
      const bool go_on = take_(block);
      lock.lock();
      spares_.push_back(std::move(block));
      ++taken_;
      if (!go_on) {
        stopped_ = true;
        room_.notify_all();
        return;
      }
      room_.notify_all();
    }
  }

  size_t count_;
  MakeWorker make_worker_;
  Take take_;
  Mutex mutex_;
  ConditionVariable room_, ready_;
  std::vector<std::optional<Block>> slots_;               // block i waits in slot i % size
  std::vector<Block> spares_ OPSCOPE_GUARDED_BY(mutex_);  // blocks already passed on, kept for their memory
  size_t next_ OPSCOPE_GUARDED_BY(mutex_) = 0;            // the next block to make
  size_t taken_ OPSCOPE_GUARDED_BY(mutex_) = 0;           // the next block to pass on
  bool stopped_ OPSCOPE_GUARDED_BY(mutex_) = false;
};

}  // namespace opscope
