// Facts about an allocation in Paddle's files that have no column in `allocations`.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opscope {

// Members of a JSON object. type: "Allocate" or "Free"; place: "Place(cpu)".
std::string PaddleAllocationMembers(std::string_view type, std::string_view place, uint64_t peak_allocated,
                                    uint64_t peak_reserved);

}  // namespace opscope
