// Reads TOML 1.0: a text of `key = value` lines under [headers], as people write configuration.
//
//   Result<TomlValue> rules = ParseToml("[[rule]]\nmetric = 'spans'\nmax = 5\n");
//   const TomlValue* list = rules.value().Find("rule");      // an array of one table
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/result.h"

namespace opscope {

struct TomlValue {
  enum class Kind : uint8_t { kString, kInteger, kReal, kBool, kDate, kArray, kTable };

  Kind kind = Kind::kTable;
  std::string text = {};                                        // kString; kDate: as it is written
  int64_t integer = 0;                                          // kInteger; kBool: 0 or 1
  double real = 0;                                              // kReal
  std::vector<TomlValue> items = {};                            // kArray
  std::vector<std::pair<std::string, TomlValue>> members = {};  // kTable, in the order of the text

  // Null if there is no such member. O(members).
  const TomlValue* Find(std::string_view key) const;

  // For the parser: what may still be added to a table or an array.
  enum class Origin : uint8_t { kValue, kImplicit, kHeader, kDotted };
  Origin origin = Origin::kValue;
};

// A table. kMalformed: it is not TOML; the message has the line.
[[nodiscard]] Result<TomlValue> ParseToml(std::string_view text);

}  // namespace opscope
