// Writes entries into a chunk that is being made, downward from its end. Each name stands there once.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "opscope/record.h"
#include "recorder/entries.h"
#include "recorder/name_table.h"

namespace opscope {

class ChunkSink final : public EntrySink {
 public:
  // Keeps room for `records` records. REQUIRES: chunk->size is set.
  ChunkSink(ChunkHeader* chunk, uint64_t records)
      : base_(reinterpret_cast<char*>(chunk)),
        lowest_(static_cast<uint32_t>(sizeof(ChunkHeader) + records * sizeof(Record))),
        limit_(chunk->size) {}

  // Lowest byte that entries use.
  uint32_t limit() const { return limit_; }
  // True if an entry did not fit.
  bool full() const { return full_; }

  uint32_t Intern(std::string_view text) override {
    if (const uint32_t known = names_.Find(base_, text); known != 0) return known;
    uint32_t offset = 0;
    char* address = Reserve(static_cast<uint32_t>(NameEntryBytes(text.size())), &offset);
    if (address == nullptr) return 0;
    StoreName(address, text);
    names_.Insert(text, offset);
    return offset;
  }
  char* Reserve(uint32_t bytes, uint32_t* offset) override {
    full_ = full_ || limit_ - lowest_ < bytes;
    if (full_) return nullptr;
    limit_ -= bytes;
    *offset = limit_;
    return base_ + limit_;
  }

 private:
  char* base_;
  uint32_t lowest_;
  uint32_t limit_;
  bool full_ = false;
  NameTable names_;
};

}  // namespace opscope
