// Two ways to read a list that its owner changes without a lock.
//
// At the close of a window the owner notices the close at its next event and then stops, so a list that
// was the same before and after it was read is the list.
//
// For a dump the owner runs on, with a new innermost scope every few nanoseconds: two looks are never
// the same. But what a dump wants are the scopes that stay open, and every path leads to them: each slot
// that was innermost at some moment of the reading, whatever it holds when it is looked at, has below it
// all scopes that were open throughout. So the walk takes each slot as it finds it (whole: `start` and
// `generation` are read again after the rest), keeps what began before the dump's moment, and the caller
// takes out what has a record by now. A slot that serves another window by now leads into another list;
// then the walk begins anew.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/open_scopes.h"

#include <sched.h>

#include "opscope/record.h"

namespace opscope {
namespace {

constexpr uint32_t kMaxSteps = 1u << 24;
constexpr int kMaxTries = 10000;

enum class Listing { kDone, kChanged, kNoMemory };

struct Slot {
  OpenScopeCopy copy;
  uint64_t generation;
  const OpenScope* outer;
};

// False: the slot changed meanwhile.
bool ReadSlot(const OpenScope* scope, Slot* slot) {
  const uint64_t start = scope->start.load(std::memory_order_acquire);
  slot->generation = scope->generation.load(std::memory_order_acquire);
  slot->copy = {start, scope->name.load(std::memory_order_acquire), scope->payload.load(std::memory_order_acquire),
                scope->depth_kind_flags.load(std::memory_order_acquire), scope->origin.load(std::memory_order_acquire)};
  slot->outer = scope->outer.load(std::memory_order_acquire);
  return scope->start.load(std::memory_order_acquire) == start &&
         scope->generation.load(std::memory_order_relaxed) == slot->generation;
}

// One try to read a list that holds still, innermost first.
Listing TryListOpenScopes(const Stream& stream, uint64_t generation, OpenScopeCopies* copies) {
  copies->SetSize(0);
  const OpenScope* top = stream.top.load(std::memory_order_acquire);
  const OpenScope* scope = top;
  for (uint32_t steps = 0; scope != nullptr; ++steps) {
    Slot slot;
    if (steps == kMaxSteps || !ReadSlot(scope, &slot))
      return Listing::kChanged;                                   // the slot moved to another list meanwhile
    if (slot.generation != generation) return Listing::kChanged;  // reused already
    const bool open = slot.copy.start != 0;                       // 0: its record is there, or another thread's
    if (open && !copies->Push(slot.copy)) return Listing::kNoMemory;
    scope = slot.outer;
  }
  return stream.top.load(std::memory_order_relaxed) == top ? Listing::kDone : Listing::kChanged;
}

Listing TryListWhileRunning(const Stream& stream, uint64_t generation, uint64_t until, OpenScopeCopies* copies) {
  copies->SetSize(0);
  const OpenScope* scope = stream.top.load(std::memory_order_acquire);
  for (uint32_t steps = 0; scope != nullptr; ++steps) {
    if (steps == kMaxSteps) return Listing::kChanged;
    Slot slot;
    if (!ReadSlot(scope, &slot)) continue;  // look at it again
    if (slot.generation != generation) return Listing::kChanged;
    const bool open = slot.copy.start != 0 && slot.copy.start < until;
    if (open && !copies->Push(slot.copy)) return Listing::kNoMemory;
    scope = slot.outer;
  }
  return Listing::kDone;
}

template <typename Try>
bool ListWithTries(const Try& once) {
  for (int i = 0; i < kMaxTries; ++i) {
    const Listing listing = once();
    if (listing != Listing::kChanged) return listing == Listing::kDone;
    sched_yield();
  }
  return false;
}

bool IsAmong(const OpenScopeCopy& copy, const Record* begin, const Record* end) {
  for (const Record* record = begin; record != end; ++record) {
    if (record->start == copy.start && record->depth == UnpackDepth(copy.depth_kind_flags)) return true;
  }
  return false;
}

}  // namespace

bool ListOpenScopes(const Stream& stream, uint64_t generation, OpenScopeCopies* copies) {
  return ListWithTries([&] { return TryListOpenScopes(stream, generation, copies); });
}

bool ListOpenScopesWhileRunning(const Stream& stream, uint64_t generation, uint64_t until, OpenScopeCopies* copies) {
  return ListWithTries([&] { return TryListWhileRunning(stream, generation, until, copies); });
}

void RemoveFinished(OpenScopeCopies* copies, const ChunkHeader* chunk, uint32_t before, uint32_t after) {
  const auto* records = reinterpret_cast<const Record*>(chunk + 1);
  size_t kept = 0;
  for (const OpenScopeCopy& copy : *copies) {
    if (!IsAmong(copy, records + before, records + after)) (*copies)[kept++] = copy;
  }
  copies->SetSize(kept);
}

void RemoveNameless(OpenScopeCopies* copies) {
  size_t kept = 0;
  for (const OpenScopeCopy& copy : *copies) {
    if (copy.name != 0) (*copies)[kept++] = copy;
  }
  copies->SetSize(kept);
}

}  // namespace opscope
