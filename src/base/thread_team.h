// Threads for the length of one call: the caller and helpers that it starts and joins. Nothing survives the call,
// so a fork before or after it meets no thread of ours, and helpers block every signal but faults, so that the
// handlers of the program run where they always did.
//
//   ThreadTeam team(DefaultThreadCount());
//   team.ForEach(blocks.size(), [&](size_t block, size_t member) { Decode(blocks[block], &scratch[member]); });
//
// Results must not depend on which member takes which index: only then is output the same on every machine.
//
// Thread rule: used by the thread that made it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "base/mutex.h"

namespace opscope {

// The processors that the calling thread may use.
[[nodiscard]] unsigned AllowedProcessors();

// How many threads help on this machine: one per allowed processor, at most 8.
[[nodiscard]] size_t DefaultThreadCount();

class ThreadTeam {
 public:
  // The caller and members - 1 helpers; fewer when the system gives no more.
  explicit ThreadTeam(size_t members);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  size_t size() const { return helpers_.size() + 1; }

  // Calls work(0) here and work(member) on helpers, and returns when all calls have. A helper that has not begun
  // when work(0) returns does not begin: on busy processors the caller does not wait for them. What a call
  // throws (memory is short) is thrown here, after all have ended.
  template <typename Work>
  void Run(const Work& work) {
    if (helpers_.empty()) return work(size_t{0});
    RunJob({[](const void* context, size_t member) { (*static_cast<const Work*>(context))(member); }, &work});
  }

  // Calls work(index, member) once for each index below count.
  template <typename Work>
  void ForEach(size_t count, const Work& work) {
    std::atomic<size_t> next{0};
    const auto take = [&](size_t member) {
      for (size_t i = 0; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
        work(i, member);
    };
    if (count < 2) return take(0);
    Run(take);
  }

 private:
  struct Job {
    void (*call)(const void* context, size_t member) = nullptr;
    const void* context = nullptr;
  };

  void RunJob(Job job);
  void Call(Job job, size_t member);
  void Help(size_t member);

  Mutex mutex_;
  ConditionVariable work_, idle_;
  Job job_ OPSCOPE_GUARDED_BY(mutex_);              // call == nullptr: none to begin
  uint64_t number_ OPSCOPE_GUARDED_BY(mutex_) = 0;  // of the job
  size_t active_ OPSCOPE_GUARDED_BY(mutex_) = 0;    // helpers inside the job
  size_t started_ OPSCOPE_GUARDED_BY(mutex_) = 0;   // helpers that know their number
  bool ends_ OPSCOPE_GUARDED_BY(mutex_) = false;
  std::exception_ptr thrown_ OPSCOPE_GUARDED_BY(mutex_);  // by a call of this job
  std::vector<pthread_t> helpers_;
};

}  // namespace opscope
