// Positions of the boxes of a flame graph.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opscope/analysis/flame.h"

namespace opscope {

struct FlameBox {
  uint32_t node = 0;
  uint32_t depth = 0;  // 0: the root
  double x = 0;        // in pixels
  double width = 0;
};

struct FlameLayout {
  std::vector<FlameBox> boxes;  // parents before children; siblings by name
  uint32_t levels = 0;
  uint64_t too_narrow = 0;  // number of nodes with a value but without a box
};

// Boxes narrower than `narrowest` pixels are left out with all upon them, and so are nodes without a value. O(n log n).
FlameLayout LayOutFlame(const FlameTree& tree, double width, double narrowest);

// "12.5 ms", "1.50 KiB", "3 calls".
std::string FlameValueText(FlameMetric metric, int64_t value);

// The JavaScript of a flame graph: zoom, search, details of the box under the pointer.
extern const char* const kFlameScript;

}  // namespace opscope
