// Members of a JSON object, one after the other: `"key": value, "key": value`.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace opscope {

class MemberWriter {
 public:
  // Appends; what stands in `out` are members, too.
  explicit MemberWriter(std::string* out) : out_(out) {}

  MemberWriter& Number(std::string_view key, int64_t value) {
    AppendInt(&Key(key), value);
    return *this;
  }
  MemberWriter& Unsigned(std::string_view key, uint64_t value) {
    AppendUint(&Key(key), value);
    return *this;
  }
  // With so many decimals; null of what is no number.
  MemberWriter& Fixed(std::string_view key, double value, int decimals) {
    std::string& out = Key(key);
    char text[400];
    if (std::isfinite(value)) {
      out.append(text, std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, decimals).ptr);
    } else {
      out.append("null");
    }
    return *this;
  }
  // In the fewest digits that read back exactly.
  MemberWriter& Fraction(std::string_view key, double value) {
    AppendDouble(&Key(key), value);
    return *this;
  }
  template <typename Unsigned>
  MemberWriter& Three(std::string_view key, const Unsigned* values) {
    std::string& out = Key(key);
    for (int i = 0; i < 3; ++i) {
      out.append(i == 0 ? "[" : ", ");
      AppendUint(&out, values[i]);
    }
    out += ']';
    return *this;
  }
  MemberWriter& Text(std::string_view key, std::string_view value) {
    AppendJsonString(&Key(key), value);
    return *this;
  }
  // The value is for the caller to append. REQUIRES: the key needs no escape.
  std::string& Key(std::string_view key) {
    if (!out_->empty()) out_->append(", ");
    return out_->append("\"").append(key).append("\": ");
  }

 private:
  std::string* out_;
};

}  // namespace opscope
