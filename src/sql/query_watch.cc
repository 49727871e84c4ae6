// DuckDB has no time limit, and its memory limit counts the blocks of its buffer manager only: the states of aggregates
// and texts under construction are outside. So a thread compares the clock, and the anonymous memory of the process
// with what it was when the query began, 50 times a second.
//
// An interrupt is a flag that DuckDB's threads read between two vectors. A function that builds one gigantic value does
// not read it; the owner of the process may then end the process (is_stuck).
// SPDX-License-Identifier: Apache-2.0
#include "sql/query_watch.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/start_thread.h"

namespace opscope {
namespace {

constexpr std::chrono::milliseconds kWatchInterval{20};
constexpr std::chrono::milliseconds kStuckAfter{400};

// Resident memory without mapped files; 0: unknown.
uint64_t AnonymousBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0, resident = 0, shared = 0;
  const int read = std::fscanf(file, "%llu %llu %llu", &total, &resident, &shared);
  std::fclose(file);
  return read == 3 && resident > shared ? (resident - shared) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

QueryWatch::QueryWatch(Limits limits)
    : limits_(std::move(limits)), begin_(std::chrono::steady_clock::now()), memory_at_begin_(AnonymousBytes()) {
}

Status QueryWatch::Start() {
  return StartThread([this] { Run(); }, &thread_);
}

QueryWatch::~QueryWatch() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  end_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void QueryWatch::Run() {
  std::unique_lock lock(mutex_);
  std::chrono::steady_clock::time_point stopped;
  while (!end_.wait_for(lock, kWatchInterval, [this] { return has_ended_; })) {
    const auto now = std::chrono::steady_clock::now();
    if (reason() == kNone) {
      const bool is_late = now - begin_ >= limits_.time;
      const bool is_large = limits_.memory != 0 && AnonymousBytes() > memory_at_begin_ + limits_.memory;
      if (!is_late && !is_large) continue;
      reason_.store(is_late ? kTime : kMemory, std::memory_order_relaxed);
      stopped = now;
    }
    limits_.interrupt();
    if (limits_.is_stuck && now - stopped >= kStuckAfter) limits_.is_stuck(reason());
  }
}

}  // namespace opscope
