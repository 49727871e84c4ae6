// Keyword inputs of a range (torch keeps them for _RecordFunctionFast alone) as members of a JSON
// object, without the braces: "a": 1, "b": "s". Values that torch's trace has no place for are null.
//
// Thread rule: any thread. Allocates; such ranges are rare and have paid for a map already.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <string_view>
#include <unordered_map>

namespace opscope {

std::string KeywordsAsJsonMembers(const std::unordered_map<std::string, c10::IValue>& keywords);

// `text` between quotes; what JSON cannot hold is escaped.
void AppendJsonString(std::string_view text, std::string* json);

}  // namespace opscope
