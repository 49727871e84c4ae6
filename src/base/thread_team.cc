// Helpers wait on a condition variable for a numbered job. A job that the caller has finished alone is
// withdrawn before the helpers wake up, so on a busy machine the caller never waits for a thread that has
// not begun.
// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/signals_blocked.h"

namespace opscope {

unsigned AllowedProcessors() {
  cpu_set_t allowed;
  // Refused on machines of more than 1024 processors.
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return std::max(1u, std::thread::hardware_concurrency());
  return std::max(1u, static_cast<unsigned>(CPU_COUNT(&allowed)));
}

size_t DefaultThreadCount() {
  constexpr unsigned kMaxThreads = 8;  // beyond them memory, not processors, sets the pace
  return std::min(AllowedProcessors(), kMaxThreads);
}

ThreadTeam::ThreadTeam(size_t members) {
  if (members < 2) return;
  helpers_.reserve(members - 1);
  const SignalsBlocked blocked;  // helpers inherit the mask
  while (helpers_.size() + 1 < members) {
    const auto help = [](void* team) -> void* {
      auto* self = static_cast<ThreadTeam*>(team);
      size_t member = 0;
      {
        const MutexLock lock(self->mutex_);
        member = ++self->started_;
      }
      self->Help(member);
      return nullptr;
    };
    pthread_t helper;
    if (pthread_create(&helper, nullptr, help, this) != 0) break;
    helpers_.push_back(helper);
  }
}

ThreadTeam::~ThreadTeam() {
  {
    const MutexLock lock(mutex_);
    ends_ = true;
  }
  work_.notify_all();
  for (const pthread_t helper : helpers_)
    pthread_join(helper, nullptr);
}

void ThreadTeam::Call(Job job, size_t member) {
  try {
    job.call(job.context, member);
  } catch (...) {
    const MutexLock lock(mutex_);
    if (!thrown_) thrown_ = std::current_exception();
  }
}

void ThreadTeam::RunJob(Job job) {
  {
    const MutexLock lock(mutex_);
    job_ = job;
    ++number_;
  }
  work_.notify_all();
  Call(job, 0);
  const MutexLock lock(mutex_);
  job_ = {};
  while (active_ != 0)
    idle_.wait(mutex_);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void ThreadTeam::Help(size_t member) {
  MutexLock lock(mutex_);
  for (uint64_t done = 0;;) {
    while (!ends_ && (job_.call == nullptr || number_ == done))
      work_.wait(mutex_);
    if (ends_) return;
    const Job job = job_;
    done = number_;
    ++active_;
    lock.unlock();
    Call(job, member);
    lock.lock();
    if (--active_ == 0) idle_.notify_one();
  }
}

}  // namespace opscope
