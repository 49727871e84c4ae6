// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/memory/live_block_sizes.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "opscope/recorder.h"
#include "sources/got/got_entries.h"

namespace opscope {
namespace {

// Two words, each written by itself: an instruction that locks would wait until all that was recorded before has
// reached the cache, which is longer than everything else here. Of two threads that write to a place at once one may
// leave its address beside the facts of the other; the tag tells, and such a block is forgotten.
struct Entry {
  std::atomic<uint64_t> address;  // 0: free
  std::atomic<uint64_t> facts;    // bytes << 24 | what the allocator gave in excess << 11 | tag of the address
};
constexpr uint64_t kMostBytes = (uint64_t{1} << 40) - 1;
constexpr uint64_t kExcessUnknown = (1 << 13) - 1;
constexpr uint64_t kTagMask = (1 << 11) - 1;
constexpr size_t kWays = 4, kSets = size_t{1} << 15;  // a set is a cache line

constinit std::atomic<Entry*> table{nullptr};

// Most blocks are freed soon, under the window that saw them given out. So a block is first put here, one place for
// each address and no search, and comes to the table when another wants its place. Above the address, whose own bits
// there are 0, stands the epoch in which it came: what is freed in the same one needs no check.
constexpr size_t kRecent = 512;
constexpr int kEpochShift = 48;
constinit Entry recent[kRecent] = {};
constinit std::atomic<uint64_t> epoch{0};  // shifted; one in 65,536 windows takes an old one for its own

Entry* RecentOf(uint64_t address) {
  return recent + ((address >> 6 ^ address >> 15) & (kRecent - 1));
}
uint64_t AddressIn(uint64_t word) {
  return word & ((uint64_t{1} << kEpochShift) - 1);
}

using UsableSize = size_t (*)(void*);
constinit std::atomic<UsableSize> usable_size{nullptr};

void* LibraryOf(void* function) {
  Dl_info info;
  return function != nullptr && dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

// The library behind the calls of libc10, null if it does not call the function.
void* LibraryBehind(const char* symbol) {
  const std::vector<CallSlot> slots = FindCallSlots("libc10.so", symbol);
  if (slots.empty()) return nullptr;
  void* library = LibraryOf(__atomic_load_n(slots[0].place, __ATOMIC_ACQUIRE));
  // Until its first call a slot holds the linker's stub, in the calling library.
  return library == LibraryOf(slots[0].place) ? LibraryOf(dlsym(RTLD_DEFAULT, symbol)) : library;
}

// Null unless it is of the allocator that libc10 takes its blocks from and gives them back to.
UsableSize FindUsableSize() {
  void* function = dlsym(RTLD_DEFAULT, "malloc_usable_size");
  void* library = LibraryOf(function);
  if (library == nullptr || LibraryBehind("free") != library || LibraryBehind("posix_memalign") != library)
    return nullptr;
  return reinterpret_cast<UsableSize>(function);
}

Entry* SetOf(Entry* entries, uint64_t address) {
  // Blocks that lie together have places that lie together, so that a program that takes turns with few of them finds
  // the places in the cache; the regions of 2 MiB that each fill the table are spread.
  const uint64_t region = HashWord(address >> 23, 15);
  return entries + (((address >> 8) ^ region) & (kSets - 1)) * kWays;
}

uint64_t TagOf(uint64_t address) {
  return HashWord(address, 11);
}

// The place for the block: its own, a free one, or another block's.
Entry* PlaceFor(Entry* set, uint64_t address) {
  Entry* free = nullptr;
  for (Entry* entry = set; entry != set + kWays; ++entry) {
    const uint64_t held = entry->address.load(std::memory_order_relaxed);
    if (held == address) return entry;
    if (held == 0 && free == nullptr) free = entry;
  }
  return free != nullptr ? free : set + (address >> 21) % kWays;
}

__attribute__((noinline)) void MoveToTable(uint64_t address, uint64_t facts) {
  Entry* entries = table.load(std::memory_order_acquire);
  if (entries == nullptr || TagOf(address) != (facts & kTagMask)) return;
  Entry* entry = PlaceFor(SetOf(entries, address), address);
  entry->facts.store(facts, std::memory_order_relaxed);
  entry->address.store(address, std::memory_order_release);  // read by TakeFromTable
}

// REQUIRES: the block is there still.
FreedBlock CheckedBlock(uint64_t address, uint64_t facts) {
  const uint64_t bytes = facts >> 24, excess = facts >> 11 & kExcessUnknown;
  const UsableSize usable = usable_size.load(std::memory_order_relaxed);
  if (usable == nullptr) return {bytes, false};
  const uint64_t now = usable(reinterpret_cast<void*>(address));
  return excess != kExcessUnknown && now == bytes + excess ? FreedBlock{bytes, true} : FreedBlock{now, false};
}

__attribute__((noinline)) FreedBlock TakeFromTable(uint64_t address) {
  Entry* entries = table.load(std::memory_order_acquire);
  if (entries == nullptr) return {};
  Entry* set = SetOf(entries, address);
  for (Entry* entry = set; entry != set + kWays; ++entry) {
    if (entry->address.load(std::memory_order_acquire) != address) continue;
    const uint64_t facts = entry->facts.load(std::memory_order_relaxed);
    entry->address.store(0, std::memory_order_relaxed);
    return TagOf(address) == (facts & kTagMask) ? CheckedBlock(address, facts) : FreedBlock{};
  }
  return {};
}

}  // namespace

void PrepareRememberedBlocks() {
  if (table.load(std::memory_order_relaxed) != nullptr) return;
  void* memory = mmap(nullptr, kSets * kWays * sizeof(Entry), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  usable_size.store(FindUsableSize(), std::memory_order_relaxed);
  Entry* none = nullptr;
  if (!table.compare_exchange_strong(none, static_cast<Entry*>(memory), std::memory_order_acq_rel)) {
    munmap(memory, kSets * kWays * sizeof(Entry));
  }
}

void BeginRemembering() {
  epoch.fetch_add(uint64_t{1} << kEpochShift, std::memory_order_relaxed);
}

void RememberBlock(void* block, uint64_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(block);
  if (OPSCOPE_UNLIKELY(bytes > kMostBytes || AddressIn(address) != address)) return;
  const UsableSize usable = usable_size.load(std::memory_order_relaxed);
  const uint64_t excess = usable == nullptr ? kExcessUnknown : std::min(usable(block) - bytes, kExcessUnknown);
  Entry* entry = RecentOf(address);
  const uint64_t held = AddressIn(entry->address.load(std::memory_order_relaxed));
  if (held != 0 && held != address) MoveToTable(held, entry->facts.load(std::memory_order_relaxed));
  entry->facts.store(bytes << 24 | excess << 11 | TagOf(address), std::memory_order_relaxed);
  entry->address.store(address | epoch.load(std::memory_order_relaxed), std::memory_order_release);  // read by Take
}

FreedBlock TakeRememberedBlock(void* block) {
  const auto address = reinterpret_cast<uint64_t>(block);
  Entry* entry = RecentOf(address);
  const uint64_t held = entry->address.load(std::memory_order_acquire);
  if (OPSCOPE_UNLIKELY(AddressIn(held) != address)) return TakeFromTable(address);
  const uint64_t facts = entry->facts.load(std::memory_order_relaxed);
  entry->address.store(0, std::memory_order_relaxed);
  if (OPSCOPE_UNLIKELY(TagOf(address) != (facts & kTagMask))) return {};
  if (__builtin_expect((address | epoch.load(std::memory_order_relaxed)) == held, 1)) return {facts >> 24, true};
  return CheckedBlock(address, facts);
}

}  // namespace opscope
