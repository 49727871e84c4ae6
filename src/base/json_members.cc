// Checks a JSON text in one pass and without allocation, because an export of a million events checks as many texts. A
// bit for each open bracket says whether it is that of an object.
// SPDX-License-Identifier: Apache-2.0
#include "base/json_members.h"

#include <array>
#include <bitset>
#include <string>

#include "base/text.h"

namespace opscope {
namespace {

// Bytes that stand for themselves in a JSON string: not its end, no escape, no control character, ASCII.
constexpr std::array<bool, 256> PlainBytes() {
  std::array<bool, 256> plain = {};
  for (size_t c = 0x20; c < 0x80; ++c)
    plain[c] = c != '"' && c != '\\';
  return plain;
}
constexpr std::array<bool, 256> kPlain = PlainBytes();

class JsonCheck {
 public:
  explicit JsonCheck(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool IsValue() { return ReadValues() && at_ == end_; }
  bool AreMembers() { return Open(true) && ReadKey() && ReadValues() && at_ == end_; }

 private:
  static constexpr size_t kMaxOpen = 513;  // with the bracket that AreMembers assumes around its text

  char Peek() const { return at_ < end_ ? *at_ : '\0'; }
  bool Take(char wanted) {
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }
  void SkipSpace() {
    while (at_ < end_ && IsJsonBlank(*at_))
      ++at_;
  }

  bool Open(bool is_object) {
    if (open_ == kMaxOpen) return false;
    is_object_[open_++] = is_object;
    return true;
  }

  // A value and what follows it inside the open brackets: up to the end of the text, or of the outermost value.
  bool ReadValues() {
    const size_t first = open_;
    while (true) {
      SkipSpace();
      const char next = Peek();
      if (next == '[' || next == '{') {
        ++at_;
        if (!Open(next == '{')) return false;
        SkipSpace();
        if (Peek() != (next == '{' ? '}' : ']')) {
          if (next == '{' && !ReadKey()) return false;
          continue;
        }
      } else if (!ReadScalar(next)) {
        return false;
      }
      SkipSpace();
      while (open_ > first && Take(is_object_[open_ - 1] ? '}' : ']')) {
        --open_;
        SkipSpace();
      }
      if (open_ == 0 || at_ == end_) return open_ == first;
      if (!Take(',') || (is_object_[open_ - 1] && !ReadKey())) return false;
    }
  }

  bool ReadKey() {
    SkipSpace();
    if (!ReadString()) return false;
    SkipSpace();
    return Take(':');
  }

  bool ReadScalar(char first) {
    if (first == '"') return ReadString();
    if (first == 't') return TakeWord("true");
    if (first == 'f') return TakeWord("false");
    if (first == 'n') return TakeWord("null");
    return ReadNumber();
  }
  bool TakeWord(std::string_view word) {
    if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool ReadDigits() {
    const char* const first = at_;
    while (at_ < end_ && IsDigit(*at_))
      ++at_;
    return at_ != first;
  }
  bool ReadNumber() {
    Take('-');
    if (!Take('0') && !ReadDigits()) return false;
    if (Take('.') && !ReadDigits()) return false;
    if (!Take('e') && !Take('E')) return true;
    if (!Take('+')) Take('-');
    return ReadDigits();
  }

  bool ReadString() {
    if (!Take('"')) return false;
    while (true) {
      while (at_ < end_ && kPlain[static_cast<unsigned char>(*at_)])
        ++at_;
      if (Take('"')) return true;
      if (Peek() == '\\') {
        if (!ReadEscape()) return false;
        continue;
      }
      if (static_cast<unsigned char>(Peek()) < 0x80) return false;  // a control character, or the end
      const size_t length = Utf8SequenceLength({at_, static_cast<size_t>(end_ - at_)});
      if (length == 0) return false;
      at_ += length;
    }
  }
  bool ReadEscape() {
    ++at_;
    if (!Take('u')) {
      if (at_ == end_ || std::string_view("\"\\/bfnrt").find(*at_) == std::string_view::npos) return false;
      ++at_;
      return true;
    }
    for (int i = 0; i < 4; ++i) {
      if (HexDigit(Peek()) < 0) return false;
      ++at_;
    }
    return true;
  }

  const char* at_;
  const char* const end_;
  std::bitset<kMaxOpen> is_object_;
  size_t open_ = 0;
};

}  // namespace

bool IsJsonValue(std::string_view text) {
  return JsonCheck(text).IsValue();
}

bool AreJsonMembers(std::string_view text) {
  return JsonCheck(text).AreMembers();
}

Status CheckMetadataJson(std::string_view members) {
  if (members.empty() || AreJsonMembers(members)) return {};
  return Error{ErrorCode::kInvalidArgument,
               "metadata_json: not the members of a JSON object: " + std::string(members.substr(0, 100)), 0};
}

}  // namespace opscope
