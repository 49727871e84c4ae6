// A block of an `.opscope` file that is prepared before its turn: all work that needs no other block, so that several
// threads can prepare several blocks.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/text_interner.h"
#include "opscope/trace_tables.h"
#include "wire/container.h"
#include "wire/string_block.h"
#include "wire/table_block.h"

namespace opscope {

class BlockAhead {
 public:
  UndecodedBlock undecoded;
  bool is_whole = false;
  std::span<const std::byte> payload;
  // Set for a dictionary block.
  bool has_strings = false;
  StringBlock strings;
  std::vector<uint32_t> tags;

  // Checks and decompresses the block, and splits a dictionary into its texts.
  void Read() {
    is_whole = ReadPayload(undecoded, &decompressed_, &payload);
    has_strings = false;
    if (undecoded.type != block_types::kStrings) return DropMemory();
    if (is_whole) has_strings = DecodeStrings(payload, &decoder_, &strings);
    tags.clear();
    for (const std::string_view text : strings.texts)
      tags.push_back(TextInterner::TagOf(text));
  }

  bool is_spans() const {
    return undecoded.type == block_types::kTable && TableOf(payload) == SpanDescription::kNumber;
  }
  TaggedTexts texts() const { return {strings.texts, tags}; }

 private:
  // Frees the memory for dictionary blocks, which are large and come first in a file.
  void DropMemory() {
    strings.texts = {};
    tags = {};
    decoder_ = {};
    if (payload.data() != reinterpret_cast<const std::byte*>(decompressed_.data())) decompressed_ = {};
  }

  std::string decompressed_;
  ColumnDecoder decoder_;
};

}  // namespace opscope
