// Writes one JSON object, member by member.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace opscope {

class JsonObject {
 public:
  explicit JsonObject(std::string* out) : out_(out) { *out_ += '{'; }

  void Text(std::string_view key, std::string_view text) {
    Key(key);
    AppendJsonString(out_, text);
  }
  void Int(std::string_view key, int64_t value) {
    Key(key);
    AppendInt(out_, value);
  }
  void Uint(std::string_view key, uint64_t value) {
    Key(key);
    AppendUint(out_, value);
  }
  // The caller writes the value.
  void Key(std::string_view key) {
    if (!is_first_) *out_ += ',';
    is_first_ = false;
    AppendJsonString(out_, key);
    *out_ += ':';
  }
  void Close() { *out_ += '}'; }

 private:
  std::string* out_;
  bool is_first_ = true;
};

}  // namespace opscope
