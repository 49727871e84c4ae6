// A cursor over JSON bytes that validates while it reads and returns slices of the input. It is written for damaged
// files: it needs no padding after the end, builds no index, always knows its byte offset, distinguishes a truncated
// input from a syntax error, and accepts common mistakes of trace writers (NaN, raw control characters, bytes that are
// not UTF-8, a comma before a closing bracket or at the begin of an array).
//
// Why not simdjson: its first stage reads the complete document before it returns anything and refuses it for one
// unterminated string, one raw control character or one byte that is not UTF-8, where an importer must return
// everything before the damage. It needs padding behind a mapped file and 4 bytes of index per byte, and is limited to
// 4 GB; its strings refuse the lone surrogates that encode bytes that are not UTF-8. Only its structural index would be
// of use. The tests compare this scanner with simdjson.
//
// Thread rule: one thread at a time. Slices are valid as long as the input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "import/text/text_source.h"

namespace opscope {

struct JsonValue {
  enum class Kind : uint8_t { kAbsent, kString, kNumber, kTrue, kFalse, kNull, kNotFinite, kArray, kObject };
  Kind kind = Kind::kAbsent;
  // Can be copied into other JSON unchanged, and a string equals its decoded value: no escape, no control character, no
  // byte above 0x7f, no NaN inside.
  bool plain = true;
  std::string_view text;  // a string without its quotes, anything else as written

  bool present() const { return kind != Kind::kAbsent; }
  bool is_string() const { return kind == Kind::kString; }
  bool is_number() const { return kind == Kind::kNumber; }
};

struct JsonMember {
  JsonValue key;
  JsonValue value;
};

// Counts the strings read with escapes that JSON does not have.
struct BadEscapes {
  uint64_t strings = 0;
  uint64_t first = 0;  // offset of the first such escape, if strings > 0
};

// Caches short arrays, because traces repeat them: the sizes and types of arguments.
class JsonArrayMemo {
 public:
  // The length of the array at the front of `rest` if it is cached, else 0.
  size_t Find(std::string_view rest, bool* plain) const;
  void Keep(std::string_view rest, size_t size, bool plain);

 private:
  static constexpr size_t kMaxSize = 188, kKey = 16, kEntries = 256;
  struct Entry {
    uint16_t size = 0;
    bool plain = true;
    char text[kMaxSize];
  };
  static size_t SlotOf(std::string_view rest);
  std::unique_ptr<Entry[]> entries_ = std::make_unique<Entry[]>(kEntries);
};

class JsonScanner {
 public:
  static constexpr int kMaxDepth = 512;
  static constexpr size_t kMaxMembers = 4096;  // of an object that is read into a vector

  // first_offset: offset of the first byte of `text` in the document; the offsets below count from there.
  explicit JsonScanner(std::string_view text, uint64_t first_offset = 0, JsonArrayMemo* memo = nullptr)
      : memo_(memo),
        first_offset_(first_offset),
        begin_(text.data()),
        at_(text.data()),
        end_(text.data() + text.size()) {}

  uint64_t offset() const { return first_offset_ + static_cast<uint64_t>(at_ - begin_); }
  bool at_end() const { return at_ == end_; }

  // The next byte that is not blank, or 0 at the end of the input.
  char Peek() {
    if (at_ != end_ && IsJsonBlank(*at_)) {
      ++at_;  // there is usually one blank
      if (at_ != end_ && IsJsonBlank(*at_)) SkipBlanks();
    }
    return at_ == end_ ? '\0' : *at_;
  }
  void Skip(size_t bytes) { at_ += bytes; }
  void SkipByteOrderMark() {
    if (std::string_view(at_, end_).starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
  }

  // Continues in another text; the counts remain.
  void MoveTo(std::string_view text, uint64_t first_offset) { MoveTo(text, first_offset, BadEscapes(bad_escapes_)); }
  void MoveTo(std::string_view text, uint64_t first_offset, const BadEscapes& counted) {
    *this = JsonScanner(text, first_offset, memo_);
    bad_escapes_ = counted;
  }

  const BadEscapes& bad_escapes() const { return bad_escapes_; }

  // The bytes from the cursor on, to look ahead.
  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }

  // If the next byte that is not blank is `wanted`, moves past it and returns true; else Fail(complaint).
  bool Expect(char wanted, const char* complaint);

  // Each returns false after a failure; failed_offset() and complaint() describe it.
  bool ReadString(JsonValue* out);  // REQUIRES: at a quote
  bool ReadValue(JsonValue* out);
  // Replaces the contents of `out` by the members of the object at the cursor. Of members with equal keys the last
  // value is kept, at the first one's position. REQUIRES: at '{'
  bool ReadMembers(std::vector<JsonMember>* out);

  bool Fail(const char* complaint);
  bool truncated() const { return truncated_; }       // the input ends too early
  uint64_t failed_offset() const { return failed_; }  // the byte at which reading failed
  const char* complaint() const { return complaint_; }

 private:
  void SkipBlanks();
  bool ReadScalar(JsonValue* out);
  void CountBadEscapes(std::string_view string);
  bool ReadNumber(JsonValue* out);
  bool ReadWord(JsonValue* out);
  bool ReadNested(JsonValue* out);

  JsonArrayMemo* memo_;
  uint64_t first_offset_;
  const char* begin_;
  const char* at_;
  const char* end_;
  BadEscapes bad_escapes_;
  bool truncated_ = false;
  uint64_t failed_ = 0;
  const char* complaint_ = "";
};

// Appends `value` as JSON that every reader accepts: strings are escaped again, NaN and infinities become null.
void AppendCleanJson(std::string* out, const JsonValue& value);
// Appends `key: value` to the members, spaced as JsonMemberWriter::kSpaced. False: the value is NaN or infinite, and
// nothing is appended.
bool AppendCleanMember(std::string* members, const JsonMember& member);

}  // namespace opscope
