// The attributes of an operator, as Paddle's map has them, encoded as arguments (record.h).
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "sources/paddle/paddle_layout.h"

namespace opscope {

template <typename Visit>
inline void ForEachAttribute(const paddle_layout::AttributeMap* map, const Visit& visit) {
  constexpr uint64_t kMaxEntries = 1 << 12;  // no operator has that many
  if (map == nullptr || map->count == 0 || map->entries_less_one > kMaxEntries || map->most_lookups < 0) return;
  const uint64_t entries = map->entries_less_one + static_cast<uint64_t>(map->most_lookups);
  for (uint64_t i = 0; i < entries; ++i) {
    if (map->entries[i].distance >= 0) visit(map->entries[i]);
  }
}

// Number of 32-bit words of the encoded value.
uint32_t WordsOf(const paddle_layout::Attribute& attribute);
// Writes the encoded value. Returns the end of the written words.
uint32_t* WriteAttribute(const paddle_layout::Attribute& attribute, uint32_t* at);
// The value of a text attribute, which is written with the name instead. Empty: not a text, or not writable there.
std::string_view TextOf(const paddle_layout::Attribute& attribute);

}  // namespace opscope
