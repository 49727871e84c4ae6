// A queue between the thread of the server and those that compute. No bound is needed: each connection has at most one
// request in it.
// SPDX-License-Identifier: Apache-2.0
#include "view/work_queue.h"

#include <chrono>

namespace opscope {

void WorkQueue::Put(Work work) {
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  arrived_.notify_one();
}

std::optional<WorkQueue::Work> WorkQueue::Take() {
  const MutexLock lock(mutex_);
  while (waiting_.empty() && !ends_)
    arrived_.wait(mutex_);
  if (ends_) return std::nullopt;
  Work work = std::move(waiting_.front());
  waiting_.pop_front();
  ++running_;
  return work;
}

void WorkQueue::Finish(Done done) {
  {
    const MutexLock lock(mutex_);
    done_.push_back(std::move(done));
    --running_;
  }
  finished_.notify_all();
}

std::vector<WorkQueue::Done> WorkQueue::TakeDone() {
  const MutexLock lock(mutex_);
  return std::exchange(done_, {});
}

void WorkQueue::End() {
  {
    const MutexLock lock(mutex_);
    ends_ = true;
  }
  arrived_.notify_all();
}

bool WorkQueue::WaitUntilIdle(int64_t ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  const MutexLock lock(mutex_);
  while (running_ > 0) {
    if (!finished_.wait_until(mutex_, deadline)) return running_ == 0;
  }
  return true;
}

}  // namespace opscope
