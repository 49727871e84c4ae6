// Formats are distinguished by the names of the outermost members, which need no more than the first 64 KiB. Each
// member is read as far as it is there; the walk ends at "traceEvents", which is long, or where the head is cut within
// a value. The member that is cut still counts, with the first key inside of it.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/json_head.h"

#include "import/text/json_scan.h"
#include "import/text/text_source.h"

namespace opscope {
namespace {

constexpr size_t kMaxMembers = 64;

// The first key of the object at the cursor, or of the first object of the array there.
std::string_view InnerKey(JsonScanner scanner) {
  if (scanner.Peek() == '[') scanner.Skip(1);
  if (scanner.Peek() != '{') return {};
  scanner.Skip(1);
  JsonValue key;
  return scanner.Peek() == '"' && scanner.ReadString(&key) ? key.text : std::string_view();
}

void ReadMembers(JsonScanner scanner, std::string_view text, std::vector<JsonHeadMember>* members) {
  scanner.Skip(1);
  while (members->size() < kMaxMembers && scanner.Peek() == '"') {
    JsonValue key, value;
    if (!scanner.ReadString(&key) || !scanner.Expect(':', "")) return;
    JsonHeadMember& member = members->emplace_back();
    member.key = key.text;
    member.first = scanner.Peek();
    member.value = text.substr(scanner.offset());
    if (member.first == '{' || member.first == '[') member.inner_key = InnerKey(scanner);
    if (member.key == "traceEvents" || !scanner.ReadValue(&value)) return;
    member.value = value.text;
    if (scanner.Peek() != ',') return;
    scanner.Skip(1);
    scanner.Peek();
  }
}

}  // namespace

const JsonHeadMember* JsonHead::Find(std::string_view key) const {
  for (const JsonHeadMember& member : members) {
    if (member.key == key) return &member;
  }
  return nullptr;
}

JsonHead ReadJsonHead(std::span<const std::byte> head) {
  const std::string_view text = AsText(head);
  JsonScanner scanner(text);
  scanner.SkipByteOrderMark();
  JsonHead found;
  const char first = scanner.Peek();
  if (first != '{' && first != '[') return found;
  found.first = first;
  found.rest = text.substr(scanner.offset());
  if (first == '[') {
    scanner.Skip(1);
    if (scanner.Peek() == ',') scanner.Skip(1);
    if (scanner.Peek() != '{') return found;
  }
  ReadMembers(scanner, text, &found.members);
  return found;
}

}  // namespace opscope
