// Flame graphs as files: folded stacks for other tools, and SVG pictures.
//
//   const FlameTree tree = FoldSpans(trace);
//   OPSCOPE_TRY(WriteText("run.svg", FlameGraphSvg(tree)));
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

// One line per path with a value of its own, `outermost;...;innermost VALUE`: the
// input of flamegraph.pl and similar tools.
[[nodiscard]] std::string FoldedStacks(const FlameTree& tree);
// The same in pieces of about a megabyte, because many deep paths make a long text.
void FoldedStacks(const FlameTree& tree, const std::function<void(std::string_view piece)>& take);

// Layout of the picture.
struct FlameSvgOptions {
  std::string title = "Flame graph";
  // Width in pixels.
  double width = 1200;
  // Boxes narrower than this many pixels are not drawn, but counted below the
  // graph.
  double narrowest = 0.1;
  // True: the root on top, as an icicle graph.
  bool inverted = false;
  // A line in the picture; "": none.
  std::string note = {};
};
// A self-contained SVG file, with zoom and search where the viewer runs scripts.
[[nodiscard]] std::string FlameGraphSvg(const FlameTree& tree, const FlameSvgOptions& options = {});

// Formats of a flame graph.
enum class FlameFile : uint8_t { kSvg, kFoldedStacks };

// The format for a file name, by its extension in any case, before .gz or .zst:
// .svg is the graph; .folded, .collapsed, .txt and no extension are folded stacks.
// kInvalidArgument: any other; the message lists these.
[[nodiscard]] Result<FlameFile> FlameFileFromName(std::string_view path);

// The text of such a file, uncompressed (WriteText in opscope/export.h compresses
// by name).
[[nodiscard]] std::string FlameFileText(const FlameTree& tree, FlameFile file, const FlameSvgOptions& options = {});

}  // namespace opscope
