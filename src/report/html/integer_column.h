// A column of integers in the data of a page: varints, compressed by zlib, as base64. docs/reference/web_data.md has
// the layout.
//
//   IntegerColumn starts(IntegerColumn::kDeltas);
//   starts.Add(100);
//   starts.Add(130);
//   starts.AppendJson(&out);   // {"n":2,"d":1,"z":"..."}, the bytes of 100 and 30
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

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

  // {"n":...,"d":...,"z":"..."}. Throws std::bad_alloc.
  void AppendJson(std::string* out) const;

 private:
  Kind kind_;
  int64_t before_ = 0;
  size_t count_ = 0;
  std::string bytes_;
};

}  // namespace opscope
