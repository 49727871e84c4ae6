// Writes members of a JSON object, one after the other, at the end of a string:
//
//   JsonMemberWriter(&out).Int("pid", 7).Text("name", "a\nb");        "pid":7,"name":"a\nb"
//   JsonMemberWriter(&out, JsonMemberWriter::kSpaced).Int("a", 1);    "a": 1, as importers and Kineto space members
//   JsonObject object(&out);  object.Int("pid", 7);  object.Close();  {"pid":7}
//
// A writer has no state but the string: its last byte tells whether a comma is due. So several writers, and code
// without one, may write members of the same object, and objects may be nested. Nothing is allocated beyond the growth
// of the string.
//
// Thread rule: one thread at a time per string.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace opscope {

class JsonMemberWriter {
 public:
  enum Spacing : uint8_t { kCompact, kSpaced };

  // Appends to `out`, which is empty or ends with a '{' or a member.
  explicit JsonMemberWriter(std::string* out, Spacing spacing = kCompact) : out_(out), spacing_(spacing) {}

  // REQUIRES: keys need no escapes, except in EscapedKey.
  JsonMemberWriter& Int(std::string_view key, int64_t value) {
    AppendInt(&Key(key), value);
    return *this;
  }
  JsonMemberWriter& Uint(std::string_view key, uint64_t value) {
    AppendUint(&Key(key), value);
    return *this;
  }
  // In the fewest digits that read back as the same number. REQUIRES: value is finite.
  JsonMemberWriter& Double(std::string_view key, double value) {
    AppendDouble(&Key(key), value);
    return *this;
  }
  // With this many decimals. NaN and infinities become null.
  JsonMemberWriter& Fixed(std::string_view key, double value, int decimals) {
    std::string& out = Key(key);
    if (std::isfinite(value)) {
      AppendFixed(&out, value, decimals);
    } else {
      out.append("null");
    }
    return *this;
  }
  template <typename Unsigned>
  JsonMemberWriter& Uints(std::string_view key, const Unsigned* values, size_t count) {
    std::string& out = Key(key);
    out += '[';
    for (size_t i = 0; i < count; ++i) {
      if (i != 0) out.append(spacing_ == kSpaced ? ", " : ",");
      AppendUint(&out, values[i]);
    }
    out += ']';
    return *this;
  }
  JsonMemberWriter& Text(std::string_view key, std::string_view text) {
    AppendJsonString(&Key(key), text);
    return *this;
  }
  // A value that is JSON already.
  JsonMemberWriter& Json(std::string_view key, std::string_view json) {
    Key(key).append(json);
    return *this;
  }
  // Members that are JSON already; "": none.
  JsonMemberWriter& Members(std::string_view members) {
    if (!members.empty()) Separate().append(members);
    return *this;
  }

  // The caller appends the value to the string.
  std::string& Key(std::string_view key) {
    return Separate().append("\"").append(key).append(spacing_ == kSpaced ? "\": " : "\":");
  }
  // The same for a key that may need escapes.
  std::string& EscapedKey(std::string_view key) {
    AppendJsonString(&Separate(), key);
    return out_->append(spacing_ == kSpaced ? ": " : ":");
  }

 protected:
  std::string& Separate() {
    if (!out_->empty() && out_->back() != '{') out_->append(spacing_ == kSpaced ? ", " : ",");
    return *out_;
  }

  std::string* out_;
  Spacing spacing_;
};

// An object of its own, from its brace to Close.
class JsonObject : public JsonMemberWriter {
 public:
  explicit JsonObject(std::string* out, Spacing spacing = kCompact) : JsonMemberWriter(out, spacing) { *out += '{'; }
  void Close() { *out_ += '}'; }
};

}  // namespace opscope
