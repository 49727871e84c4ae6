// Sizes and bytes of texts are stored apart: the sizes compress as a column, and the reader finds all texts
// of a block with one pass over the sizes and no copy.
// SPDX-License-Identifier: Apache-2.0
#include "wire/string_block.h"

#include "wire/table_block.h"

namespace opscope {

void AppendStrings(const StringBlock& block, ColumnEncoder* encoder, std::string* payload) {
  std::vector<uint64_t> sizes;
  sizes.reserve(block.texts.size());
  for (const std::string_view text : block.texts)
    sizes.push_back(text.size());
  AppendVarint(payload, block.first_id);
  AppendVarint(payload, block.texts.size());
  encoder->Append(payload, sizes, ColumnEncoding::kPlain);
  for (const std::string_view text : block.texts)
    *payload += text;
}

bool DecodeStrings(std::span<const std::byte> payload, ColumnDecoder* decoder, StringBlock* block) {
  ByteReader reader(payload);
  const uint64_t first_id = reader.Varint(), count = reader.Varint();
  if (!reader.ok() || first_id > UINT32_MAX || count > kMaxColumnRows) return false;
  block->first_id = static_cast<uint32_t>(first_id);
  std::vector<uint64_t> sizes(static_cast<size_t>(count));
  if (!decoder->Read(&reader, sizes)) return false;
  block->texts.clear();
  block->texts.reserve(sizes.size());
  for (const uint64_t size : sizes)
    block->texts.push_back(reader.Text(size));
  return reader.ok() && reader.at_end();
}

}  // namespace opscope
