// A block may end anywhere, so the reader has two positions: the scanner's, and `consumed`, the begin of the current
// element. If the text ends within an element, everything from `consumed` on goes back to the caller. The place to
// divide a text is a guess: a '{' before a name and behind "},", which could also be inside a string:
//
//   ..."dur": 1}, {"name": "a", ...      here
//   ..."args": {"text": "}, {\"name"      not here: no quote follows the brace
//
// A wrong guess is harmless, because the block before it does not end there (pipeline.h). An element that is not JSON
// is skipped: reading continues at the next '{' that begins an event with a phase (text/resync.h).
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/block.h"

#include <cstring>

#include "base/text.h"
#include "import/text/resync.h"

namespace opscope {
namespace {

// An event has a phase of one letter.
class EventTest : public RowTest {
 public:
  Row Read(JsonScanner* scanner) override {
    const bool is_read = ReadChromeEvent(scanner, &event_);
    return {is_read, static_cast<uint8_t>(event_.phase_letter() != '\0' ? 1 : 0)};
  }

 private:
  ChromeEvent event_;
};

// The last byte before `at` that is not blank; 0 if all of them are blank.
char LastBefore(std::string_view text, size_t* at) {
  while (*at > 0) {
    const char c = text[--*at];
    if (!IsJsonBlank(c)) return c;
  }
  return '\0';
}

// True if `{ "name" :` begins at `at`, which is rare inside of a string.
bool BeginsWithName(std::string_view text, size_t at) {
  const auto skip_blanks = [&] {
    while (at < text.size() && IsJsonBlank(text[at]))
      ++at;
  };
  ++at;
  skip_blanks();
  if (at >= text.size() || text[at] != '"') return false;
  const size_t limit = at + 64;  // events have no longer names
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

// False: the scanner failed, or might fail if the text continued.
bool ChromeBlockReader::ReadElement(JsonScanner* scanner, ChromePart* part, ChromeBlockEnd* end) {
  const uint64_t offset = scanner->offset();
  const uint64_t bad_escapes = scanner->bad_escapes().strings;
  if (scanner->Peek() == '{') {
    if (!ReadChromeEvent(scanner, &event_)) return false;
    rows_.Add(event_);
    ++end->events;
  } else {
    JsonValue value;
    if (!scanner->ReadValue(&value)) return false;
    const char next = scanner->Peek();
    if (scanner->at_end()) return scanner->Fail("a value ends with the text");  // the text may end within a number
    if (next == ':') return scanner->Fail("a member stands outside of any event");
    part->AddProblem("unknown_event", offset);
    ++end->other_values;
  }
  const uint64_t bad = scanner->bad_escapes().strings - bad_escapes;
  if (bad != 0) part->AddProblem("bad_escape", offset, bad);
  return true;
}

// Moves the scanner from the element at end->consumed, which is invalid, to the next event. False: reading ends.
bool ChromeBlockReader::PassFault(const ChromeBlock& block, JsonScanner* scanner, ChromePart* part,
                                  ChromeBlockEnd* end) {
  const ChromeBlockEnd::Fault fault = {scanner->complaint(), scanner->failed_offset()};
  end->kind = ChromeBlockEnd::Kind::kCut;
  end->failure = fault;
  const std::string_view rest = block.text.text.substr(end->consumed);
  const bool may_go_on = scanner->truncated() && !block.is_last && rest.size() < kLongestFault;
  if (may_go_on) return false;
  const bool has_events = block.has_events || end->events != 0;
  EventTest test;
  const ResyncPoint next = FindNextRow(rest, block.is_last, has_events ? kLongestFault : kLongestFirstFault, &test);
  if (next.kind == ResyncPoint::Kind::kNeedsMore) return false;
  // The end of the text cuts this event, unless the fault made it include the events behind it.
  if (scanner->truncated() && next.kind != ResyncPoint::Kind::kRow) return false;
  const bool is_end = next.kind == ResyncPoint::Kind::kNone;
  end->kind = is_end && !block.is_last ? ChromeBlockEnd::Kind::kError : ChromeBlockEnd::Kind::kAllRead;
  if (end->kind == ChromeBlockEnd::Kind::kError) return false;
  if (end->faults++ == 0) end->first_fault = fault;
  const size_t size = is_end ? rest.size() : next.at;
  const bool holds_event = rest.substr(0, size).find_first_of("{:") != std::string_view::npos;
  part->AddProblem(holds_event ? "faulty_event" : "stray_text", block.text.offset + end->consumed);
  scanner->MoveTo(rest.substr(size), block.text.offset + end->consumed + size);
  return true;
}

ChromeBlockEnd ChromeBlockReader::Read(const ChromeBlock& block, const ChromeConventions& conventions,
                                       ChromePart* part) {
  rows_.Begin(part, conventions);
  JsonScanner scanner(block.text.text, block.text.offset, &memo_);
  ChromeBlockEnd end;
  end.comma_due = block.comma_due;
  while (true) {
    const char next = scanner.Peek();
    end.consumed = static_cast<size_t>(scanner.offset() - block.text.offset);
    if (scanner.at_end()) break;
    if (next == ']') {
      end.kind = ChromeBlockEnd::Kind::kArrayEnd;
      break;
    }
    if (next == ',') {  // or a surplus one
      scanner.Skip(1);
      end.comma_due = false;
      continue;
    }
    const bool lacks_comma = end.comma_due && next != '{';
    const bool is_read =
        lacks_comma ? scanner.Fail("',' or ']' is missing after an event") : ReadElement(&scanner, part, &end);
    if (!is_read && !PassFault(block, &scanner, part, &end)) break;
    end.comma_due = is_read;
  }
  return end;
}

}  // namespace opscope
