// The order of rows in torch's table.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "opscope/torch/table.h"

namespace opscope {

// Sorts descending and stable by an attribute; "" keeps the order. "cuda", "xpu" and "privateuse1" in the name mean
// "device". kInvalidArgument with Python's message for an unknown attribute.
[[nodiscard]] Status SortAsTorch(std::string_view sort_by, std::vector<const TorchTableRow*>* rows);

}  // namespace opscope
