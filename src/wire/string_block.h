// The payload of a kStrings block: texts first_id, first_id + 1, ... of the string dictionary.
//
//   varint first id | varint count | sizes as an encoded column | the texts, one after the other
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/column_codec.h"

namespace opscope {

struct StringBlock {
  uint32_t first_id = 0;
  std::vector<std::string_view> texts;
};

void AppendStrings(const StringBlock& block, ColumnEncoder* encoder, std::string* payload);
// False if the payload is damaged. The texts are views of the payload.
[[nodiscard]] bool DecodeStrings(std::span<const std::byte> payload, ColumnDecoder* decoder, StringBlock* block);

}  // namespace opscope
