// The address of an object chooses its cell, one of 64. Raise: free -> object, or torch's own raise if the cell is
// taken. Lower: object -> free, or torch's own lower if the object is not in its cell. So a raise is deferred only
// where a cell is free, and a lower is skipped only where it meets a deferred raise.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/deferred_refcounts.h"

#include <c10/core/impl/PyInterpreter.h>
#include <sched.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

#include "sources/got/patched_entries.h"
#include "sources/streams/address_cache.h"
#include "sources/torch/abi/torch_compat.h"

namespace opscope::deferred_refcounts {

constinit __thread Boxing this_thread{};
constinit std::atomic<uint64_t> opening{0};

// Weak: an earlier torch has no such function, and raises no counts.
[[gnu::weak]] c10::impl::PyInterpreter* TheInterpreter() __asm__("_ZN3c104impl22getGlobalPyInterpreterEv");

namespace {

using Table = c10::impl::PyInterpreterVTable;
using Count = void (*)(const Table*, PyObject*);

constexpr uintptr_t kFree = 0, kClosed = 1;  // values of a cell; any other value is the address of an object
struct alignas(64) Cell {
  std::atomic<uintptr_t> word{kClosed};
};
constinit AddressCache<Cell, 6> cells{};

std::atomic<uintptr_t>& CellOf(const void* object) {
  return cells.EntryOf(object).word;
}

// Torch's own functions, and the table that they take as their first argument.
constinit Count raise = nullptr, lower = nullptr;
constinit const Table* of_interpreter = nullptr;
using Again = void (*)();
constinit Again close_again = nullptr;

// Guarded by GotLock(). Never destroyed.
PatchedEntries& Patched() {
  static PatchedEntries& patched = *new PatchedEntries;
  return patched;
}

bool Cancel(const void* object) {
  std::atomic<uintptr_t>& cell = CellOf(object);
  auto word = reinterpret_cast<uintptr_t>(object);
  return cell.load(std::memory_order_relaxed) == word && cell.compare_exchange_strong(word, kFree);
}

void Raise(const Table* self, PyObject* object) {
  Boxing& boxing = this_thread;
  if (boxing.opening != 0 && boxing.opening == opening.load(std::memory_order_relaxed) &&
      boxing.deferred < std::size(boxing.objects)) {
    uintptr_t free = kFree;
    if (CellOf(object).compare_exchange_strong(free, reinterpret_cast<uintptr_t>(object))) {
      boxing.objects[boxing.deferred++] = object;
      return;
    }
  }
  raise(self, object);
}

void Lower(const Table* self, PyObject* object) {
  if (!Cancel(object)) lower(self, object);
}

// In the Itanium ABI a pointer to a virtual member function is its byte offset in the vtable, plus one.
template <typename Member>
size_t IndexInVtable(Member member) {
  uintptr_t offset = 0;
  std::memcpy(&offset, &member, sizeof(offset));
  return (offset - 1) / sizeof(void*);
}

struct RefcountIndexes {
  size_t raise, lower;
};
// nullopt: this torch has no such functions.
template <typename InterpreterTable>
std::optional<RefcountIndexes> FindRefcounts() {
  if constexpr (torch_compat::CountsReferences<InterpreterTable, PyObject>) {
    return RefcountIndexes{IndexInVtable(&InterpreterTable::incref), IndexInVtable(&InterpreterTable::decref)};
  } else {
    return std::nullopt;
  }
}

// False: this torch has no such entries, they are not where expected, or they cannot be written.
bool PatchVtable() {
  if (!Patched().empty()) return true;
  const std::optional<RefcountIndexes> indexes = FindRefcounts<Table>();
  if (!indexes.has_value() || TheInterpreter == nullptr) return false;
  const std::vector<Segment> segments = SegmentsOf("libtorch_python");
  if (segments.empty()) return false;
  of_interpreter = TheInterpreter()->vtable_;
  if (FindSegment(of_interpreter, segments) == nullptr) return false;
  void** vtable = *reinterpret_cast<void** const*>(of_interpreter);
  const Segment* segment = FindSegment(vtable, segments);
  if (segment == nullptr) return false;
  const GotEntry entries[] = {{vtable + indexes->lower, !segment->is_writable, 0},
                              {vtable + indexes->raise, !segment->is_writable, 1}};
  void* const hooks[] = {reinterpret_cast<void*>(&Lower), reinterpret_cast<void*>(&Raise)};
  for (const GotEntry& entry : entries) {
    if (FindSegment(*entry.address, segments) == nullptr) return false;
  }
  lower = reinterpret_cast<Count>(*entries[0].address);
  raise = reinterpret_cast<Count>(*entries[1].address);
  return Patched().PatchAll(entries, hooks);
}

}  // namespace

// The count is raised before the object leaves its cell. If another thread takes the object out in between, the
// deferred raise has cancelled that thread's lower, and the raise done here is undone.
void ApplyDeferred() {
  Boxing& boxing = this_thread;
  for (uint32_t i = 0; i < boxing.deferred; ++i) {
    auto* object = static_cast<PyObject*>(const_cast<void*>(boxing.objects[i]));
    if (CellOf(object).load(std::memory_order_relaxed) != reinterpret_cast<uintptr_t>(object)) continue;
    raise(of_interpreter, object);
    if (!Cancel(object)) lower(of_interpreter, object);
  }
  boxing.deferred = 0;
  if (__builtin_expect(opening.load(std::memory_order_relaxed) == 0, 0)) close_again();
}

void Open(void (*again)()) {
  static constinit uint64_t openings = 0;
  if (opening.load() != 0) return;
  close_again = again;
  if (!PatchVtable()) return;
  for (Cell& cell : cells) {
    uintptr_t closed = kClosed;
    cell.word.compare_exchange_strong(closed, kFree);
  }
  opening.store(++openings);
}

bool Close() {
  if (Patched().empty()) return true;
  constexpr int kTries = 100;  // a box lives for a tenth of a microsecond
  opening.store(0);
  for (Cell& cell : cells) {
    for (int tries = 0;; ++tries) {
      uintptr_t word = kFree;
      if (cell.word.compare_exchange_strong(word, kClosed) || word == kClosed) break;
      if (tries == kTries) return false;
      sched_yield();
    }
  }
  Patched().Restore();
  return true;
}

void CloseInChild() {
  opening.store(0);
  this_thread = {};
  for (Cell& cell : cells)
    cell.word.store(kClosed);
  Patched().Restore();
}

}  // namespace opscope::deferred_refcounts
