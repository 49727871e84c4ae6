// A block is a list of (column number, rows, bytes). Writing appends one encoded column after the other;
// parsing only notes where each lies, so a reader decodes the columns it wants and skips those of newer
// versions. Limits on columns and rows keep a damaged block from asking for gigabytes.
// SPDX-License-Identifier: Apache-2.0
#include "wire/table_block.h"

#include <algorithm>

namespace opscope {
namespace {
constexpr uint64_t kMaxColumns = 1000;
}

void TableBlockWriter::Restart(uint32_t table) {
  table_ = table;
  columns_ = 0;
  body_.clear();
}

std::span<uint64_t> TableBlockWriter::Scratch(size_t rows) {
  if (values_.size() < rows) values_.resize(rows);
  return std::span(values_).first(rows);
}

void TableBlockWriter::AddScratch(uint32_t column, size_t rows, ColumnEncoding encoding) {
  encoded_.clear();
  encoder_.Append(&encoded_, Scratch(rows), encoding);
  AppendVarint(&body_, column);
  AppendVarint(&body_, rows);
  AppendVarint(&body_, encoded_.size());
  body_ += encoded_;
  ++columns_;
}

void TableBlockWriter::Add(uint32_t column, std::span<const uint64_t> values, ColumnEncoding encoding) {
  std::copy(values.begin(), values.end(), Scratch(values.size()).begin());
  AddScratch(column, values.size(), encoding);
}

void TableBlockWriter::AddUnless(uint64_t absent, uint32_t column, std::span<const uint64_t> values,
                                 ColumnEncoding encoding) {
  if (std::all_of(values.begin(), values.end(), [absent](uint64_t value) { return value == absent; })) return;
  Add(column, values, encoding);
}

void TableBlockWriter::AppendTo(std::string* payload) const {
  AppendVarint(payload, table_);
  AppendVarint(payload, columns_);
  *payload += body_;
}

bool TableBlock::Parse(std::span<const std::byte> payload) {
  columns_.clear();
  ByteReader reader(payload);
  const uint64_t table = reader.Varint(), count = reader.Varint();
  if (!reader.ok() || table > UINT32_MAX || count > kMaxColumns) return false;
  table_ = static_cast<uint32_t>(table);
  for (uint64_t i = 0; i < count; ++i) {
    Column column;
    const uint64_t id = reader.Varint(), rows = reader.Varint(), bytes = reader.Varint();
    column.bytes = reader.Bytes(bytes);
    if (!reader.ok() || id > UINT32_MAX || rows > kMaxColumnRows) return false;
    column.id = static_cast<uint32_t>(id);
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

bool TableBlock::Read(uint32_t column, std::span<uint64_t> values, ColumnDecoder* decoder) const {
  const Column* found = Find(column);
  if (found == nullptr || found->rows != values.size()) return false;
  ByteReader reader(found->bytes);
  return decoder->Read(&reader, values) && reader.at_end();
}

bool TableBlock::Read(uint32_t column, size_t rows, uint64_t absent, std::vector<uint64_t>* values) const {
  values->assign(rows, absent);
  ColumnDecoder decoder;
  return !has(column) || Read(column, *values, &decoder);
}

}  // namespace opscope
