// A cursor over JSON bytes that validates as it goes and hands out slices of the input. It is written
// for damaged files: it needs no padding after the end, builds no index, knows at every moment the byte
// at which it stands, distinguishes a cut from a syntax error, and does not stop at what writers of traces get
// wrong (NaN, raw control characters, bytes that are not UTF-8, a comma before a closing bracket or at the begin of an
// array).
//
// Why not simdjson here: its first stage reads the whole document before anything is handed out and
// refuses it for one cut string, one raw control character or one byte that is not UTF-8, all of which
// must give "everything before"; it wants padding behind a mapped file, 4 bytes of index per byte, and
// stops at 4 GB; its strings refuse the lone surrogates with which names that are not Unicode are spelt.
// Only its structural index would have been left. The tests hold this scanner against simdjson.
//
// Thread rule: one thread at a time. Slices live as long as the input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace opscope {

struct JsonValue {
  enum class Kind : uint8_t { kAbsent, kString, kNumber, kTrue, kFalse, kNull, kNotFinite, kArray, kObject };
  Kind kind = Kind::kAbsent;
  // Can be copied into other JSON as it is, and a string is its own value: no escape, no control
  // character, no byte above 0x7f, no NaN inside.
  bool plain = true;
  std::string_view text;  // a string without its quotes, anything else as it stands

  bool present() const { return kind != Kind::kAbsent; }
  bool is_string() const { return kind == Kind::kString; }
  bool is_number() const { return kind == Kind::kNumber; }
};

struct JsonMember {
  JsonValue key;
  JsonValue value;
};

// Strings that were read and hold escapes that JSON does not have.
struct BadEscapes {
  uint64_t strings = 0;
  uint64_t first = 0;  // offset of the first such escape, when there are strings
};

// Short arrays that were read before. They repeat: the sizes of arguments, their types.
class JsonArrayMemo {
 public:
  // Bytes at the front of `rest` that are an array; 0: not known.
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
  static constexpr size_t kMaxMembers = 4096;  // of an object that is read member by member

  // first_offset: of the first byte of `text` in the whole text; offsets count from there.
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
      ++at_;  // mostly it is one
      if (at_ != end_ && IsJsonBlank(*at_)) SkipBlanks();
    }
    return at_ == end_ ? '\0' : *at_;
  }
  void Skip(size_t bytes) { at_ += bytes; }
  void SkipByteOrderMark() {
    if (std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with("\xef\xbb\xbf")) at_ += 3;
  }

  // Goes on in another text, with the counts so far.
  void MoveTo(std::string_view text, uint64_t first_offset) { MoveTo(text, first_offset, BadEscapes(bad_escapes_)); }
  void MoveTo(std::string_view text, uint64_t first_offset, const BadEscapes& counted) {
    *this = JsonScanner(text, first_offset, memo_);
    bad_escapes_ = counted;
  }

  const BadEscapes& bad_escapes() const { return bad_escapes_; }

  // The bytes from the cursor on, to look ahead.
  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }

  // True and past it when the next byte that is not blank is `wanted`; else Fail(complaint).
  bool Expect(char wanted, const char* complaint);

  // Each returns false after a failure; then failed_* say what and where.
  bool ReadString(JsonValue* out);  // REQUIRES: at a quote
  bool ReadValue(JsonValue* out);
  // Members of the object at the cursor, replacing the contents of `out`; of equal keys the last stays,
  // in the place of the first. REQUIRES: at '{'
  bool ReadMembers(std::vector<JsonMember>* out);

  bool Fail(const char* complaint);
  bool truncated() const { return truncated_; }       // the failure is the end of the input
  uint64_t failed_offset() const { return failed_; }  // its byte
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

// `value` as JSON that every reader accepts: strings escaped again, NaN and infinities as null.
void AppendCleanJson(std::string* out, const JsonValue& value);
// Likewise `key: value` behind the members that are there, spaced as JsonMemberWriter::kSpaced. False, and nothing is
// appended: the value is NaN or infinite.
bool AppendCleanMember(std::string* members, const JsonMember& member);

}  // namespace opscope
