// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/deferred_refcounts.h"

#include <c10/core/impl/PyInterpreter.h>
#include <sched.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <vector>

#include "sources/got/patched_entries.h"
#include "sources/streams/address_cache.h"
#include "sources/torch/abi/torch_compat.h"

namespace opscope::boxed_references {

constinit __thread Boxing this_thread{};
constinit std::atomic<uint64_t> opening{0};

// A torch that has it asks its one interpreter; earlier ones have no counts to raise.
[[gnu::weak]] c10::impl::PyInterpreter* TheInterpreter() __asm__("_ZN3c104impl22getGlobalPyInterpreterEv");

namespace {

using Table = c10::impl::PyInterpreterVTable;
using Count = void (*)(const Table*, PyObject*);

constexpr uintptr_t kFree = 0, kClosed = 1;  // a place's word, else it is an object
struct alignas(64) Place {
  std::atomic<uintptr_t> word{kClosed};
};
constinit AddressCache<Place, 6> places{};

std::atomic<uintptr_t>& PlaceOf(const void* object) {
  return places.EntryOf(object).word;
}

// torch's own, and the table that they are given.
constinit Count raise = nullptr, lower = nullptr;
constinit const Table* of_interpreter = nullptr;
using Again = void (*)();
constinit Again close_again = nullptr;

// With SlotLock(). Never destroyed.
PointedSlots& Pointed() {
  static PointedSlots& pointed = *new PointedSlots;
  return pointed;
}

bool TakeOut(const void* object) {
  std::atomic<uintptr_t>& place = PlaceOf(object);
  auto word = reinterpret_cast<uintptr_t>(object);
  return place.load(std::memory_order_relaxed) == word && place.compare_exchange_strong(word, kFree);
}

void Raise(const Table* self, PyObject* object) {
  Boxing& boxing = this_thread;
  if (boxing.opening != 0 && boxing.opening == opening.load(std::memory_order_relaxed) &&
      boxing.left_out < std::size(boxing.of_which)) {
    uintptr_t free = kFree;
    if (PlaceOf(object).compare_exchange_strong(free, reinterpret_cast<uintptr_t>(object))) {
      boxing.of_which[boxing.left_out++] = object;
      return;
    }
  }
  raise(self, object);
}

void Lower(const Table* self, PyObject* object) {
  if (!TakeOut(object)) lower(self, object);
}

// By the ABI of Itanium the pointer to a virtual function is its offset in the table, and one.
template <typename Member>
size_t PlaceInTable(Member member) {
  uintptr_t offset = 0;
  std::memcpy(&offset, &member, sizeof(offset));
  return (offset - 1) / sizeof(void*);
}

struct CountPlaces {
  size_t raise, lower;
};
template <typename InterpreterTable>
constexpr bool kCounts = torch_compat::CountsReferences<InterpreterTable, PyObject>;
template <typename InterpreterTable>
CountPlaces PlacesOfCounts() {
  if constexpr (kCounts<InterpreterTable>) {
    return {PlaceInTable(&InterpreterTable::incref), PlaceInTable(&InterpreterTable::decref)};
  } else {
    return {};
  }
}

// Null: there is none, or not where it was expected.
void** FindTable() {
  if (!kCounts<Table> || TheInterpreter == nullptr) return nullptr;
  const std::vector<Segment> segments = SegmentsOf("libtorch_python");
  if (segments.empty()) return nullptr;
  of_interpreter = TheInterpreter()->vtable_;
  if (SegmentAround(of_interpreter, segments) == nullptr) return nullptr;
  void** table = *reinterpret_cast<void** const*>(of_interpreter);
  return SegmentAround(table, segments) != nullptr ? table : nullptr;
}

bool PointTable() {
  if (!Pointed().empty()) return true;
  void** table = FindTable();
  if (table == nullptr) return false;
  const std::vector<Segment> segments = SegmentsOf("libtorch_python");
  const CountPlaces of_counts = PlacesOfCounts<Table>();
  void** of_raise = table + of_counts.raise;
  void** of_lower = table + of_counts.lower;
  if (SegmentAround(*of_raise, segments) == nullptr || SegmentAround(*of_lower, segments) == nullptr) return false;
  raise = reinterpret_cast<Count>(*of_raise);
  lower = reinterpret_cast<Count>(*of_lower);
  const bool is_pointed = Pointed().Point({.place = of_lower, .is_protected = true}, reinterpret_cast<void*>(&Lower)) &&
                          Pointed().Point({.place = of_raise, .is_protected = true}, reinterpret_cast<void*>(&Raise));
  if (!is_pointed) Pointed().PutBack();
  return is_pointed;
}

}  // namespace

// The count is raised before the object leaves its place: meanwhile somebody may take it out, and then it was one too
// many.
void MakeUp() {
  Boxing& boxing = this_thread;
  for (uint32_t i = 0; i < boxing.left_out; ++i) {
    auto* object = static_cast<PyObject*>(const_cast<void*>(boxing.of_which[i]));
    if (PlaceOf(object).load(std::memory_order_relaxed) != reinterpret_cast<uintptr_t>(object)) continue;
    raise(of_interpreter, object);
    if (!TakeOut(object)) lower(of_interpreter, object);
  }
  boxing.left_out = 0;
  if (__builtin_expect(opening.load(std::memory_order_relaxed) == 0, 0)) close_again();
}

void Open(void (*again)()) {
  static constinit uint64_t openings = 0;
  if (opening.load() != 0) return;
  close_again = again;
  if (!PointTable()) return;
  for (Place& place : places) {
    uintptr_t closed = kClosed;
    place.word.compare_exchange_strong(closed, kFree);
  }
  opening.store(++openings);
}

bool Close() {
  if (Pointed().empty()) return true;
  constexpr int kTries = 100;  // a box lives for a tenth of a microsecond
  opening.store(0);
  for (Place& place : places) {
    for (int tries = 0;; ++tries) {
      uintptr_t word = kFree;
      if (place.word.compare_exchange_strong(word, kClosed) || word == kClosed) break;
      if (tries == kTries) return false;
      sched_yield();
    }
  }
  Pointed().PutBack();
  return true;
}

void CloseInChild() {
  opening.store(0);
  this_thread = {};
  for (Place& place : places)
    place.word.store(kClosed);
  Pointed().PutBack();
}

}  // namespace opscope::boxed_references
