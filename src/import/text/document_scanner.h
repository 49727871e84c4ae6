// A JsonScanner over a text that arrives in pieces; only the part in use is in memory. If the text in memory ends
// within a value, more text is added and the value is read again from its beginning, so callers see complete values
// only.
//
// Slices stay valid until Forget(). A walk over an array (json_walk.h) calls it before each item.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "import/text/json_scan.h"
#include "import/text/resync.h"
#include "import/text/text_source.h"

namespace opscope {

class DocumentScanner {
 public:
  // most_bytes: a longer value ends the text, see over_limit(). 0: no limit.
  DocumentScanner(TextSource* text, uint64_t most_bytes);

  // See JsonScanner.
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

  // The text from the cursor on, for looking ahead: at least so many bytes of it unless the document ends.
  JsonScanner Ahead(size_t bytes);
  // Like ReadValue, but does not move the cursor, a failure is not recorded, and slices last only until the next read.
  bool Look(JsonValue* out);

  uint64_t OffsetOf(std::string_view slice) const;  // REQUIRES: not forgotten

  // Invalidates all slices.
  void Forget() {
    if (!kept_.empty() && !keeps_slices_) ForgetKept();
  }
  void KeepSlices() { keeps_slices_ = true; }  // Forget no longer invalidates slices

  // A row begins at the cursor; a fault in it makes the reader skip text from here on. Invalidates all slices.
  void BeginRow() {
    Forget();
    row_ = from_ = scanner_.offset();
    escapes_before_ = scanner_.bad_escapes();
  }
  // The cursor is behind a list of rows that is itself within the row at `outer`.
  void EndRows(uint64_t outer) {
    row_ = outer;
    from_ = scanner_.offset();
  }
  void SetRow(uint64_t row) { row_ = row; }
  uint64_t row() const { return row_; }  // kNoRow: the cursor is in no row
  uint64_t from() const { return from_; }
  static constexpr uint64_t kNoRow = UINT64_MAX;

  // To be called after a failure within a row. find(text, is_whole) gets the text from the row on (from the last
  // complete row within it) and finds the position to continue at; the cursor moves there, or to the end of the text
  // for kNone, and is in no row. False: find found nothing within its limits or the memory limit, or the text ends
  // within the row; the failure is unchanged.
  template <typename Find>
  bool PassFault(const Find& find, ResyncPoint* found);
  // The text that PassFault skipped; valid until the next read.
  std::string_view passed() const { return passed_; }

  bool over_limit() const { return over_limit_; }
  // Memory for the text, without memory-mapped files.
  uint64_t memory_bytes() const { return text_.memory_bytes() + kept_bytes_; }

 private:
  template <typename Read>
  bool Try(const Read& read);
  void ForgetKept();
  void GoBackTo(uint64_t offset);
  char PeekBehind();
  bool is_last() const { return text_.ended() || over_limit_; }  // the scanner's text reaches the end
  void More(size_t size);                                        // adds text, to so many bytes from the cursor on

  TextSource& text_;
  const uint64_t most_bytes_;
  JsonScanner scanner_;          // over text_.text()
  std::vector<TextBlock> kept_;  // text before it that slices may refer to
  uint64_t kept_bytes_ = 0;
  TextBlock
      pinned_;  // with KeepSlices: the memory of the newest faulty row, which must outlive the search for the next one
  uint64_t row_ = kNoRow, from_ = 0;  // offsets: of the row, and of its part that is not yet read
  BadEscapes escapes_before_;         // counted before the row
  std::string_view passed_;
  bool keeps_slices_ = false;
  bool over_limit_ = false;
};

template <typename Find>
bool DocumentScanner::PassFault(const Find& find, ResyncPoint* found) {
  const JsonScanner failed = scanner_;
  if (keeps_slices_) pinned_ = text_.Take(0);
  GoBackTo(from_);
  *found = find(text_.text(), is_last());
  while (found->kind == ResyncPoint::Kind::kNeedsMore && !is_last()) {
    More(std::max(text_.window_bytes(), 2 * text_.text().size()));
    *found = find(text_.text(), is_last());
  }
  const bool is_none = found->kind == ResyncPoint::Kind::kNone || found->kind == ResyncPoint::Kind::kNeedsMore;
  const bool takes_in_others = found->kind == ResyncPoint::Kind::kRow || found->kind == ResyncPoint::Kind::kKey;
  if (over_limit_ || (failed.truncated() && !takes_in_others) || (is_none && !text_.ended())) {
    scanner_ = failed;
    return false;
  }
  if (is_none) found->at = text_.text().size();
  passed_ = text_.text().substr(0, found->at);
  scanner_.MoveTo(text_.text().substr(found->at), text_.offset() + found->at, escapes_before_);
  row_ = kNoRow;
  return true;
}

}  // namespace opscope
