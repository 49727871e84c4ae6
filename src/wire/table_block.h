// The payload of a kTable block: some rows of one table, column by column. Each column has its number,
// so a reader skips unknown columns (of newer minor versions) and uses defaults for absent ones
// (a column whose every value is the default is not written).
//
//   varint table | varint columns | per column: varint id, varint rows, varint bytes, encoded column
//
// Thread rule: one thread at a time per object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wire/column_codec.h"

namespace opscope {

inline constexpr size_t kMaxRowsPerBlock = 65536;          // limit of writers
inline constexpr size_t kMaxColumnRows = size_t{1} << 22;  // limit of readers: a flattened list has more rows

// Writes one block after the other; reuses its memory.
class TableBlockWriter {
 public:
  TableBlockWriter() = default;
  explicit TableBlockWriter(uint32_t table) : table_(table) {}
  void Restart(uint32_t table);

  void Add(uint32_t column, std::span<const uint64_t> values, ColumnEncoding encoding);
  // As Add, but writes nothing if every value is `absent`.
  void AddUnless(uint64_t absent, uint32_t column, std::span<const uint64_t> values, ColumnEncoding encoding);
  // Memory for the values of a column, which AddScratch then adds. Valid until the next call of any function.
  std::span<uint64_t> Scratch(size_t rows);
  void AddScratch(uint32_t column, size_t rows, ColumnEncoding encoding);

  void AppendTo(std::string* payload) const;

 private:
  uint32_t table_ = 0;
  uint32_t columns_ = 0;
  std::string body_, encoded_;
  std::vector<uint64_t> values_;
  ColumnEncoder encoder_;
};

// The table number of a kTable payload; 0 if the payload is damaged.
[[nodiscard]] inline uint32_t TableOf(std::span<const std::byte> payload) {
  return static_cast<uint32_t>(ByteReader(payload).Varint());
}

class TableBlock {
 public:
  // False if the payload is damaged. The payload must outlive the object.
  [[nodiscard]] bool Parse(std::span<const std::byte> payload);

  uint32_t table() const { return table_; }
  // Rows of the column, 0 if it is absent.
  size_t rows(uint32_t column) const;
  bool has(uint32_t column) const { return Find(column) != nullptr; }
  // Decodes a column. False if it is absent, is damaged or has another number of rows.
  [[nodiscard]] bool Read(uint32_t column, std::span<uint64_t> values, ColumnDecoder* decoder) const;
  // Decodes a column; every row is `absent` if the column is. False if it is damaged or has another number of rows.
  [[nodiscard]] bool Read(uint32_t column, size_t rows, uint64_t absent, std::vector<uint64_t>* values) const;

 private:
  struct Column {
    uint32_t id = 0;
    size_t rows = 0;
    std::span<const std::byte> bytes;
  };
  const Column* Find(uint32_t column) const;

  uint32_t table_ = 0;
  std::vector<Column> columns_;
};

}  // namespace opscope
