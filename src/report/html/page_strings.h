// The texts of a page's data, each once: other members refer to them by index. Texts of a part that is written anew in
// a smaller size can be rolled back.
//
//   strings.Commit();                       // what was added so far stays
//   WriteTimeline(budget, &strings);
//   if (IsTooLarge()) strings.RollBack();   // to the last Commit
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/text_interner.h"
#include "opscope/trace.h"

namespace opscope {

// The text; if it is longer than `most`, its beginning up to a whole character, and an ellipsis.
[[nodiscard]] std::string CutText(std::string_view text, size_t most);

class PageStrings {
 public:
  // max_bytes: longer texts are cut, and end with an ellipsis.
  PageStrings(const Trace& trace, size_t max_bytes)
      : trace_(trace), max_bytes_(max_bytes), of_trace_(trace.string_count(), kUnknown) {
    Of(std::string_view());
    Commit();
  }

  uint32_t Of(std::string_view text) { return text.size() <= max_bytes_ ? Add(text) : Add(CutText(text, max_bytes_)); }
  // kNone is "".
  uint32_t Of(StringId id) {
    if (Row(id) >= of_trace_.size()) return 0;
    uint32_t& number = of_trace_[Row(id)];
    if (number == kUnknown) number = Of(trace_.text(id));
    return number;
  }

  void Commit() {
    for (uint32_t i = 0; i < uncommitted_.size(); ++i)
      committed_.Add(uncommitted_.text(i));
    uncommitted_.Clear();
    committed_bytes_ = bytes_;
  }
  void RollBack() {
    for (uint32_t& number : of_trace_) {
      if (number >= committed_.size()) number = kUnknown;
    }
    uncommitted_.Clear();
    bytes_ = committed_bytes_;
  }

  // About the length of all texts in the data.
  size_t bytes() const { return bytes_; }
  // Of those since the last Commit.
  size_t uncommitted_bytes() const { return bytes_ - committed_bytes_; }

  size_t size() const { return committed_.size() + uncommitted_.size(); }
  std::string_view text(size_t number) const {
    const auto index = static_cast<uint32_t>(number);
    return index < committed_.size() ? committed_.text(index) : uncommitted_.text(index - committed_.size());
  }

  // A list of all texts.
  void AppendJson(std::string* out) const {
    *out += '[';
    for (size_t i = 0; i < size(); ++i) {
      if (i > 0) *out += ',';
      AppendJsonString(out, text(i));
    }
    *out += ']';
  }

 private:
  static constexpr uint32_t kUnknown = 0xffffffff;

  // Length in the data, at most: with quotes, comma and escapes.
  static size_t LengthOf(std::string_view text) {
    const bool is_utf8 = IsUtf8(text);
    size_t length = text.size() + 3;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte == 0x7f || c == '<' || (byte >= 0x80 && !is_utf8)) length += 5;
      if (c == '"' || c == '\\') length += 1;
      if (byte == 0xe2) length += 3;  // may begin U+2028
    }
    return length;
  }

  uint32_t Add(std::string_view text) {
    const uint32_t found = committed_.Find(text);
    if (found != TextInterner::kNone) return found;
    const uint32_t before = uncommitted_.size(), number = uncommitted_.Add(text);
    if (uncommitted_.size() > before) bytes_ += LengthOf(text);
    return committed_.size() + number;
  }

  const Trace& trace_;
  size_t max_bytes_;
  std::vector<uint32_t> of_trace_;  // by StringId
  TextInterner committed_, uncommitted_;
  size_t bytes_ = 0, committed_bytes_ = 0;
};

}  // namespace opscope
