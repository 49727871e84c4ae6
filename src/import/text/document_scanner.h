// A JsonScanner over a text that comes piece by piece: memory holds what is being read and never the whole. A value is
// read again from its beginning where the text in memory ends within it, so nothing is known of it before it is whole.
//
// Slices stay where they are until Forget(). Who walks an array (json_walk.h) forgets before each of its items.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "import/text/json_scan.h"
#include "import/text/text_source.h"

namespace opscope {

class DocumentScanner {
 public:
  // most_bytes: a value that is longer ends the text, see over_limit(). 0: any.
  DocumentScanner(TextSource* text, uint64_t most_bytes);

  // As of JsonScanner.
  uint64_t offset() const { return scanner_.offset(); }
  bool at_end() const { return scanner_.at_end() && is_last(); }
  char Peek() {
    const char next = scanner_.Peek();
    return next != '\0' ? next : PeekBehind();
  }
  void Skip(size_t bytes) { scanner_.Skip(bytes); }  // REQUIRES: bytes that Peek or Ahead has shown
  void SkipByteOrderMark() { scanner_.SkipByteOrderMark(); }
  bool Expect(char wanted, const char* complaint) {
    Peek();
    return scanner_.Expect(wanted, complaint);
  }
  bool ReadString(JsonValue* out);
  bool ReadValue(JsonValue* out);
  bool ReadMembers(std::vector<JsonMember>* out);
  bool Fail(const char* complaint);
  bool truncated() const { return scanner_.truncated(); }
  uint64_t failed_offset() const { return scanner_.failed_offset(); }
  const char* complaint() const { return scanner_.complaint(); }
  const BadEscapes& bad_escapes() const { return scanner_.bad_escapes(); }

  // Over the text from the cursor on, at least so many bytes of it unless it ends: to look ahead.
  JsonScanner Ahead(size_t bytes);
  // As ReadValue, but the cursor stays, a failure is none, and slices last no longer than until something is read.
  bool Look(JsonValue* out);

  uint64_t OffsetOf(std::string_view slice) const;  // REQUIRES: not forgotten

  // Ends the life of all slices.
  void Forget();
  void KeepSlices() { keeps_slices_ = true; }  // Forget does nothing

  bool over_limit() const { return over_limit_; }
  // Of the text; what a file mapping holds is not counted.
  uint64_t memory_bytes() const { return text_.memory_bytes() + kept_bytes_; }

 private:
  template <typename Read>
  bool Try(const Read& read);
  char PeekBehind();
  bool is_last() const { return text_.ended() || over_limit_; }  // there is no more than what the scanner sees
  void More(size_t size);                                        // from the cursor on

  TextSource& text_;
  const uint64_t most_bytes_;
  JsonScanner scanner_;          // over text_.text()
  std::vector<TextBlock> kept_;  // what lies before it and slices may look at
  uint64_t kept_bytes_ = 0;
  bool keeps_slices_ = false;
  bool over_limit_ = false;
};

}  // namespace opscope
