// The call-site cache: which call sites in torch ask for the callbacks of one operator alone, and always begin its
// range then. Past the memory cap the operator of such a call site needs no range: it is counted where it asks. The
// caller must be known because torch also asks for operators that it hides from observers; no range follows, and they
// must not be counted. Each operator is called through a function of its own, so its return address identifies it. A
// call site that asks for many operators, as that of boxed calls does, is ambiguous.
//
//   0 -> 1 range -> 2 -> 3 -> 4 ranges of one operator in a row: the call site is known
//   any state -> another operator, or no range: ambiguous for ever
//
// Four ranges may be chance, so every kRecheckInterval-th operator makes its range all the same (capture_mode.cc).
// Until a wrong call site is found, a thread may count at most that many operators that no callback could have
// observed.
//
// Thread rule: any thread, no lock. Where two threads write one entry, a call site may become known later or never.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "sources/streams/address_cache.h"

namespace opscope::call_site_cache {

struct CallSite {
  std::atomic<uint64_t> known{0};                 // address; the highest byte counts ranges, or is that of kAmbiguous
  std::atomic<const void*> of_operator{nullptr};  // schema of those ranges
};
inline constexpr uint64_t kOneRange = uint64_t{1} << 56;  // addresses of programs end below
inline constexpr uint64_t kEnoughRanges = 4 * kOneRange, kAmbiguous = 255 * kOneRange;
inline constexpr uint64_t kAddress = kOneRange - 1;

// Each so many operators a thread makes the range of a known call site again. Prime, so that a loop over a few
// operators does not recheck the same one each time.
inline constexpr uint32_t kRecheckInterval = 61;

// 512 entries: programs call some hundred operators.
extern AddressCache<CallSite, 9> call_sites __attribute__((visibility("hidden")));

// True: the operator that asks there will begin a range.
inline bool IsOfOneOperator(const void* call_site) {
  const auto address = reinterpret_cast<uintptr_t>(call_site);
  return call_sites.EntryOf(call_site).known.load(std::memory_order_relaxed) == (address | kEnoughRanges);
}

// After the call site asked, a range of this operator began, or none did.
void RecordRange(const void* call_site, const void* of_operator);
void RecordNoRange(const void* call_site);

}  // namespace opscope::call_site_cache
