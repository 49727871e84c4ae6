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
  constexpr uint64_t kMaxPlaces = 1 << 12;  // no operator has that many
  if (map == nullptr || map->count == 0 || map->places_less_one > kMaxPlaces || map->most_lookups < 0) return;
  const uint64_t places = map->places_less_one + static_cast<uint64_t>(map->most_lookups);
  for (uint64_t i = 0; i < places; ++i) {
    if (map->entries[i].distance >= 0) visit(map->entries[i]);
  }
}

// Words that its value takes.
uint32_t WordsOf(const paddle_layout::Attribute& attribute);
// Returns the place behind them.
uint32_t* WriteAttribute(const paddle_layout::Attribute& attribute, uint32_t* at);
// Of an attribute that is a text, which has no encoding: it stands with the name. Empty: it is none, or cannot.
std::string_view TextOf(const paddle_layout::Attribute& attribute);

}  // namespace opscope
