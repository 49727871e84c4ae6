// Keeps the table of open scopes in a mapped file. The kernel writes the pages even if the process is
// killed between two stores, so the order of the stores is the protocol: clear `start`, write the rest,
// write `start`. An entry with a start is whole. Ends leave the table alone (their record says enough), so
// only begins pay: four stores, 37 instructions of the 153 of a scope in a mapped file.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/open_table.h"

#include <cstddef>

namespace opscope {
namespace {

uint32_t DepthOf(const OpenScope* scope) {
  return UnpackDepth(scope->depth_kind_flags.load(std::memory_order_relaxed));
}

}  // namespace

uint32_t NextCapacity(const Stream* stream) {
  const OpenScope* top = stream->top.load(std::memory_order_relaxed);
  return top == nullptr ? 0 : DepthOf(top) * 3 / 2 + 1;
}

void SetOpenTable(Stream* stream, OpenTable* table) {
  stream->open_capacity = table == nullptr ? 0 : table->capacity;
  stream->open_table = table == nullptr ? nullptr : reinterpret_cast<OpenTableEntry*>(table + 1);
}

void WriteMovedScope(Stream* stream, const OpenScope* scope) {
  const uint32_t depth = DepthOf(scope);
  if (depth >= stream->open_capacity) {
    OpenTableOf(stream)->flags |= open_table_flags::kTooDeep;
    return;
  }
  stream->open_table[depth] = {
      scope->start.load(std::memory_order_relaxed), scope->name.load(std::memory_order_relaxed),
      scope->payload.load(std::memory_order_relaxed), scope->depth_kind_flags.load(std::memory_order_relaxed),
      scope->origin.load(std::memory_order_relaxed)};
}

}  // namespace opscope

// A kill may come between any two stores: an entry that has a start is whole.
void opscope_write_open_scope(opscope::Stream* stream) {
  const opscope::OpenScope* scope = stream->top.load(std::memory_order_relaxed);
  const uint32_t depth = opscope::DepthOf(scope);
  if (OPSCOPE_UNLIKELY(depth >= stream->open_capacity)) {
    opscope::GrowOpenTable(stream, depth);
    return;
  }
  auto* words = reinterpret_cast<opscope::PublishedWord*>(stream->open_table + depth);
  __atomic_store_n(words, uint64_t{0}, __ATOMIC_RELEASE);
  __atomic_store_n(words + 1, LoadPair(scope, offsetof(opscope::OpenScope, name)), __ATOMIC_RELEASE);
  __atomic_store_n(words + 2, LoadPair(scope, offsetof(opscope::OpenScope, depth_kind_flags)), __ATOMIC_RELEASE);
  __atomic_store_n(words, scope->start.load(std::memory_order_relaxed), __ATOMIC_RELEASE);
}
