// A queue between the thread of the server and those that compute. No bound is needed: each connection has at most one
// request in it. Put allocates the list node of the response too, so that a thread can always hand over that it has
// finished.
// SPDX-License-Identifier: Apache-2.0
#include "view/request_queue.h"

#include <chrono>
#include <utility>

namespace opscope {

void RequestQueue::Put(PendingRequest request) {
  {
    const MutexLock lock(mutex_);
    if (reserved_.size() <= waiting_.size() + running_) reserved_.emplace_back();
    waiting_.push_back(std::move(request));
  }
  arrived_.notify_one();
}

std::optional<PendingRequest> RequestQueue::Take() {
  const MutexLock lock(mutex_);
  while (waiting_.empty() && !ends_)
    arrived_.wait(mutex_);
  if (ends_) return std::nullopt;
  std::optional<PendingRequest> request = std::move(waiting_.front());
  waiting_.pop_front();
  ++running_;
  return request;
}

void RequestQueue::Finish(FinishedResponse response) {
  {
    const MutexLock lock(mutex_);
    reserved_.front() = std::move(response);
    finished_.splice(finished_.end(), reserved_, reserved_.begin());
    --running_;
  }
  has_finished_.notify_all();
}

std::list<FinishedResponse> RequestQueue::TakeFinished() {
  const MutexLock lock(mutex_);
  return std::exchange(finished_, {});
}

void RequestQueue::End() {
  {
    const MutexLock lock(mutex_);
    ends_ = true;
  }
  arrived_.notify_all();
}

bool RequestQueue::WaitUntilIdle(int64_t ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  const MutexLock lock(mutex_);
  while (running_ > 0) {
    if (!has_finished_.wait_until(mutex_, deadline)) return running_ == 0;
  }
  return true;
}

}  // namespace opscope
