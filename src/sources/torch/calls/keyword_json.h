// Keyword inputs of a range as members of a JSON object, without the braces: "a": 1, "b": "s". Only
// _RecordFunctionFast has keyword inputs. Values that torch's own trace does not write become null.
//
// Thread rule: any thread. Allocates: such ranges are rare, and torch has built a map for them already.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <unordered_map>

namespace opscope {

std::string KeywordsAsJsonMembers(const std::unordered_map<std::string, c10::IValue>& keywords);

}  // namespace opscope
