// SPDX-License-Identifier: Apache-2.0
#include "sources/python/call_places.h"

#include <cstddef>
#include <cstring>
#include <string>

namespace opscope {

CallPlace* CallPlaces::Remember(const void* instruction, PyCodeObject* code, int line, CallNames* names) {
  const void* key = KeyOf(instruction);
  const CallName* text = names->OfPlace(key, code, line);
  CallPlace* place = FirstOf(key);
  place[1] = place[0];
  place[0] = {.key = key, .text = text};
  return place;
}

// No table of names is asked: the places are one.
uint32_t PayloadOf(Stream* stream, CallPlace* place) {
  if (place->chunk_sequence == stream->chunk_sequence) return place->payload;
  struct {
    PayloadHeader header;
    uint32_t text = 0, none = 0;
    NameEntry name;
  } entries;
  constexpr auto kPayloadBytes = static_cast<uint32_t>(offsetof(decltype(entries), name));
  const std::string& text = place->text->text;
  char* side = ReserveSide(stream, static_cast<uint32_t>(kPayloadBytes + NameEntryBytes(text.size())));
  if (side == nullptr) return 0;
  const uint32_t payload = OffsetInChunk(stream, side);
  entries.header = {kPayloadBytes, payload_fields::kKeywords, 0};
  entries.text = payload + kPayloadBytes;
  entries.name.size = static_cast<uint32_t>(text.size());
  std::memcpy(side, &entries, sizeof(entries));
  std::memcpy(side + sizeof(entries), text.c_str(), text.size() + 1);
  place->payload = payload;
  place->chunk_sequence = stream->chunk_sequence;
  return payload;
}

}  // namespace opscope
