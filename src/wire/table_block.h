// The payload of a kTable block: some rows of one table, column by column. Columns name themselves,
// so a reader skips what it does not know (newer minor versions) and takes defaults for what is absent
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
#include <utility>
#include <vector>

#include "wire/column_codec.h"

namespace opscope {

inline constexpr size_t kMaxRowsPerBlock = 65536;          // what writers put into one block
inline constexpr size_t kMaxColumnRows = size_t{1} << 22;  // what readers accept: lists of lists may be longer

// Writes one block after the other with the same memory.
class TableBlockWriter {
 public:
  TableBlockWriter() = default;
  explicit TableBlockWriter(uint32_t table) : table_(table) {}
  void Restart(uint32_t table);

  void Add(uint32_t column, std::span<const uint64_t> values, ColumnEncoding encoding);
  // As Add, but writes nothing when every value is `absent`.
  void AddUnless(uint64_t absent, uint32_t column, std::span<const uint64_t> values, ColumnEncoding encoding);
  // Room for the values of a column, valid until the next call of anything; then AddScratch adds them.
  std::span<uint64_t> Scratch(size_t rows);
  void AddScratch(uint32_t column, size_t rows, ColumnEncoding encoding);

  void AppendTo(std::string* payload) const;
  std::string Finish() const;

 private:
  uint32_t table_ = 0;
  uint32_t columns_ = 0;
  std::string body_, encoded_;
  std::vector<uint64_t> values_;
  ColumnEncoder encoder_;
};

// The table of a payload, 0 when there is none.
[[nodiscard]] inline uint32_t TableOf(std::span<const std::byte> payload) {
  return static_cast<uint32_t>(ByteReader(payload).Varint());
}

class TableBlock {
 public:
  // False when the payload contradicts itself. The payload must outlive the object.
  [[nodiscard]] bool Parse(std::span<const std::byte> payload);

  uint32_t table() const { return table_; }
  // Rows of the column, 0 when absent.
  size_t rows(uint32_t column) const;
  bool has(uint32_t column) const { return Find(column) != nullptr; }
  // The decoded column. False when it is not there, is damaged or its number of rows is another.
  [[nodiscard]] bool Read(uint32_t column, std::span<uint64_t> values, ColumnDecoder* decoder) const;
  // The decoded column; `absent` in every row when it is not there. False when it is damaged or its
  // number of rows is another.
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
