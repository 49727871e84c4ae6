// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/resync.h"

#include <algorithm>

#include "import/chrome/event.h"
#include "import/text/json_scan.h"

namespace opscope {
namespace {

// What candidates may cost: they may lie within each other, each up to JsonScanner::kMaxDepth deep.
constexpr uint64_t kFreeWork = uint64_t{4} << 10, kWorkPerByte = 8;
constexpr size_t kLongestArray = size_t{4} << 10;  // of arguments that look like events

bool IsBlank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

char FirstFrom(std::string_view text, size_t at) {
  at = text.find_first_not_of(" \t\r\n", at);
  return at == std::string_view::npos ? '\0' : text[at];
}

// `{"name":` with its blanks, or "".
std::string_view HeadOf(std::string_view text) {
  const size_t colon = text.substr(0, 80).find(':');
  return colon == std::string_view::npos || text[0] != '{' ? std::string_view() : text.substr(0, colon + 1);
}

// The brackets that are open. One that closes takes along those of the other kind that are open within it, since one of
// a pair may be missing.
class OpenBrackets {
 public:
  void Open(bool is_array) {
    if (depth_ < kMost) is_array_[depth_++] = is_array;
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
  static constexpr int kMost = JsonScanner::kMaxDepth;
  bool is_array_[kMost] = {};
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

class EventSearch {
 public:
  EventSearch(std::string_view text, bool is_whole, size_t most_bytes)
      : text_(text), is_whole_(is_whole), most_bytes_(most_bytes), head_(HeadOf(text)) {}

  ResyncPoint Find() {
    const size_t end = std::min(text_.size(), most_bytes_);
    for (size_t at = 0; at < end;) {
      const size_t next = Step(at);
      if (found_.kind != ResyncPoint::Kind::kNone) return found_;
      at = next;
      if (inner_event_ != 0 && at - inner_event_ > kLongestArray) return {ResyncPoint::Kind::kEvent, inner_event_};
    }
    if (!is_whole_ && text_.size() < most_bytes_) return {ResyncPoint::Kind::kNeedsMore};
    if (inner_event_ != 0) return {ResyncPoint::Kind::kEvent, inner_event_};
    return array_end_ == 0 ? ResyncPoint{} : ResyncPoint{ResyncPoint::Kind::kArrayEnd, array_end_};
  }

 private:
  // Looks at one byte; where to look next.
  size_t Step(size_t at) {
    const char c = text_[at];
    if (c == '\\') {
      last_ = c;
      return at + 2;
    }
    if (c == '"') in_string_ = !in_string_;
    size_t next = at + 1;
    if (c == '{' && IsItem(at)) next = TryEvent(at);
    if (c == ']' && is_whole_ && array_end_ == 0 && !is_inner() && EndsDocument(at)) array_end_ = at;
    if (next == at + 1 && !in_string_) {
      if (c == '{' || c == '[') brackets_.Open(c == '[');
      if (c == '}' || c == ']') brackets_.Close(c == ']');
    }
    if (!IsBlank(c)) last_ = next == at + 1 ? c : '}';
    return next;
  }

  // An object there may be an item of a list, and no value of a member.
  bool IsItem(size_t at) const { return at != 0 && last_ != ':' && last_ != '['; }
  bool is_inner() const { return !in_string_ && brackets_.ends_in_array(); }

  // Sets found_ or inner_event_, or neither; returns where the search goes on.
  size_t TryEvent(size_t at) {
    if (is_inner() && inner_event_ != 0) return at + 1;
    const std::string_view rest = text_.substr(at);
    const bool is_alike = !head_.empty() && rest.starts_with(head_);
    const char first = FirstFrom(rest, 1);
    if (first != '"' && first != '\0' && !is_alike) return at + 1;
    if (!budget_.HasRoom(at)) return at + 1;
    JsonScanner scanner(rest);
    const bool is_read = ReadChromeEvent(&scanner, &event_);
    budget_.Spend(scanner.offset());
    if (!is_read && scanner.truncated() && !is_whole_) {
      found_ = {ResyncPoint::Kind::kNeedsMore};
    } else if (event_.phase_letter() != '\0' || (!is_read && is_alike)) {
      if (is_inner()) {
        inner_event_ = at;
      } else {
        found_ = {ResyncPoint::Kind::kEvent, at};
      }
    }
    return is_read ? at + static_cast<size_t>(scanner.offset()) : at + 1;
  }

  // Whether the ']' there closes the list of events: behind it the document ends, or members of it follow to the end
  // of the text.
  bool EndsDocument(size_t at) {
    JsonScanner scanner(text_.substr(at + 1));
    JsonValue value;
    char next = scanner.Peek();
    if (scanner.at_end()) return true;
    if ((next != ',' && next != '}') || !end_budget_.HasRoom(at)) return false;
    bool is_read = true;
    while (is_read && next == ',') {
      scanner.Skip(1);
      next = scanner.Peek();
      if (next == '}') break;
      is_read = next == '"' && scanner.ReadString(&value) && scanner.Expect(':', "") && scanner.ReadValue(&value);
      next = scanner.Peek();
    }
    if (is_read && next == '}') {
      scanner.Skip(1);
      scanner.Peek();
    }
    end_budget_.Spend(scanner.offset());
    return scanner.at_end();
  }

  const std::string_view text_;
  const bool is_whole_;
  const size_t most_bytes_;
  const std::string_view head_;
  ResyncPoint found_;
  size_t array_end_ = 0, inner_event_ = 0;
  bool in_string_ = false;
  char last_ = '\0';  // before the cursor, no blank
  OpenBrackets brackets_;
  Budget budget_, end_budget_;
  ChromeEvent event_;
};

}  // namespace

ResyncPoint FindNextEvent(std::string_view text, bool is_whole, size_t most_bytes) {
  return EventSearch(text, is_whole, most_bytes).Find();
}

}  // namespace opscope
