// The call-site cache: which call sites of Ask (range_hooks.h) in torch belong to exactly one operator and always begin
// its range. At the memory cap an operator from such a call site needs no range: Ask counts it as dropped. The call
// site must be known because torch also calls Ask for operators that it hides from callbacks; those begin no range and
// must not be counted. Torch calls each operator through a separate function, so the return address of Ask identifies
// the operator. A call site of many operators, such as that of boxed calls, is ambiguous.
//
//   0 -> 1 range -> 2 -> 3 -> 4 ranges of one operator in a row: the call site is known
//   any state -> another operator, or no range: ambiguous for ever
//
// Four ranges may be chance, so every kRecheckInterval-th operator begins its range all the same (capture_mode.cc).
// Until a wrong call site is found, a thread counts at most that many operators that no callback could have observed.
//
// Thread rule: any thread, no lock. If two threads write one entry, a call site may become known later or never.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "sources/streams/address_cache.h"

namespace opscope::call_site_cache {

struct CallSite {
  std::atomic<uint64_t> known{0};                 // address; the highest byte: count of ranges, or that of kAmbiguous
  std::atomic<const void*> of_operator{nullptr};  // schema of those ranges
};
inline constexpr uint64_t kOneRange = uint64_t{1} << 56;  // addresses of programs end below
inline constexpr uint64_t kEnoughRanges = 4 * kOneRange, kAmbiguous = 255 * kOneRange;
inline constexpr uint64_t kAddress = kOneRange - 1;

// After this many operators of known call sites a thread lets one begin its range. Prime, so that a loop over a few
// operators does not recheck the same one each time.
inline constexpr uint32_t kRecheckInterval = 61;

// 512 entries: programs call some hundred operators.
extern AddressCache<CallSite, 9> call_sites __attribute__((visibility("hidden")));

// True: the operator at this call site will begin a range.
inline bool IsOfOneOperator(const void* call_site) {
  const auto address = reinterpret_cast<uintptr_t>(call_site);
  return call_sites.EntryOf(call_site).known.load(std::memory_order_relaxed) == (address | kEnoughRanges);
}

// After Ask was called at the call site, a range of this operator began (RecordRange), or no range did (RecordNoRange).
void RecordRange(const void* call_site, const void* of_operator);
void RecordNoRange(const void* call_site);

}  // namespace opscope::call_site_cache
