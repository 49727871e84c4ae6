// The slow path of call sites, for an instruction that is not in the cache, or whose text is not in the current chunk.
// The text is computed once per window, because the line number needs a walk over Python's line table, and written once
// per chunk.
// SPDX-License-Identifier: Apache-2.0
#include "sources/python/call_sites.h"

#include <cstddef>
#include <cstring>
#include <string>

namespace opscope {

CallSite* CallSites::Remember(const void* instruction, PyCodeObject* code, int line, CallNames* names) {
  const void* key = KeyOf(instruction);
  const CallName* text = names->OfSite(key, code, line);
  CallSite* site = FirstOf(key);
  site[1] = site[0];
  site[0] = {.key = key, .text = text};
  return site;
}

// Writes the text directly, without the stream's name cache: the call sites are a cache already.
uint32_t PayloadOf(Stream* stream, CallSite* site) {
  if (site->chunk_sequence == stream->chunk_sequence) return site->payload;
  struct {
    PayloadHeader header;
    uint32_t text = 0, none = 0;
    NameEntry name;
  } entries;
  constexpr auto kPayloadBytes = static_cast<uint32_t>(offsetof(decltype(entries), name));
  const std::string& text = site->text->text;
  char* reserved = ReserveEntry(stream, static_cast<uint32_t>(kPayloadBytes + NameEntryBytes(text.size())));
  if (reserved == nullptr) return 0;
  const uint32_t payload = OffsetInChunk(stream, reserved);
  entries.header = {kPayloadBytes, payload_fields::kKeywords, 0};
  entries.text = payload + kPayloadBytes;
  entries.name.size = static_cast<uint32_t>(text.size());
  std::memcpy(reserved, &entries, sizeof(entries));
  std::memcpy(reserved + sizeof(entries), text.c_str(), text.size() + 1);
  site->payload = payload;
  site->chunk_sequence = stream->chunk_sequence;
  return payload;
}

}  // namespace opscope
