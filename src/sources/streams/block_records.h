// Records of allocated and freed blocks, as the sources of torch and Paddle write them.
//
// Thread rule: the stream is the calling thread's own and the thread counts as writing (Writing), or it is a track.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "opscope/recorder.h"

namespace opscope {

// Appends a block of host memory. time() returns the start; it is called when there is room, so that no register holds
// the start while the next chunk is taken. The record is filled in place: a copy costs more than the fields. At the cap
// the record counts as dropped.
template <typename Time>
inline void AppendHostBlock(Stream* stream, RecordSource source, const Time& time, uint64_t address, uint64_t bytes,
                            uint8_t flags) {
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0)) && !opscope_make_room(stream, 0)) return CountDrop(stream);
  Record* record = stream->next;
  *record = {.start = time(),
             .value = bytes,
             .name = static_cast<uint32_t>(address),
             .payload = static_cast<uint32_t>(address >> 32),
             .kind = RecordKind::kHostBlock,
             .flags = flags,
             .source = source};
  PublishNext(stream, record);
}

// Appends a record with a payload of fixed size. At the cap the record has no payload, or counts as dropped.
template <typename Payload>
void AppendWithPayload(Stream* stream, Record record, const Payload& payload) {
  if (char* room = ReserveEntry(stream, sizeof(payload)); room != nullptr) {
    std::memcpy(room, &payload, sizeof(payload));
    record.payload = OffsetInChunk(stream, room);
  }
  AppendRecord(stream, record);
}

}  // namespace opscope
