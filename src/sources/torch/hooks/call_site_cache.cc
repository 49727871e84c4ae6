// The state of each call site is one atomic word, the address with a count of ranges in its upper bits, so that a hook
// reads it with one load. The header has the states.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/call_site_cache.h"

namespace opscope::call_site_cache {

constinit AddressCache<CallSite, 9> call_sites{};

void RecordRange(const void* call_site, const void* of_operator) {
  const auto address = reinterpret_cast<uintptr_t>(call_site);
  CallSite& at = call_sites.EntryOf(call_site);
  uint64_t known = at.known.load(std::memory_order_relaxed);
  if ((known & ~kAddress) == kAmbiguous) return;  // even that of another call site: it is never replaced
  if ((known & kAddress) != address) {
    at.of_operator.store(of_operator, std::memory_order_relaxed);
    at.known.store(address | kOneRange, std::memory_order_relaxed);
  } else if (at.of_operator.load(std::memory_order_relaxed) != of_operator) {
    RecordNoRange(call_site);
  } else if (known < (address | kEnoughRanges)) {
    at.known.compare_exchange_strong(known, known + kOneRange, std::memory_order_relaxed);
  }
}

void RecordNoRange(const void* call_site) {
  const auto address = reinterpret_cast<uintptr_t>(call_site);
  call_sites.EntryOf(call_site).known.store(address | kAmbiguous, std::memory_order_relaxed);
}

}  // namespace opscope::call_site_cache
