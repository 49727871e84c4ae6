// Arguments of native scopes: members of a JSON object, kept in the scope's payload from the moment
// they are added, so that a window that closes while the scope is open has them too. Each one writes
// the text anew behind the last; scopes have few arguments, and equal texts stand once per chunk.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "base/json_object.h"
#include "base/text.h"
#include "opscope/scope.h"

namespace opscope {
namespace {

constexpr uint32_t kPayloadBytes = sizeof(PayloadHeader) + payload_fields::BytesOf(payload_fields::kKeywords);

std::string_view NameAt(const Stream* stream, uint32_t offset) {
  const char* address = reinterpret_cast<const char*>(stream->chunk) + offset;
  NameEntry entry;
  std::memcpy(&entry, address, sizeof(entry));
  return {address + sizeof(entry), entry.size};
}

std::string_view MembersOf(const Stream* stream, const OpenScope* scope) {
  const uint32_t payload = scope->payload.load(std::memory_order_relaxed);
  if (payload == 0) return {};
  uint32_t offset;
  std::memcpy(&offset, reinterpret_cast<const char*>(stream->chunk) + payload + sizeof(PayloadHeader), sizeof(offset));
  return offset == 0 ? std::string_view() : NameAt(stream, offset);
}

void SetMembers(OpenScope* scope, std::string_view members) {
  Stream* stream = scope->stream;
  const Writing writing(stream);
  if (!writing.allowed()) return;
  const NameAndRoom room = InternAndReserve(
      stream, kPayloadBytes, [stream, members] { return opscope_intern_slow(stream, members.data(), members.size()); });
  if (room.name == 0 || room.payload == nullptr) return;  // at the cap; the scope itself will be counted
  PayloadHeader header;
  header.bytes = kPayloadBytes;
  header.fields = payload_fields::kKeywords;
  const uint32_t words[2] = {room.name, 0};
  std::memcpy(room.payload, &header, sizeof(header));
  std::memcpy(room.payload + sizeof(header), words, sizeof(words));
  scope->payload.store(OffsetInChunk(stream, room.payload), std::memory_order_release);
  UpdateOpenEntry(stream, scope);
}

// Adds a member in every window that records the scope; append_value(&text) appends its value. An allocation failure
// must not reach the profiled program: the scope gets a member that says so instead.
template <typename AppendValue>
void AddMember(OpenScope* open, const char* key, const AppendValue& append_value) {
  for (OpenScope* scope = open; scope != nullptr; scope = scope->sibling) {
    const Stream* stream = scope->stream;
    const uint64_t generation = scope->generation.load(std::memory_order_relaxed);
    if (scope->owner != opscope_tls) continue;
    if (stream->generation.load(std::memory_order_relaxed) != generation) continue;  // the window is closed
    try {
      std::string members(MembersOf(stream, scope));
      append_value(&JsonMemberWriter(&members).EscapedKey(key));
      SetMembers(scope, members);
    } catch (const std::bad_alloc&) {
      SetMembers(scope, "\"opscope.arguments_lost\":true");
    }
  }
}

}  // namespace

void AddScopeJson(OpenScope* open, const char* key, const char* json) {
  AddMember(open, key, [json](std::string* value) { value->append(json); });
}

void AddScopeText(OpenScope* open, const char* key, const char* text, size_t size) {
  AddMember(open, key, [text, size](std::string* value) { AppendJsonString(value, {text, size}); });
}

void AddScopeInt(OpenScope* open, const char* key, int64_t number) {
  AddMember(open, key, [number](std::string* value) { AppendInt(value, number); });
}

void AddScopeUint(OpenScope* open, const char* key, uint64_t number) {
  AddMember(open, key, [number](std::string* value) { AppendUint(value, number); });
}

void AddScopeDouble(OpenScope* open, const char* key, double number) {
  if (!std::isfinite(number)) {  // JSON has no number for these
    return AddScopeJson(open, key, std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  }
  AddMember(open, key, [number](std::string* value) { AppendDouble(value, number); });
}

}  // namespace opscope
