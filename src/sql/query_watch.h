// Stops a query at its limits: a thread that looks at the clock and at the memory of the process while the query runs.
//
// Thread rule: one thread constructs, asks and destroys; the watch runs its own thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "opscope/result.h"

namespace opscope {

class QueryWatch {
 public:
  enum Reason : int { kNone, kTime, kMemory };

  struct Limits {
    std::chrono::nanoseconds time;
    uint64_t memory;  // bytes by which the memory of the process may grow; 0: any
    // Stops the query. Called every few milliseconds from the limit on: a call that comes before the query has begun to
    // run does nothing.
    std::function<void()> interrupt;
    // The query still runs 0.4 s after the limit, inside one step that cannot be interrupted. Empty: wait for it.
    std::function<void(Reason)> is_stuck;
  };

  explicit QueryWatch(Limits limits);
  ~QueryWatch();
  // Begins to watch. kIo: no thread could be started. REQUIRES: called once.
  [[nodiscard]] Status Start();
  QueryWatch(const QueryWatch&) = delete;
  QueryWatch& operator=(const QueryWatch&) = delete;

  // The limit that was exceeded first; kNone: none so far.
  Reason reason() const { return reason_.load(std::memory_order_relaxed); }

 private:
  void Run();

  const Limits limits_;
  const std::chrono::steady_clock::time_point begin_;
  const uint64_t memory_at_begin_;
  std::atomic<Reason> reason_ = kNone;
  std::mutex mutex_;
  std::condition_variable end_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace opscope
