// Copies a name and a payload from one chunk into another. A payload refers to other entries of its chunk
// by offset, so it is copied field by field where fields hold offsets, and as bytes elsewhere:
//
//   payload {kOverload: 96, kArgumentsOf: 160}   ->   {kOverload: new offset of its name}, arguments of 160 copied
//   inline
//
// An argument list of another payload becomes the copy's own, so that the copy depends on one entry less.
// Offsets are checked before use: a writer that was interrupted may have left anything in the free space.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/entries.h"

#include <cstddef>
#include <cstring>

namespace opscope {
namespace {

// The fields that begin with an offset of a NameEntry. The entries of kHeld have more (ForEachNameOfHeld).
constexpr uint16_t kNamingFields[] = {payload_fields::kOverload, payload_fields::kKeywords};
// A payload with one of these has no arguments for others: its fields have entries, or its arguments are another's.
constexpr uint16_t kFieldsOfOthers = payload_fields::kArgumentsOf | payload_fields::kTensors | payload_fields::kHeld;

uint32_t BytesOfFields(uint16_t fields) {
  uint32_t bytes = 0;
  for (uint32_t bit = 1; bit < 0x10000u; bit <<= 1) {
    if ((fields & bit) != 0) bytes += payload_fields::BytesOf(static_cast<uint16_t>(bit));
  }
  return bytes;
}

// Offset of a field in the payload. REQUIRES: the field's bit is set.
uint32_t OffsetOfField(uint16_t fields, uint16_t field) {
  return static_cast<uint32_t>(sizeof(PayloadHeader)) + BytesOfFields(static_cast<uint16_t>(fields & (field - 1u)));
}

uint32_t WordAt(const char* address) {
  uint32_t word;
  std::memcpy(&word, address, sizeof(word));
  return word;
}

uint32_t NamedBy(const PayloadHeader* payload, uint16_t field) {
  if ((payload->fields & field) == 0) return 0;
  return WordAt(reinterpret_cast<const char*>(payload) + OffsetOfField(payload->fields, field));
}

// Calls visit(at, name) for each name of a kHeld payload: `name` is the offset of a NameEntry, `at` the position of
// that number in the payload.
template <typename Visit>
void ForEachNameOfHeld(const PayloadHeader* payload, const Visit& visit) {
  if ((payload->fields & payload_fields::kHeld) == 0) return;
  const char* bytes = reinterpret_cast<const char*>(payload);
  const uint64_t field = OffsetOfField(payload->fields, payload_fields::kHeld);
  uint64_t at = field + payload_fields::BytesOf(payload_fields::kHeld) + offsetof(ReferencedTensor, name);
  for (uint32_t left = WordAt(bytes + field); left != 0 && at + sizeof(uint32_t) <= payload->bytes; --left) {
    visit(at, WordAt(bytes + at));
    at += sizeof(ReferencedTensor);
  }
}

// The encoded arguments of a payload, its own or those of another one (kArgumentsOf).
std::string_view ArgumentsOf(const EntrySpace& from, const PayloadHeader* payload) {
  if ((payload->fields & payload_fields::kArgumentsOf) != 0) {
    payload = from.PayloadAt(NamedBy(payload, payload_fields::kArgumentsOf));
    if (payload == nullptr || (payload->fields & kFieldsOfOthers) != 0) return {};
  }
  const uint32_t begin = static_cast<uint32_t>(sizeof(PayloadHeader)) + BytesOfFields(payload->fields);
  return {reinterpret_cast<const char*>(payload) + begin, payload->bytes - begin};
}

uint32_t CopyPayload(const EntrySpace& from, const PayloadHeader* payload, uint32_t start_thread, EntrySink* to) {
  PayloadHeader header;
  header.bytes = sizeof(PayloadHeader);
  uint32_t names[2] = {0, 0};
  std::string_view arguments;  // of another payload
  if (payload != nullptr) {
    header = *payload;
    if ((header.fields & payload_fields::kArgumentsOf) != 0) {
      arguments = ArgumentsOf(from, payload);
      header.fields &= static_cast<uint16_t>(~payload_fields::kArgumentsOf);
      header.bytes -= payload_fields::BytesOf(payload_fields::kArgumentsOf);
    }
    for (int i = 0; i < 2; ++i) {
      if (const uint32_t named = NamedBy(payload, kNamingFields[i]); named != 0)
        names[i] = to->Intern(from.TextAt(named));
    }
  }
  const bool add_thread = start_thread != kNoThread && (header.fields & payload_fields::kStartThread) == 0;
  const uint32_t inserted = add_thread ? payload_fields::BytesOf(payload_fields::kStartThread) : 0;
  uint32_t offset = 0;
  const auto added = static_cast<uint32_t>(arguments.size());
  char* copy = to->Reserve(header.bytes + inserted + added, &offset);
  if (copy == nullptr) return 0;
  const uint32_t split = OffsetOfField(header.fields, payload_fields::kStartThread);
  if (payload != nullptr) {
    const char* old = reinterpret_cast<const char*>(payload);
    std::memcpy(copy, old, split);
    std::memcpy(copy + split + inserted, old + split, header.bytes - split);
    if (added != 0) std::memcpy(copy + header.bytes + inserted, arguments.data(), added);
    header.bytes += added;
  }
  if (add_thread) {
    const uint32_t words[2] = {start_thread, 0};
    std::memcpy(copy + split, words, sizeof(words));
    header.fields |= payload_fields::kStartThread;
    header.bytes += inserted;
  }
  std::memcpy(copy, &header, sizeof(header));
  for (int i = 0; i < 2; ++i) {
    if ((header.fields & kNamingFields[i]) == 0) continue;
    std::memcpy(copy + OffsetOfField(header.fields, kNamingFields[i]), &names[i], sizeof(names[i]));
  }
  if (payload != nullptr) {
    ForEachNameOfHeld(payload, [&](uint64_t at, uint32_t named) {
      const uint32_t moved = from.NameAt(named) == nullptr ? 0 : to->Intern(from.TextAt(named));
      std::memcpy(copy + at + inserted, &moved, sizeof(moved));
    });
  }
  return offset;
}

}  // namespace

const NameEntry* EntrySpace::NameAt(uint32_t offset) const {
  if (offset == 0 || offset % 8 != 0 || uint64_t{offset} + sizeof(NameEntry) > size) return nullptr;
  const auto* entry = reinterpret_cast<const NameEntry*>(base + offset);
  return uint64_t{offset} + NameEntryBytes(entry->size) <= size ? entry : nullptr;
}

std::string_view EntrySpace::TextAt(uint32_t offset) const {
  const NameEntry* entry = NameAt(offset);
  return entry == nullptr ? std::string_view()
                          : std::string_view(reinterpret_cast<const char*>(entry + 1), entry->size);
}

const PayloadHeader* EntrySpace::PayloadAt(uint32_t offset) const {
  if (offset == 0 || offset % 8 != 0 || uint64_t{offset} + sizeof(PayloadHeader) > size) return nullptr;
  const auto* payload = reinterpret_cast<const PayloadHeader*>(base + offset);
  const bool whole = uint64_t{offset} + payload->bytes <= size &&
                     payload->bytes >= sizeof(PayloadHeader) + BytesOfFields(payload->fields);
  return whole ? payload : nullptr;
}

uint64_t BytesOfEntries(const EntrySpace& from, uint32_t name, uint32_t payload_offset) {
  uint64_t bytes = 0;
  if (const NameEntry* entry = from.NameAt(name)) bytes += NameEntryBytes(entry->size);
  bytes += sizeof(PayloadHeader) + payload_fields::BytesOf(payload_fields::kStartThread);
  if (const PayloadHeader* payload = from.PayloadAt(payload_offset)) {
    bytes += payload->bytes;
    if ((payload->fields & payload_fields::kArgumentsOf) != 0) bytes += ArgumentsOf(from, payload).size();
    for (const uint16_t field : kNamingFields) {
      if (const NameEntry* entry = from.NameAt(NamedBy(payload, field))) bytes += NameEntryBytes(entry->size);
    }
    ForEachNameOfHeld(payload, [&](uint64_t, uint32_t named) {
      if (const NameEntry* entry = from.NameAt(named)) bytes += NameEntryBytes(entry->size);
    });
  }
  return bytes;
}

uint32_t LowestOffset(const EntrySpace& from, uint32_t name, uint32_t payload_offset, uint32_t otherwise) {
  uint32_t lowest = otherwise;
  const auto consider = [&lowest](uint32_t offset) {
    if (offset != 0 && offset < lowest) lowest = offset;
  };
  if (from.NameAt(name) != nullptr) consider(name);
  if (const PayloadHeader* payload = from.PayloadAt(payload_offset)) {
    consider(payload_offset);
    consider(NamedBy(payload, payload_fields::kArgumentsOf));
    for (const uint16_t field : kNamingFields) {
      const uint32_t named = NamedBy(payload, field);
      if (from.NameAt(named) != nullptr) consider(named);
    }
  }
  return lowest;
}

CopiedEntries CopyEntries(const EntrySpace& from, uint32_t name, uint32_t payload_offset, uint32_t start_thread,
                          EntrySink* to) {
  CopiedEntries copied;
  if (from.NameAt(name) != nullptr) copied.name = to->Intern(from.TextAt(name));
  const PayloadHeader* payload = from.PayloadAt(payload_offset);
  if (payload != nullptr || start_thread != kNoThread) copied.payload = CopyPayload(from, payload, start_thread, to);
  return copied;
}

bool EntryScratch::Prepare(uint64_t bytes) {
  bytes_.SetSize(0);
  if (!bytes_.Reserve(bytes + 8)) return false;
  static constexpr char kNoEntry[8] = {};  // offset 0 means "none"
  return bytes_.Append(kNoEntry, sizeof(kNoEntry));
}

char* EntryScratch::Reserve(uint32_t bytes, uint32_t* offset) {
  *offset = static_cast<uint32_t>(bytes_.size());
  if (!bytes_.Reserve(bytes_.size() + bytes)) return nullptr;
  bytes_.SetSize(bytes_.size() + bytes);
  return bytes_.begin() + *offset;
}

uint32_t EntryScratch::Intern(std::string_view text) {
  uint32_t offset = 0;
  char* address = Reserve(static_cast<uint32_t>(NameEntryBytes(text.size())), &offset);
  if (address == nullptr) return 0;
  StoreName(address, text);
  return offset;
}

}  // namespace opscope
