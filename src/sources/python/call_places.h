// From where calls come, as torch.profiler says it from 2.14 on: the file and the line where the caller stood. A place
// is an instruction of the caller; its text is made once per window and written once per chunk, as a payload with one
// JSON member, to which the records of the calls point. So a call that comes from where one came before costs a look
// into a table, and the line is worked out once.
//
// Thread rule: the GIL is held; the places of a binding are its thread's own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "opscope/recorder.h"
#include "sources/python/call_names.h"
#include "sources/python/frames.h"
#include "sources/streams/address_cache.h"

namespace opscope {

struct alignas(32) CallPlace {
  const void* key = nullptr;
  uint32_t payload = 0;           // offset in the chunk
  uint32_t chunk_sequence = ~0u;  // of that chunk; no chunk has this one
  const CallName* text = nullptr;
};

class CallPlaces {
 public:
  // Null: it has to be remembered.
  CallPlace* Find(const CallingFrame* caller) { return FindKey(KeyOf(InstructionOf(caller))); }
  // The two below may throw std::bad_alloc, and run no code of Python. A place is good until the next one is
  // remembered.
  CallPlace* Of(const CallingFrame* caller, CallNames* names) {
    const void* instruction = InstructionOf(caller);
    if (CallPlace* known = FindKey(KeyOf(instruction))) return known;
    return Remember(instruction, CodeOf(caller), LineOf(caller), names);
  }
  // instruction: of this code, at this line.
  CallPlace* Remember(const void* instruction, PyCodeObject* code, int line, CallNames* names);

 private:
  // Odd, as no key of a name is: a generator goes on at an instruction, too.
  static const void* KeyOf(const void* instruction) { return static_cast<const char*>(instruction) + 1; }
  // The first of the two that a key may have: a program calls from more places than it has functions.
  CallPlace* FirstOf(const void* key) { return places_.EntryOf(key).data(); }
  CallPlace* FindKey(const void* key) {
    CallPlace* place = FirstOf(key);
    if (__builtin_expect(place->key == key, 1)) return place;
    return place[1].key == key ? place + 1 : nullptr;
  }

  AddressCache<std::array<CallPlace, 2>, 10> places_;
};

// The offset of the place's payload, which is written where the chunk has none yet; 0 at the cap. May go on to the next
// chunk. REQUIRES: the thread counts as writing.
uint32_t PayloadOf(Stream* stream, CallPlace* place);

}  // namespace opscope
