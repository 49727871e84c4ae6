// Numbers as torch prints them.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "opscope/torch/table.h"

namespace opscope {

// unit "s", "ms", "us" forces it; anything else: as large as fits.
std::string FormatTorchTime(double time_us, std::string_view unit);
// "12.34%", "NaN" of nothing.
std::string FormatTorchShare(double time_us, double total_us);

struct FlopsUnit {
  std::string_view title;
  double scale;
};
// One unit for a whole column, from its smallest positive number.
FlopsUnit FlopsUnitFor(double smallest);
// "--" where there are none.
std::string FormatTorchFlops(double flops, double smallest);

}  // namespace opscope
