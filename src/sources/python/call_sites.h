// The call site of a recorded call: file and line of the caller, as torch.profiler writes it from 2.14 on. A call site
// is an instruction of the caller. Its text is made once per window and written once per chunk, as a payload with one
// JSON member to which the records of the calls refer. So a repeated call site costs one cache look-up, and the line
// number is computed once.
//
// Thread rule: the GIL is held; the call sites of a binding belong to its thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "opscope/recorder.h"
#include "sources/python/call_names.h"
#include "sources/python/frames.h"
#include "sources/streams/address_cache.h"

namespace opscope {

struct alignas(32) CallSite {
  const void* key = nullptr;
  uint32_t payload = 0;           // offset in the chunk
  uint32_t chunk_sequence = ~0u;  // of that chunk; the initial value is of no chunk
  const CallName* text = nullptr;
};

class CallSites {
 public:
  // Null: unknown; Of or Remember adds it.
  CallSite* Find(const CallingFrame* caller) { return FindKey(KeyOf(InstructionOf(caller))); }
  // The next two may throw std::bad_alloc and run no Python code. The result is valid until the next call site is
  // added.
  CallSite* Of(const CallingFrame* caller, CallNames* names) {
    const void* instruction = InstructionOf(caller);
    if (CallSite* known = FindKey(KeyOf(instruction))) return known;
    return Remember(instruction, CodeOf(caller), LineOf(caller), names);
  }
  // Adds a call site. instruction: an address in this code, at this line.
  CallSite* Remember(const void* instruction, PyCodeObject* code, int line, CallNames* names);

 private:
  // Odd, so that it differs from the key of a name, which for a resumed generator is an instruction, too.
  static const void* KeyOf(const void* instruction) { return static_cast<const char*>(instruction) + 1; }
  // A set of two entries, the newer one first: programs have more call sites than functions, so collisions are common.
  CallSite* FirstOf(const void* key) { return sites_.EntryOf(key).data(); }
  CallSite* FindKey(const void* key) {
    CallSite* site = FirstOf(key);
    if (__builtin_expect(site->key == key, 1)) return site;
    return site[1].key == key ? site + 1 : nullptr;
  }

  AddressCache<std::array<CallSite, 2>, 10> sites_;
};

// The offset of the call site's payload in the current chunk, which is written if it is not there yet; 0 at the memory
// cap. May begin the next chunk. REQUIRES: the thread is marked as writing.
uint32_t PayloadOf(Stream* stream, CallSite* site);

}  // namespace opscope
