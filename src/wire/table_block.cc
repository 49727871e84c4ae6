// SPDX-License-Identifier: Apache-2.0
#include "wire/table_block.h"

#include <algorithm>

namespace opscope {
namespace {
constexpr uint64_t kMaxColumns = 1000;
}

void TableBlockWriter::Add(uint32_t column, std::span<const uint64_t> values, Transform transform) {
  std::string encoded;
  AppendColumn(&encoded, values, transform);
  AppendVarint(&body_, column);
  AppendVarint(&body_, values.size());
  AppendVarint(&body_, encoded.size());
  body_ += encoded;
  ++columns_;
}

void TableBlockWriter::AddUnless(uint64_t absent, uint32_t column, std::span<const uint64_t> values,
                                 Transform transform) {
  if (std::all_of(values.begin(), values.end(), [absent](uint64_t value) { return value == absent; })) return;
  Add(column, values, transform);
}

std::string TableBlockWriter::Finish() const {
  std::string payload;
  AppendVarint(&payload, table_);
  AppendVarint(&payload, columns_);
  return payload + body_;
}

bool TableBlock::Parse(std::span<const std::byte> payload) {
  columns_.clear();
  ByteReader reader(payload);
  table_ = static_cast<uint32_t>(reader.Varint());
  const uint64_t count = reader.Varint();
  if (!reader.ok() || count > kMaxColumns) return false;
  for (uint64_t i = 0; i < count; ++i) {
    Column column;
    column.id = static_cast<uint32_t>(reader.Varint());
    const uint64_t rows = reader.Varint();
    const uint64_t bytes = reader.Varint();
    column.bytes = reader.Bytes(bytes);
    if (!reader.ok() || rows > kMaxColumnRows) return false;
    column.rows = static_cast<size_t>(rows);
    columns_.push_back(column);
  }
  return reader.at_end();
}

const TableBlock::Column* TableBlock::Find(uint32_t column) const {
  const auto found =
      std::find_if(columns_.begin(), columns_.end(), [column](const Column& c) { return c.id == column; });
  return found == columns_.end() ? nullptr : &*found;
}

size_t TableBlock::rows(uint32_t column) const {
  const Column* found = Find(column);
  return found == nullptr ? 0 : found->rows;
}

bool TableBlock::Read(uint32_t column, size_t rows, uint64_t absent, std::vector<uint64_t>* values) const {
  values->assign(rows, absent);
  const Column* found = Find(column);
  if (found == nullptr) return true;
  if (found->rows != rows) return false;
  ByteReader reader(found->bytes);
  return ReadColumn(&reader, *values) && reader.at_end();
}

}  // namespace opscope
