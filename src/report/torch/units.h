// Numbers in torch's formats.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "opscope/torch/table.h"

namespace opscope {

// unit: "s", "ms" or "us"; any other value selects the largest that fits.
std::string FormatTorchTime(double time_us, std::string_view unit);
// "12.34%"; "NaN" if the total is 0.
std::string FormatTorchShare(double time_us, double total_us);

struct FlopsUnit {
  std::string_view title;
  double scale;
};
// The unit of a column, chosen by its smallest positive number.
FlopsUnit FlopsUnitFor(double smallest);
// "--" if `flops` is not positive.
std::string FormatTorchFlops(double flops, double smallest);

}  // namespace opscope
