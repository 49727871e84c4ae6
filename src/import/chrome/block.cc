// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/block.h"

#include <cstring>

namespace opscope {
namespace {

bool IsBlank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// The last byte before `at` that is not blank; 0 when there is none.
char LastBefore(std::string_view text, size_t* at) {
  while (*at > 0) {
    const char c = text[--*at];
    if (!IsBlank(c)) return c;
  }
  return '\0';
}

// `{ "name" :` begins at `at`: not the inside of a string that holds a brace.
bool BeginsWithName(std::string_view text, size_t at) {
  const auto skip_blanks = [&] {
    while (at < text.size() && IsBlank(text[at]))
      ++at;
  };
  ++at;
  skip_blanks();
  if (at >= text.size() || text[at] != '"') return false;
  const size_t limit = at + 64;  // longer names are not those of events
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\' || at > limit) return false;
  }
  ++at;
  skip_blanks();
  return at < text.size() && text[at] == ':';
}

}  // namespace

size_t FindEventStart(std::string_view text, size_t from) {
  size_t end = text.size();
  while (end > from) {
    const void* found = memrchr(text.data() + from, '{', end - from);
    if (found == nullptr) return 0;
    const auto at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    size_t before = at;
    if (BeginsWithName(text, at) && LastBefore(text, &before) == ',' && LastBefore(text, &before) == '}') return at;
    end = at;
  }
  return 0;
}

// False: the scanner failed, or may have if the text goes on.
bool ChromeBlockReader::ReadElement(JsonScanner* scanner, ChromePart* part, ChromeBlockEnd* end) {
  if (scanner->Peek() == '{') {
    if (!ReadChromeEvent(scanner, &event_)) return false;
    rows_.Add(event_);
    ++end->events;
    return true;
  }
  const uint64_t offset = scanner->offset();
  JsonValue value;
  if (!scanner->ReadValue(&value)) return false;
  if (scanner->at_end()) return scanner->Fail("a value ends with the text");  // of "12" the rest may be missing
  part->AddProblem("unknown_event", offset);
  ++end->other_values;
  return true;
}

ChromeBlockEnd ChromeBlockReader::Read(const TextBlock& block, bool comma_due, bool keeps_categories,
                                       ChromePart* part) {
  rows_.Begin(part, keeps_categories);
  JsonScanner scanner(block.text, block.offset, &memo_);
  ChromeBlockEnd end;
  end.comma_due = comma_due;
  while (true) {
    const char next = scanner.Peek();
    end.consumed = static_cast<size_t>(scanner.offset() - block.offset);
    if (scanner.at_end()) break;
    if (next == ']') {
      end.kind = ChromeBlockEnd::Kind::kArrayEnd;
      break;
    }
    const bool is_read =
        end.comma_due ? scanner.Expect(',', "',' or ']' is missing after an event") : ReadElement(&scanner, part, &end);
    if (!is_read) {
      end.kind = scanner.truncated() ? ChromeBlockEnd::Kind::kCut : ChromeBlockEnd::Kind::kError;
      end.complaint = scanner.complaint();
      end.failed_at = scanner.failed_offset();
      break;
    }
    end.comma_due = !end.comma_due;
  }
  return end;
}

}  // namespace opscope
