// The footer is a small table of its own: each field of FooterBlock and FooterSum is one encoded column. A
// reader finds it from the end of the file: the end block has a fixed size and holds the footer's offset.
// Both are verified by their checksums before use.
// SPDX-License-Identifier: Apache-2.0
#include "wire/footer.h"

#include <algorithm>

#include "wire/column_codec.h"
#include "wire/container.h"

namespace opscope {
namespace {

// Each sum has a pair of name and category of its own. The texts of the pairs and the rows that refer to them take more
// than a byte per sum, even compressed.
constexpr uint64_t kMinBytesPerSum = 1;

template <typename Row, typename Field>
void AppendField(std::string* out, const std::vector<Row>& rows, Field Row::* field, ColumnEncoding encoding) {
  std::vector<uint64_t> values;
  values.reserve(rows.size());
  for (const Row& row : rows)
    values.push_back(static_cast<uint64_t>(row.*field));
  AppendColumn(out, values, encoding);
}

template <typename Row, typename Field>
bool ReadField(ByteReader* reader, Field Row::* field, std::vector<Row>* rows) {
  std::vector<uint64_t> values(rows->size());
  if (!ReadColumn(reader, values)) return false;
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

}  // namespace

std::string EncodeFooter(const Footer& footer) {
  std::string out;
  AppendVarint(&out, footer.blocks.size());
  AppendField(&out, footer.blocks, &FooterBlock::offset, ColumnEncoding::kDelta);
  AppendField(&out, footer.blocks, &FooterBlock::type, ColumnEncoding::kPlain);
  AppendField(&out, footer.blocks, &FooterBlock::table, ColumnEncoding::kPlain);
  AppendField(&out, footer.blocks, &FooterBlock::rows, ColumnEncoding::kPlain);
  AppendField(&out, footer.blocks, &FooterBlock::first_ns, ColumnEncoding::kDelta);
  AppendField(&out, footer.blocks, &FooterBlock::last_ns, ColumnEncoding::kDelta);
  AppendVarint(&out, footer.sums.size());
  AppendField(&out, footer.sums, &FooterSum::name, ColumnEncoding::kDelta);
  AppendField(&out, footer.sums, &FooterSum::category, ColumnEncoding::kPlain);
  AppendField(&out, footer.sums, &FooterSum::count, ColumnEncoding::kPlain);
  AppendField(&out, footer.sums, &FooterSum::total_ns, ColumnEncoding::kSigned);
  AppendField(&out, footer.sums, &FooterSum::self_ns, ColumnEncoding::kSigned);
  AppendField(&out, footer.sums, &FooterSum::min_ns, ColumnEncoding::kSigned);
  AppendField(&out, footer.sums, &FooterSum::max_ns, ColumnEncoding::kSigned);
  return out;
}

bool DecodeFooter(std::span<const std::byte> payload, uint64_t file_bytes, Footer* footer) {
  const uint64_t max_blocks = file_bytes / kBlockHeaderBytes, max_sums = file_bytes / kMinBytesPerSum;
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

bool FindFooter(std::span<const std::byte> file, Footer* footer) {
  constexpr size_t kEndBytes = kBlockHeaderBytes + 8;
  if (!LooksLikeOpscope(file) || file.size() < kFileHeaderBytes + kEndBytes) return false;
  // A scanner over the tail alone: it believes nothing that its checksums do not cover.
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
