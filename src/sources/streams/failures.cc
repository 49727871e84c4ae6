// The counter is one relaxed atomic, so a callback may count a failure on any thread and in any state.
// SPDX-License-Identifier: Apache-2.0
#include "sources/streams/failures.h"

#include <atomic>

namespace opscope {
namespace {

constinit std::atomic<uint64_t> failures{0};

}  // namespace

void CountFailure() {
  failures.fetch_add(1, std::memory_order_relaxed);
}
uint64_t FailureCount() {
  return failures.load(std::memory_order_relaxed);
}

}  // namespace opscope
