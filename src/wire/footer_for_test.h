// Reads the footer of a column file (footer.h). It is found from the end of the file: the end block has a fixed size
// and holds the footer's offset.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/column_codec.h"
#include "wire/container.h"
#include "wire/footer.h"

namespace opscope {

template <typename Row, typename Field>
bool ReadField(ByteReader* reader, Field Row::* field, std::vector<Row>* rows) {
  std::vector<uint64_t> values(rows->size());
  if (!ColumnDecoder().Read(reader, values)) return false;
  for (size_t i = 0; i < values.size(); ++i)
    (*rows)[i].*field = static_cast<Field>(values[i]);
  return true;
}

// A constant column takes the same few bytes for any number of rows, so the payload does not bound `count`.
template <typename Row>
bool ReadCount(ByteReader* reader, uint64_t max_count, std::vector<Row>* rows) {
  const uint64_t count = reader->Varint();
  if (!reader->ok() || count > max_count) return false;
  rows->assign(static_cast<size_t>(count), Row{});
  return true;
}

// False if the payload is damaged, or names more blocks or sums than a file of `file_bytes` can hold. So a damaged
// footer takes no more than about 60 bytes of memory per byte of its file.
inline bool DecodeFooter(std::span<const std::byte> payload, uint64_t file_bytes, Footer* footer) {
  // Each sum has another pair of name and category. The texts of the pairs and the rows that refer to them take more
  // than a byte per sum, even compressed.
  const uint64_t max_blocks = file_bytes / kBlockHeaderBytes, max_sums = file_bytes;
  ByteReader reader(payload);
  std::vector<FooterBlock>& blocks = footer->blocks;
  std::vector<FooterSum>& sums = footer->sums;
  return ReadCount(&reader, max_blocks, &blocks) && ReadField(&reader, &FooterBlock::offset, &blocks) &&
         ReadField(&reader, &FooterBlock::type, &blocks) && ReadField(&reader, &FooterBlock::table, &blocks) &&
         ReadField(&reader, &FooterBlock::rows, &blocks) && ReadField(&reader, &FooterBlock::first_ns, &blocks) &&
         ReadField(&reader, &FooterBlock::last_ns, &blocks) && ReadCount(&reader, max_sums, &sums) &&
         ReadField(&reader, &FooterSum::name, &sums) && ReadField(&reader, &FooterSum::category, &sums) &&
         ReadField(&reader, &FooterSum::count, &sums) && ReadField(&reader, &FooterSum::total_ns, &sums) &&
         ReadField(&reader, &FooterSum::self_ns, &sums) && ReadField(&reader, &FooterSum::min_ns, &sums) &&
         ReadField(&reader, &FooterSum::max_ns, &sums);
}

// Finds the footer of a complete file without reading anything else. Uses only bytes that a checksum covers.
inline bool FindFooter(std::span<const std::byte> file, Footer* footer) {
  constexpr size_t kEndBytes = kBlockHeaderBytes + 8;
  if (!LooksLikeOpscope(file) || file.size() < kFileHeaderBytes + kEndBytes) return false;
  Block block;
  BlockScanner end(file, file.size() - kEndBytes);
  if (!end.Next(&block) || block.type != block_types::kEnd || block.payload.size() != 8) return false;
  ByteReader reader(block.payload);
  const auto offset = reader.Fixed<uint64_t>();
  if (offset < kFileHeaderBytes || offset >= file.size()) return false;
  BlockScanner at(file, offset);
  return at.Next(&block) && block.offset == offset && block.type == block_types::kFooter &&
         DecodeFooter(block.payload, file.size(), footer);
}

}  // namespace opscope
