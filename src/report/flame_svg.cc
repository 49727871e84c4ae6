// Writes a flame graph as one self-contained SVG file. Every box has its name and value as a tooltip; a small script
// adds zoom and search where scripts run.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include "base/xml_text.h"
#include "opscope/report/flame.h"
#include "report/code_points.h"
#include "report/flame_layout.h"
#include "report/human_units.h"

namespace opscope {
namespace {

constexpr double kMargin = 10, kRow = 17, kTop = 60, kBottom = 40, kLetter = 7;

std::string Pixels(double value) {
  return FixedText(value, 2);
}

// The hue depends on the kind, the shade on a hash of the name, so that a name has the same colour in every graph.
std::string ColorOf(const FlameNode& node) {
  uint32_t hash = 2166136261u;
  for (const char c : node.name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  const auto shade = [&](uint32_t low, uint32_t range, int shift) { return low + (hash >> shift) % range; };
  char text[32];
  switch (node.kind) {
    case FlameKind::kRoot:
    case FlameKind::kThread:
    case FlameKind::kDevice:
      return "rgb(200,200,200)";
    case FlameKind::kPythonCall:
      std::snprintf(text, sizeof(text), "rgb(%u,%u,%u)", shade(70, 50, 3), shade(150, 50, 9), shade(200, 50, 15));
      break;
    case FlameKind::kModule:
      std::snprintf(text, sizeof(text), "rgb(%u,%u,%u)", shade(90, 50, 3), shade(190, 50, 9), shade(90, 50, 15));
      break;
    case FlameKind::kRange:
      std::snprintf(text, sizeof(text), "rgb(%u,%u,%u)", shade(180, 40, 3), shade(130, 40, 9), shade(210, 40, 15));
      break;
    case FlameKind::kOperator:
      std::snprintf(text, sizeof(text), "rgb(%u,%u,%u)", shade(205, 50, 3), shade(90, 120, 9), shade(20, 50, 15));
      break;
  }
  return text;
}

std::string ShareText(const FlameTree& tree, const FlameNode& node) {
  const double share = 100 * static_cast<double>(node.total) / static_cast<double>(tree.nodes[0].total);
  return FlameValueText(tree.metric, node.total) + ", " + FixedText(share, 2) + "%";
}

class SvgWriter {
 public:
  SvgWriter(const FlameTree& tree, const FlameSvgOptions& options)
      : tree_(tree), options_(options), layout_(LayOutFlame(tree, options.width - 2 * kMargin, options.narrowest)) {}

  std::string Write() {
    const double height = kTop + kRow * layout_.levels + kBottom;
    out_ =
        "<?xml version=\"1.0\" standalone=\"no\"?>\n<svg version=\"1.1\" xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"" +
        Pixels(options_.width) + "\" height=\"" + Pixels(height) + "\" viewBox=\"0 0 " + Pixels(options_.width) + " " +
        Pixels(height) + "\" font-family=\"monospace\" font-size=\"12\" data-left=\"" + Pixels(kMargin) +
        "\" data-width=\"" + Pixels(options_.width - 2 * kMargin) + "\" data-letter=\"" + Pixels(kLetter) + "\">\n";
    out_ +=
        "<style>#boxes g { cursor: pointer; } #boxes g:hover rect { stroke: black; } #search, #reset { cursor: "
        "pointer; }"
        " text { pointer-events: none; } #search, #reset { pointer-events: auto; }</style>\n";
    out_ += "<rect width=\"100%\" height=\"100%\" fill=\"rgb(248,248,248)\"/>\n";
    Text("title", options_.width / 2, 24, "text-anchor=\"middle\" font-size=\"17\"", options_.title);
    Text("reset", kMargin, 24, "style=\"display:none\"", "Reset Zoom");
    Text("search", options_.width - kMargin, 24, "text-anchor=\"end\" style=\"display:none\"", "Search");
    if (!options_.note.empty()) Text("note", kMargin, 44, "fill=\"rgb(176,0,32)\"", options_.note);
    Text("matched", options_.width - kMargin, 44, "text-anchor=\"end\"", "");
    Text("details", kMargin, height - 14, "", Hint());
    out_ += "<g id=\"boxes\">\n";
    for (const FlameBox& box : layout_.boxes)
      AddBox(box);
    out_ += "</g>\n";
    if (!layout_.boxes.empty()) out_.append("<script><![CDATA[\n").append(kFlameScript).append("]]></script>\n");
    return std::move(out_) + "</svg>\n";
  }

 private:
  std::string Hint() const {
    if (layout_.boxes.empty()) return "Nothing was recorded that this graph could show.";
    std::string hint = FlameValueText(tree_.metric, tree_.nodes[0].total) + " in all";
    if (layout_.too_narrow > 0) {
      hint += "; " + std::to_string(layout_.too_narrow) + " paths narrower than " + FixedText(options_.narrowest, 1) +
              " pixels are not drawn";
    }
    if (tree_.async_spans > 0) hint += "; " + std::to_string(tree_.async_spans) + " asynchronous ranges are left out";
    if (tree_.deeper_spans > 0)
      hint += "; " + std::to_string(tree_.deeper_spans) + " deeper spans count for the last box";
    return hint;
  }

  void Text(const char* id, double x, double y, const char* attributes, std::string_view text) {
    out_.append("<text id=\"").append(id).append("\" x=\"").append(Pixels(x)).append("\" y=\"").append(Pixels(y));
    out_.append("\" ").append(attributes).append(">");
    AppendXml(text, &out_);
    out_ += "</text>\n";
  }

  void AddBox(const FlameBox& box) {
    const FlameNode& node = tree_.nodes[box.node];
    const uint32_t level = options_.inverted ? box.depth : layout_.levels - 1 - box.depth;
    const double y = kTop + kRow * level;
    out_.append("<g data-depth=\"").append(std::to_string(box.depth)).append("\" data-name=\"");
    AppendXml(node.name, &out_);
    out_ += "\"><title>";
    AppendXml(node.name, &out_);
    out_.append(" (").append(ShareText(tree_, node)).append(")</title><rect x=\"").append(Pixels(kMargin + box.x));
    out_.append("\" y=\"").append(Pixels(y)).append("\" width=\"").append(Pixels(box.width)).append("\" height=\"");
    out_.append(Pixels(kRow - 1)).append("\" fill=\"").append(ColorOf(node)).append("\" rx=\"2\"/><text x=\"");
    out_.append(Pixels(kMargin + box.x + 3)).append("\" y=\"").append(Pixels(y + 12)).append("\">");
    AppendXml(Label(node.name, box.width), &out_);
    out_ += "</text></g>\n";
  }

  // The name, cut to the width of the box.
  static std::string Label(std::string_view name, double width) {
    const auto room = static_cast<int64_t>((width - 6) / kLetter);
    if (room < 3) return {};
    if (static_cast<int64_t>(CountCodePoints(name)) <= room) return std::string(name);
    return std::string(FirstCodePoints(name, room - 2)) + "..";
  }

  const FlameTree& tree_;
  const FlameSvgOptions& options_;
  const FlameLayout layout_;
  std::string out_;
};

}  // namespace

std::string FlameGraphSvg(const FlameTree& tree, const FlameSvgOptions& options) {
  return SvgWriter(tree, options).Write();
}

Result<FlameFile> FlameFileFromName(std::string_view path) {
  std::string_view name = path.substr(path.find_last_of('/') + 1);
  for (const std::string_view compressed : {".gz", ".zst"}) {
    if (name.ends_with(compressed)) name.remove_suffix(compressed.size());
  }
  const size_t dot = name.find_last_of('.');
  if (dot == std::string_view::npos) return FlameFile::kFoldedStacks;
  const std::string ending = UpperCase(name.substr(dot));
  if (ending == ".SVG") return FlameFile::kSvg;
  for (const char* folded : {".FOLDED", ".COLLAPSED", ".TXT"}) {
    if (ending == folded) return FlameFile::kFoldedStacks;
  }
  return Error{ErrorCode::kInvalidArgument, std::string(path) +
                                                ": no known ending; .svg is a graph, .folded, .collapsed and .txt are "
                                                "folded stacks, also with .gz or .zst behind them"};
}

std::string FlameFileText(const FlameTree& tree, FlameFile file, const FlameSvgOptions& options) {
  return file == FlameFile::kSvg ? FlameGraphSvg(tree, options) : FoldedStacks(tree);
}

}  // namespace opscope
