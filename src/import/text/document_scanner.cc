// The trick is to read a value twice instead of suspending in it: when the text in memory ends within a value, the
// cursor goes back to its begin, the window grows (at least to twice what is left), and the value is read again. The
// window doubles, so what is read again is at most as long as what is read. A number that ends with the window may go
// on behind it, so it counts as cut, too.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/document_scanner.h"

#include <algorithm>

namespace opscope {

DocumentScanner::DocumentScanner(TextSource* text, uint64_t most_bytes)
    : text_(*text), most_bytes_(most_bytes), scanner_({}) {
  text_.Extend(text_.window_bytes());
  scanner_ = JsonScanner(text_.text(), text_.offset());
}

void DocumentScanner::More(size_t size) {
  const auto read = static_cast<size_t>(scanner_.offset() - text_.offset());
  if (read != 0) {
    kept_.push_back(text_.Take(read));
    if (kept_.back().keeps) kept_bytes_ += read;
  }
  const size_t before = text_.text().size();
  if (most_bytes_ != 0) size = static_cast<size_t>(std::min<uint64_t>(size, most_bytes_));
  text_.Extend(size);
  over_limit_ = text_.text().size() == before && !text_.ended();
  scanner_.MoveTo(text_.text(), text_.offset());
}

// A number at the end of the text in memory may go on behind it.
template <typename Read>
bool DocumentScanner::Try(const Read& read) {
  while (true) {
    const JsonScanner begin = scanner_;
    const bool done = read(&scanner_);
    if (is_last() || (done ? !scanner_.at_end() : !scanner_.truncated())) return done;
    scanner_ = begin;
    More(std::max(text_.window_bytes(), 2 * scanner_.rest().size()));
  }
}

char DocumentScanner::PeekBehind() {
  while (scanner_.at_end() && !is_last()) {
    More(text_.window_bytes());
    scanner_.Peek();
  }
  return scanner_.Peek();
}

bool DocumentScanner::ReadString(JsonValue* out) {
  return Try([out](JsonScanner* scanner) { return scanner->ReadString(out); });
}

bool DocumentScanner::ReadValue(JsonValue* out) {
  Peek();
  return Try([out](JsonScanner* scanner) { return scanner->ReadValue(out); });
}

bool DocumentScanner::ReadMembers(std::vector<JsonMember>* out) {
  return Try([out](JsonScanner* scanner) { return scanner->ReadMembers(out); });
}

// Whether the text ends here is part of the failure.
bool DocumentScanner::Fail(const char* complaint) {
  if (scanner_.at_end() && !is_last()) More(text_.window_bytes());
  return scanner_.Fail(complaint);
}

JsonScanner DocumentScanner::Ahead(size_t bytes) {
  if (scanner_.rest().size() < bytes && !is_last()) More(bytes);
  return scanner_;
}

bool DocumentScanner::Look(JsonValue* out) {
  Peek();
  const uint64_t at = scanner_.offset();
  const BadEscapes counted = scanner_.bad_escapes();
  const bool is_whole = ReadValue(out);
  // The text in memory begins no later than the value.
  const std::string_view rest = text_.text().substr(static_cast<size_t>(at - text_.offset()));
  scanner_.MoveTo(rest, at, counted);
  return is_whole;
}

uint64_t DocumentScanner::OffsetOf(std::string_view slice) const {
  const auto lies_in = [slice](std::string_view text) {
    return slice.data() >= text.data() && slice.data() <= text.data() + text.size();
  };
  if (lies_in(text_.text())) return text_.offset() + static_cast<uint64_t>(slice.data() - text_.text().data());
  const auto found =
      std::find_if(kept_.rbegin(), kept_.rend(), [&](const TextBlock& block) { return lies_in(block.text); });
  return found == kept_.rend() ? 0 : found->offset + static_cast<uint64_t>(slice.data() - found->text.data());
}

void DocumentScanner::ForgetKept() {
  kept_.clear();
  kept_bytes_ = 0;
}

// The text from there on stands before the cursor again. REQUIRES: not forgotten.
void DocumentScanner::GoBackTo(uint64_t offset) {
  for (auto block = kept_.rbegin(); block != kept_.rend() && text_.offset() > offset; ++block) {
    const auto begin = static_cast<size_t>(std::max(offset, block->offset) - block->offset);
    text_.GiveBack({block->text.substr(begin), block->offset + begin, block->keeps});
  }
  if (text_.offset() < offset) {
    kept_.push_back(text_.Take(static_cast<size_t>(offset - text_.offset())));
    if (kept_.back().keeps) kept_bytes_ += kept_.back().text.size();
  }
  scanner_.MoveTo(text_.text(), text_.offset());
}

}  // namespace opscope
