// A column of integers in the data of a page: varints, compressed by zlib, as base64. docs/reference/web_data.md has
// the layout.
//
//   IntegerColumn starts(IntegerColumn::kDeltas);
//   starts.Add(100);
//   starts.Add(130);
//   starts.AppendJson(&out);   // {"n":2,"d":1,"z":"..."}, the bytes of 100 and 30
//
// Compression takes most of the time of a page, so the columns of a part may be compressed by several threads before
// they are written.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/column.h"
#include "base/varint.h"

namespace opscope {

class IntegerColumn {
 public:
  enum Kind : uint8_t { kValues, kDeltas };

  explicit IntegerColumn(Kind kind = kValues) : kind_(kind) {}

  // Differences wrap around modulo 2^64, as readers add them up.
  void Add(int64_t value) {
    const auto difference = static_cast<int64_t>(static_cast<uint64_t>(value) - static_cast<uint64_t>(before_));
    AppendVarint(&bytes_, ZigZag(kind_ == kDeltas ? difference : value));
    before_ = value;
    ++count_;
  }
  [[nodiscard]] size_t size() const { return count_; }

  // Makes AppendJson cheap; no value may be added afterwards. Throws std::bad_alloc.
  void Compress();

  // {"n":...,"d":...,"z":"..."}. Throws std::bad_alloc.
  void AppendJson(std::string* out) const;

  // Bytes before compression.
  [[nodiscard]] size_t raw_bytes() const { return bytes_.size(); }

 private:
  [[nodiscard]] std::string Compressed() const;

  Kind kind_;
  int64_t before_ = 0;
  size_t count_ = 0;
  Column<char> bytes_;
  std::string compressed_;  // ""; not compressed so far
};

// Compresses the columns, on several threads if there is much to do. The result does not depend on their number.
void CompressColumns(std::vector<IntegerColumn*> columns);

}  // namespace opscope
