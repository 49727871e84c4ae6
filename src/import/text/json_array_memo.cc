// A table of 256 entries without chains: the slot is a hash of the first 16 bytes, the entry is compared whole, a newer
// array replaces an older one. Lists of sizes and types of operators repeat so often that one comparison mostly takes
// the place of a scan item by item.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "import/text/json_scan.h"

namespace opscope {

size_t JsonArrayMemo::SlotOf(std::string_view rest) {
  uint64_t words[2];
  static_assert(sizeof(words) == kKey);
  std::memcpy(words, rest.data(), kKey);
  const uint64_t mixed = (words[0] ^ (words[1] * 0x9e3779b97f4a7c15u)) * 0xc2b2ae3d27d4eb4fu;
  return static_cast<size_t>(mixed >> 56);
}

size_t JsonArrayMemo::Find(std::string_view rest, bool* plain) const {
  static_assert(kEntries == 256);
  if (rest.size() < kKey) return 0;
  const Entry& entry = entries_[SlotOf(rest)];
  if (entry.size == 0 || rest.size() < entry.size || std::memcmp(rest.data(), entry.text, entry.size) != 0) return 0;
  *plain = entry.plain;
  return entry.size;
}

void JsonArrayMemo::Keep(std::string_view rest, size_t size, bool plain) {
  if (rest.size() < kKey || size > kMaxSize) return;
  Entry& entry = entries_[SlotOf(rest)];
  entry.size = static_cast<uint16_t>(size);
  entry.plain = plain;
  std::memcpy(entry.text, rest.data(), size);
}

}  // namespace opscope
