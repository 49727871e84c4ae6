// A block of an `.opscope` file on its way: everything that can be done with it before its turn comes, which needs no
// other block, so that several threads do it for several blocks.
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
  UndecodedBlock unread;
  bool is_whole = false;
  std::span<const std::byte> payload;
  // Of the dictionary.
  bool has_strings = false;
  StringBlock strings;
  std::vector<uint32_t> tags;

  // Checks and decompresses it; cuts the dictionary into its texts.
  void Read() {
    is_whole = ReadPayload(unread, &decompressed_, &payload);
    has_strings = false;
    if (unread.type != block_types::kStrings) return DropMemory();
    if (is_whole) has_strings = DecodeStrings(payload, &decoder_, &strings);
    tags.clear();
    for (const std::string_view text : strings.texts)
      tags.push_back(TextInterner::TagOf(text));
  }

  bool is_spans() const { return unread.type == block_types::kTable && TableOf(payload) == SpanDescription::kNumber; }
  TaggedTexts texts() const { return {strings.texts, tags}; }

 private:
  // The dictionary is over, and its blocks are the large ones.
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
