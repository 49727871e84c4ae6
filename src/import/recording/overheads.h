// The "own_cost" member of a recording's options (FORMAT.md, kWindowInfo) as numbers.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "opscope/trace.h"

namespace opscope {

// nullopt: no such member, or one without the costs of scopes. Numbers that are absent, negative or not finite are 0.
[[nodiscard]] std::optional<MeasuredOverheads> ParseOverheads(std::string_view options_json);

}  // namespace opscope
