// Numbers with a unit, for the user.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace opscope {

std::string FixedText(double value, int decimals);
std::string HumanTime(int64_t ns);      // "950 ns", "1.234 us", "12.35 ms", "1.000 s"
std::string HumanBytes(int64_t bytes);  // "512 B", "1.50 KiB"
std::string HumanCount(int64_t count);  // "950", "1.20 M"

}  // namespace opscope
