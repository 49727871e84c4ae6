// One pass from the faulty row on, byte by byte, toggling "in a string" at quotes although a stray quote may have
// inverted it. At each '{' that may be an item of a list the format's own test reads an object; the first that it knows
// as a row wins. An object within an array of the faulty row is remembered and used only if none follows soon.
//
// Tests that fail could be repeated at every brace of a deep nest, which would be quadratic. A budget (4 KiB plus 8
// bytes for each byte passed) stops that; it depends on the text alone, so the result does not depend on how the text
// came.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/resync.h"

#include <algorithm>

#include "base/text.h"

namespace opscope {
namespace {

// What candidates may cost: they may lie within each other, each up to JsonScanner::kMaxDepth deep.
constexpr uint64_t kFreeWork = uint64_t{4} << 10, kWorkPerByte = 8;
constexpr size_t kLongestArray = size_t{4} << 10;  // of arguments that look like events

char FirstFrom(std::string_view text, size_t at) {
  at = text.find_first_not_of(kJsonBlanks, at);
  return at == std::string_view::npos ? '\0' : text[at];
}

// `{"name"` with its blanks, or "".
std::string_view HeadOf(std::string_view text) {
  const size_t first = text.substr(0, 80).find('"');
  if (first == std::string_view::npos || text[0] != '{') return {};
  const size_t end = text.substr(0, 160).find('"', first + 1);
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

// The brackets that are open. One that closes takes along those of the other kind that are open within it, since one of
// a pair may be missing.
class OpenBrackets {
 public:
  void Open(bool is_array) {
    if (depth_ < kMaxDepth) is_array_[depth_++] = is_array;
  }
  void Close(bool is_array) {
    for (int i = depth_; i-- > 0;) {
      if (is_array_[i] != is_array) continue;
      depth_ = i;
      return;
    }
  }
  bool ends_in_array() const { return depth_ > 0 && is_array_[depth_ - 1]; }

 private:
  static constexpr int kMaxDepth = JsonScanner::kMaxDepth;
  bool is_array_[kMaxDepth] = {};
  int depth_ = 0;
};

// Limits what is read ahead of the search, so that it stays linear. It depends on nothing but the text.
class Budget {
 public:
  bool HasRoom(size_t at) const { return spent_ <= kFreeWork + kWorkPerByte * at; }
  void Spend(uint64_t bytes) { spent_ += bytes; }

 private:
  uint64_t spent_ = 0;
};

class RowSearch {
 public:
  RowSearch(std::string_view text, bool is_whole, size_t most_bytes, RowTest* test)
      : text_(text),
        is_whole_(is_whole),
        is_nested_(test->closers().size() > 2),
        has_keys_(test->has_keys()),
        most_bytes_(most_bytes),
        head_(HeadOf(text)),
        test_(*test) {}

  ResyncPoint Find() {
    const size_t end = std::min(text_.size(), most_bytes_);
    for (size_t at = 0; at < end;) {
      const size_t next = Step(at);
      if (found_.kind != ResyncPoint::Kind::kNone) return found_;
      at = next;
      if (inner_.at != 0 && at - inner_.at > kLongestArray) return inner_;
    }
    if (!is_whole_ && text_.size() < most_bytes_) return {.kind = ResyncPoint::Kind::kNeedsMore};
    if (inner_.at != 0) return inner_;
    return array_end_ == 0 ? ResyncPoint{} : ResyncPoint{.kind = ResyncPoint::Kind::kArrayEnd, .at = array_end_};
  }

 private:
  // Looks at one byte; where to look next.
  size_t Step(size_t at) {
    const char c = text_[at];
    if (c == '\\') {
      last_ = c;
      return at + 2;
    }
    if (c == '"') {
      in_string_ = !in_string_;
      if (has_keys_ && at != 0 && test_.IsKey(text_.substr(at))) {
        found_ = {.kind = ResyncPoint::Kind::kKey, .at = at, .lists = lists_};
        return at;
      }
    }
    size_t next = at + 1;
    const bool begins_list =
        is_nested_ && c == '[' && last_ == ',' && before_last_ == ']' && !is_inner() && FirstFrom(text_, at + 1) == '{';
    if (begins_list) ++lists_;
    if (c == '{' && IsItem(at)) next = TryRow(at);
    if (c == ']' && array_end_ == 0 && !is_inner()) TryEnd(at);
    if (next == at + 1 && !in_string_ && !begins_list) {
      if (c == '{' || c == '[') brackets_.Open(c == '[');
      if (c == '}' || c == ']') brackets_.Close(c == ']');
    }
    if (!IsJsonBlank(c)) {
      before_last_ = last_;
      last_ = next == at + 1 ? c : '}';
      begins_list_ = begins_list;
    }
    return next;
  }

  // An object there may be an item of a list, and no value of a member.
  bool IsItem(size_t at) const { return at != 0 && last_ != ':' && (last_ != '[' || begins_list_); }
  bool is_inner() const { return !in_string_ && brackets_.ends_in_array(); }

  // Sets found_ or inner_, or neither; returns where the search goes on.
  size_t TryRow(size_t at) {
    if (is_inner() && inner_.at != 0) return at + 1;
    const std::string_view rest = text_.substr(at);
    const bool is_alike = !head_.empty() && rest.starts_with(head_);
    const char first = FirstFrom(rest, 1);
    if (first != '"' && first != '\0' && !is_alike) return at + 1;
    if (!budget_.HasRoom(at)) return at + 1;
    JsonScanner scanner(rest);
    const RowTest::Row row = test_.Read(&scanner);
    budget_.Spend(scanner.offset());
    if (!row.is_read && scanner.truncated() && !is_whole_) {
      found_ = {.kind = ResyncPoint::Kind::kNeedsMore};
    } else if (row.kind != 0 || (!row.is_read && is_alike)) {
      (is_inner() ? inner_ : found_) = {ResyncPoint::Kind::kRow, at, row.kind, lists_};
    }
    return row.is_read ? at + static_cast<size_t>(scanner.offset()) : at + 1;
  }

  void TryEnd(size_t at) {
    if (!is_whole_ && !is_nested_) return;
    JsonScanner scanner(text_.substr(at));
    const bool is_end = EndsList(&scanner, at);
    end_budget_.Spend(scanner.offset());
    if (is_nested_ && !is_whole_ && (scanner.at_end() || scanner.truncated())) {
      found_ = {.kind = ResyncPoint::Kind::kNeedsMore};
    } else if (is_end && is_nested_) {
      found_ = {.kind = ResyncPoint::Kind::kArrayEnd, .at = at, .lists = lists_};
    } else if (is_end) {
      array_end_ = at;
    }
  }

  // Whether the ']' there closes the list of rows: behind it what the list stands in goes on, with another item of an
  // outer list or with members up to its end, and so on to the end of the text or to the next list of rows.
  bool EndsList(JsonScanner* scanner, size_t at) {
    const std::string_view closers = test_.closers();
    for (size_t i = 0; i < closers.size();) {
      const char next = scanner->Peek();
      if (scanner->at_end()) return i > 0;
      if (closers[i] == '}') {
        if ((next != ',' && next != '}') || !end_budget_.HasRoom(at)) return false;
        bool is_key = false;
        if (!ReadMembersToEnd(scanner, &is_key)) return scanner->at_end();
        if (is_key) return true;
      } else if (i > 0 && next == ',') {
        scanner->Skip(1);
        if (test_.IsNextOuter(scanner)) return true;
        if (!SkipEmptyList(scanner)) return false;
        continue;
      } else if (next != ']') {
        return false;
      } else {
        scanner->Skip(1);
      }
      ++i;
    }
    scanner->Peek();
    return scanner->at_end();
  }

  static bool SkipEmptyList(JsonScanner* scanner) { return scanner->Expect('[', "") && scanner->Expect(']', ""); }

  // False: no '}' follows.
  bool ReadMembersToEnd(JsonScanner* scanner, bool* is_key) {
    JsonValue value;
    char next = scanner->Peek();
    bool is_read = true;
    while (is_read && next == ',') {
      scanner->Skip(1);
      next = scanner->Peek();
      if (next == '}') break;
      *is_key = has_keys_ && next == '"' && test_.IsKey(scanner->rest());
      if (*is_key) return true;
      is_read = next == '"' && scanner->ReadString(&value) && scanner->Expect(':', "") && scanner->ReadValue(&value);
      next = scanner->Peek();
    }
    if (!is_read || next != '}') return false;
    scanner->Skip(1);
    return true;
  }

  const std::string_view text_;
  const bool is_whole_, is_nested_, has_keys_;
  const size_t most_bytes_;
  const std::string_view head_;
  RowTest& test_;
  ResyncPoint found_, inner_;
  size_t array_end_ = 0;
  uint64_t lists_ = 0;
  bool in_string_ = false;
  bool begins_list_ = false;               // last_ is the bracket of a list of rows
  char last_ = '\0', before_last_ = '\0';  // before the cursor, no blanks
  OpenBrackets brackets_;
  Budget budget_, end_budget_;
};

}  // namespace

char FirstOfMember(std::string_view text, std::string_view* name) {
  constexpr size_t kLongest = 256;
  size_t end = 1;
  while (end < std::min(text.size(), kLongest) && text[end] != '"')
    end += text[end] == '\\' ? 2 : 1;
  if (end >= std::min(text.size(), kLongest)) return '\0';
  const size_t colon = text.find_first_not_of(kJsonBlanks, end + 1);
  if (colon == std::string_view::npos || text[colon] != ':') return '\0';
  *name = text.substr(1, end - 1);
  return FirstFrom(text, colon + 1);
}

ResyncPoint FindNextRow(std::string_view text, bool is_whole, size_t most_bytes, RowTest* test) {
  return RowSearch(text, is_whole, most_bytes, test).Find();
}

// A number list that has lost its first bracket is a row, too; `7]` may be a number too many before the end.
ResyncPoint FindNextNumbers(std::string_view text, bool is_whole, size_t most_bytes) {
  using Kind = ResyncPoint::Kind;
  const std::string_view looked_at = text.substr(0, most_bytes);
  const bool is_all = is_whole || text.size() >= most_bytes;
  bool is_row = text.starts_with('[');
  for (size_t at = is_row ? 1 : 0; at < looked_at.size(); ++at) {
    at = looked_at.find_first_of("[],", at);
    if (at == std::string_view::npos) break;
    if (looked_at[at] == '[') return {.kind = Kind::kRow, .at = at};
    is_row = is_row || looked_at[at] == ',';
    if (looked_at[at] == ',') continue;
    if (!is_row) return {.kind = Kind::kArrayEnd, .at = at};
    is_row = false;
    const size_t next = looked_at.find_first_not_of(kJsonBlanks, at + 1);
    if (next == std::string_view::npos) break;
    if (looked_at[next] == ']') return {.kind = Kind::kArrayEnd, .at = next};
  }
  return {.kind = is_all ? Kind::kNone : Kind::kNeedsMore};
}

ResyncPoint FindNextNumber(std::string_view text, bool is_whole, size_t most_bytes) {
  using Kind = ResyncPoint::Kind;
  const size_t at = text.substr(0, most_bytes).find_first_of(",]", 1);
  if (at != std::string_view::npos) return {.kind = text[at] == ']' ? Kind::kArrayEnd : Kind::kRow, .at = at};
  return {.kind = is_whole || text.size() >= most_bytes ? Kind::kNone : Kind::kNeedsMore};
}

}  // namespace opscope
