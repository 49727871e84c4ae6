// For the lists of fields, with `using namespace result_units`: the units and conditions of columns by their bare names,
// and shares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "opscope/report/result_table.h"

namespace opscope::result_units {

using enum ResultUnit;
using enum ColumnShown;

// A part of a whole; nullopt: the whole is 0 or less.
inline std::optional<double> ShareOf(int64_t part, int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace opscope::result_units
