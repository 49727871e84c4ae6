// Writes entries into a stream's current chunk without asking for room.
//
// Thread rule: the owner of the stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder/entries.h"
#include "recorder/registry.h"

namespace opscope {

class StreamSink final : public EntrySink {
 public:
  explicit StreamSink(StreamState* state) : state_(state) {}

  uint32_t Intern(std::string_view text) override {
    const char* base = reinterpret_cast<const char*>(state_->stream.chunk);
    if (const uint32_t known = state_->names.Find(base, text); known != 0) return known;
    uint32_t offset = 0;
    StoreName(Reserve(static_cast<uint32_t>(NameEntryBytes(text.size())), &offset), text);
    state_->names.Insert(text, offset);
    return offset;
  }

  char* Reserve(uint32_t bytes, uint32_t* offset) override {
    Stream& stream = state_->stream;
    stream.limit -= bytes;
    stream.published -= uint64_t{bytes} << 32;
    *offset = OffsetInChunk(&stream, stream.limit);
    return stream.limit;
  }

 private:
  StreamState* state_;
};

}  // namespace opscope
