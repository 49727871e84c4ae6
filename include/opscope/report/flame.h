// Flame graphs as folded stacks and as pictures.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "opscope/analysis/flame.h"
#include "opscope/result.h"

namespace opscope {

// A line per path with a value of its own, `outermost;...;innermost VALUE`: the input of flamegraph.pl and the like.
[[nodiscard]] std::string FoldedStacks(const FlameTree& tree);
// The same in pieces of about a megabyte: many deep paths are long.
void FoldedStacks(const FlameTree& tree, const std::function<void(std::string_view piece)>& take);

struct FlameSvgOptions {
  std::string title = "Flame graph";
  double width = 1200;     // pixels
  double narrowest = 0.1;  // pixels: what is narrower is not drawn, and counted below the graph
  bool inverted = false;   // the root above, as an icicle
  std::string note = {};   // a line in the picture; "": none
};
// An SVG file that needs nothing else, with zoom and search where scripts run.
[[nodiscard]] std::string FlameGraphSvg(const FlameTree& tree, const FlameSvgOptions& options = {});

enum class FlameFile : uint8_t { kSvg, kFoldedStacks };

// What a file of this name holds, by its ending in any case, before .gz or .zst: .svg is the graph; .folded,
// .collapsed, .txt and no ending are folded stacks. kInvalidArgument, with the list: any other ending.
[[nodiscard]] Result<FlameFile> FlameFileFromName(std::string_view path);

// The text of such a file, uncompressed (WriteText in opscope/export.h compresses by the name).
[[nodiscard]] std::string FlameFileText(const FlameTree& tree, FlameFile file, const FlameSvgOptions& options = {});

}  // namespace opscope
