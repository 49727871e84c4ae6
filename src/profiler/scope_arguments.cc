// Arguments of native scopes: members of a JSON object, kept in the scope's payload from the moment
// they are added, so that a window that closes while the scope is open has them too. Each one writes
// the text anew behind the last; scopes have few arguments, and equal texts stand once per chunk.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "base/text.h"
#include "opscope/scope.h"

namespace opscope {
namespace {

constexpr uint32_t kPayloadBytes = sizeof(PayloadHeader) + payload_fields::BytesOf(payload_fields::kKeywords);

std::string_view NameAt(const Stream* stream, uint32_t offset) {
  const char* place = reinterpret_cast<const char*>(stream->chunk) + offset;
  NameEntry entry;
  std::memcpy(&entry, place, sizeof(entry));
  return {place + sizeof(entry), entry.size};
}

std::string_view MembersOf(const Stream* stream, const OpenScope* scope) {
  const uint32_t side = scope->side.load(std::memory_order_relaxed);
  if (side == 0) return {};
  uint32_t offset;
  std::memcpy(&offset, reinterpret_cast<const char*>(stream->chunk) + side + sizeof(PayloadHeader), sizeof(offset));
  return offset == 0 ? std::string_view() : NameAt(stream, offset);
}

void AddMember(OpenScope* scope, const std::string& member) {
  Stream* stream = scope->stream;
  const uint64_t generation = scope->generation.load(std::memory_order_relaxed);
  if (scope->owner != opscope_tls) return;
  if (stream->generation.load(std::memory_order_relaxed) != generation) return;  // the window is closed
  std::string members(MembersOf(stream, scope));
  if (!members.empty()) members.push_back(',');
  members += member;
  const NameAndRoom room = InternAndReserve(stream, kPayloadBytes, [stream, &members] {
    return opscope_intern_slow(stream, members.data(), members.size());
  });
  if (room.name == 0 || room.side == nullptr) return;  // at the cap; the scope itself will be counted
  PayloadHeader header;
  header.bytes = kPayloadBytes;
  header.fields = payload_fields::kKeywords;
  const uint32_t words[2] = {room.name, 0};
  std::memcpy(room.side, &header, sizeof(header));
  std::memcpy(room.side + sizeof(header), words, sizeof(words));
  scope->side.store(OffsetInChunk(stream, room.side), std::memory_order_release);
}

}  // namespace

void Scope::AddJson(const char* key, const char* json) {
  std::string member;
  AppendJsonString(&member, key);
  member.push_back(':');
  member += json;
  for (OpenScope* scope = open_; scope != nullptr; scope = scope->sibling)
    AddMember(scope, member);
}

void Scope::AddText(const char* key, const char* text, size_t size) {
  std::string json;
  AppendJsonString(&json, {text, size});
  AddJson(key, json.c_str());
}

void Scope::AddInt(const char* key, int64_t value) {
  std::string json;
  AppendInt(&json, value);
  AddJson(key, json.c_str());
}

void Scope::AddUint(const char* key, uint64_t value) {
  std::string json;
  AppendUint(&json, value);
  AddJson(key, json.c_str());
}

void Scope::AddDouble(const char* key, double value) {
  std::string json;
  if (std::isfinite(value)) {
    AppendDouble(&json, value);
  } else {  // JSON has no number for these
    json = std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
  AddJson(key, json.c_str());
}

}  // namespace opscope
