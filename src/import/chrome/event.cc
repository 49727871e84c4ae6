// Nearly every event has the same seven members, spelt the same way, so names are not read as strings: the first four
// bytes are compared as one number with those of `ph":`, `ts":`, `pid"`, ... and the scanner skips to the value. Other
// spellings (blanks before the colon, other names) are read as strings.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/event.h"

#include <bit>
#include <cstring>

namespace opscope {
namespace {

// The field for a member of an event; null for all other members.
JsonValue* FieldOf(ChromeEvent* event, std::string_view key) {
  switch (key.size()) {
    case 1:
      return key == "s" ? &event->scope : nullptr;
    case 2:
      if (key == "id") return &event->id;
      if (key == "bp") return &event->binding_point;
      if (key == "ph") return &event->phase;
      return key == "ts" ? &event->time : nullptr;
    case 3:
      if (key == "cat") return &event->category;
      if (key == "pid") return &event->pid;
      if (key == "tid") return &event->tid;
      return key == "dur" ? &event->duration : nullptr;
    case 4:
      return key == "name" ? &event->name : nullptr;
    default:
      return nullptr;
  }
}

constexpr uint32_t FourBytes(const char (&text)[5]) {
  uint32_t word = 0;
  for (int i = 3; i >= 0; --i)
    word = word << 8 | static_cast<unsigned char>(text[i]);
  return word;
}

// The names that nearly every event has, as spelt in the file with quotes and colon: found by their first four bytes
// and skipped. nullptr: another name, or blanks before the colon.
JsonValue* SkipUsualName(JsonScanner* scanner, ChromeEvent* event) {
  const std::string_view rest = scanner->rest();
  if (rest.size() < 8 || std::endian::native != std::endian::little) return nullptr;
  uint32_t word = 0;
  std::memcpy(&word, rest.data() + 1, 4);
  JsonValue* member = nullptr;
  size_t colon = 5;
  switch (word) {
    case FourBytes("ph\":"):
      member = &event->phase, colon = 4;
      break;
    case FourBytes("ts\":"):
      member = &event->time, colon = 4;
      break;
    case FourBytes("pid\""):
      member = &event->pid;
      break;
    case FourBytes("tid\""):
      member = &event->tid;
      break;
    case FourBytes("dur\""):
      member = &event->duration;
      break;
    case FourBytes("cat\""):
      member = &event->category;
      break;
    case FourBytes("name"):
      if (rest[5] == '"') member = &event->name, colon = 6;
      break;
    default:
      break;
  }
  if (member == nullptr || rest[colon] != ':') return nullptr;
  scanner->Skip(colon + 1);
  return member;
}

bool ReadMember(JsonScanner* scanner, ChromeEvent* event) {
  JsonValue key;
  if (JsonValue* member = SkipUsualName(scanner, event)) return scanner->ReadValue(member);
  if (!scanner->ReadString(&key) || !scanner->Expect(':', "':' is missing")) return false;
  if (key.text == "args") {
    if (scanner->Peek() == '{') return scanner->ReadMembers(&event->args);
    event->args.clear();
  }
  JsonValue* member = FieldOf(event, key.text);
  if (member == nullptr) {
    if (event->others.size() == JsonScanner::kMaxMembers) return scanner->Fail("too many members in one object");
    member = &event->others.emplace_back(JsonMember{key, {}}).value;
  }
  return scanner->ReadValue(member);
}

}  // namespace

JsonValue ChromeEvent::Other(std::string_view key) const {
  for (size_t i = others.size(); i-- > 0;) {
    if (others[i].key.text == key) return others[i].value;
  }
  return {};
}

bool ReadChromeEvent(JsonScanner* scanner, ChromeEvent* event) {
  event->phase = event->name = event->category = event->pid = event->tid = JsonValue();
  event->time = event->duration = event->scope = event->id = JsonValue();
  event->args.clear();
  event->others.clear();
  event->empty = true;
  event->offset = scanner->offset();
  scanner->Skip(1);
  if (scanner->Peek() == '}') {
    scanner->Skip(1);
    return true;
  }
  event->empty = false;
  while (true) {
    const char first = scanner->Peek();
    if (first == '}') {  // behind a comma
      scanner->Skip(1);
      return true;
    }
    if (first != '"') return scanner->Fail("the name of a member is missing");
    if (!ReadMember(scanner, event)) return false;
    const char next = scanner->Peek();
    if (next == '}') {
      scanner->Skip(1);
      return true;
    }
    if (next != ',') return scanner->Fail("',' or '}' is missing");
    scanner->Skip(1);
  }
}

}  // namespace opscope
