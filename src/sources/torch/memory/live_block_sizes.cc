// Two tables. `recent` is direct-mapped and small enough for the first-level cache: most blocks are freed soon, in the
// window that saw them allocated. A block goes there first and moves on to the large set-associative table when another
// block needs its entry.
//
// An entry is two words, which are written one by one: a locked instruction would wait until all earlier stores have
// reached the cache, which takes longer than everything else here. Two threads that write one entry at the same moment
// may leave the address of one block beside the size of the other; a tag of the address in the second word reveals it,
// and such a block has an unknown size.
//
// `recent` maps an address by its bits, not by HashWord, so neighbouring blocks have neighbouring entries. A program
// that alternates between a few blocks finds their entries in the cache.
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

struct Entry {
  std::atomic<uint64_t> address;  // 0: free
  std::atomic<uint64_t> facts;    // bytes << 24 | usable size minus bytes << 11 | tag of the address
};
constexpr uint64_t kMaxBytes = (uint64_t{1} << 40) - 1;
constexpr uint64_t kExcessUnknown = (1 << 13) - 1;
constexpr uint64_t kTagMask = (1 << 11) - 1;
constexpr size_t kWays = 4, kSets = size_t{1} << 15;  // a set is a cache line

constinit std::atomic<Entry*> table{nullptr};

// An entry of `recent` holds, in bits above those of an address, the epoch in which it was written. A block of the
// current epoch needs no check when it is freed.
constexpr size_t kRecent = 512;
constexpr int kEpochShift = 48;
constinit Entry recent[kRecent] = {};
constinit std::atomic<uint64_t> epoch{0};  // shifted by kEpochShift; repeats after 65,536 windows

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

// The library whose function libc10 calls; null: libc10 does not call it.
void* LibraryBehind(const char* symbol) {
  const std::vector<GotEntry> entries = FindGotEntries("libc10.so", symbol);
  if (entries.empty()) return nullptr;
  void* library = LibraryOf(__atomic_load_n(entries[0].address, __ATOMIC_ACQUIRE));
  // Before its first call an entry holds the linker's stub, which lies in the calling library.
  return library == LibraryOf(entries[0].address) ? LibraryOf(dlsym(RTLD_DEFAULT, symbol)) : library;
}

// Null unless the library that has malloc_usable_size is the one whose functions libc10 calls to allocate and free.
UsableSize FindUsableSize() {
  void* function = dlsym(RTLD_DEFAULT, "malloc_usable_size");
  void* library = LibraryOf(function);
  if (library == nullptr || LibraryBehind("free") != library || LibraryBehind("posix_memalign") != library)
    return nullptr;
  return reinterpret_cast<UsableSize>(function);
}

Entry* SetOf(Entry* entries, uint64_t address) {
  // Neighbouring blocks have neighbouring sets, as in `recent`; the sets of each region of 8 MiB start at another
  // offset.
  const uint64_t region = HashWord(address >> 23, 15);
  return entries + (((address >> 8) ^ region) & (kSets - 1)) * kWays;
}

uint64_t TagOf(uint64_t address) {
  return HashWord(address, 11);
}

// The entry for the block: its own, a free one, or else that of another block, which is dropped.
Entry* EntryFor(Entry* set, uint64_t address) {
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
  Entry* entry = EntryFor(SetOf(entries, address), address);
  entry->facts.store(facts, std::memory_order_relaxed);
  entry->address.store(address, std::memory_order_release);  // read by TakeFromTable
}

// REQUIRES: the block is not freed yet.
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

void PrepareLiveBlocks() {
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

void BeginLiveBlockEpoch() {
  epoch.fetch_add(uint64_t{1} << kEpochShift, std::memory_order_relaxed);
}

void AddLiveBlock(void* block, uint64_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(block);
  if (OPSCOPE_UNLIKELY(bytes > kMaxBytes || AddressIn(address) != address)) return;
  const UsableSize usable = usable_size.load(std::memory_order_relaxed);
  const uint64_t excess = usable == nullptr ? kExcessUnknown : std::min(usable(block) - bytes, kExcessUnknown);
  Entry* entry = RecentOf(address);
  const uint64_t held = AddressIn(entry->address.load(std::memory_order_relaxed));
  if (held != 0 && held != address) MoveToTable(held, entry->facts.load(std::memory_order_relaxed));
  entry->facts.store(bytes << 24 | excess << 11 | TagOf(address), std::memory_order_relaxed);
  entry->address.store(address | epoch.load(std::memory_order_relaxed), std::memory_order_release);  // read by Take
}

FreedBlock TakeLiveBlock(void* block) {
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
