// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/flame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "report/flame_layout.h"

namespace opscope {
namespace {

using testing::HasSubstr;
using testing::Not;

// all: a (self 10): b (self 60), c (self 30)
FlameTree SmallTree() {
  FlameTree tree;
  tree.nodes = {{.name = "all", .kind = FlameKind::kRoot, .total = 100},
                {.name = "a", .self = 10, .total = 100},
                {.name = "c", .parent = 1, .self = 30, .total = 30},
                {.name = "b", .parent = 1, .self = 60, .total = 60}};
  return tree;
}

size_t CountOf(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(FoldedStacks, AreALinePerPathWithAValue) {
  FlameTree tree = SmallTree();
  EXPECT_EQ(FoldedStacks(tree), "a 10\na;c 30\na;b 60\n");
  tree.nodes[1].self = 0;
  tree.nodes[3].name = "x;y\nz";
  EXPECT_EQ(FoldedStacks(tree), "a;c 30\na;x:y z 60\n");
  EXPECT_EQ(FoldedStacks(FlameTree{}), "");
}

TEST(FlameFile, TheEndingOfTheNameSaysGraphOrStacks) {
  const FlameTree tree = SmallTree();
  for (const char* name : {"f.svg", "f.SVG", "a/f.svg.gz", "f.Svg.zst"}) {
    ASSERT_TRUE(FlameFileFromName(name).ok()) << name;
    EXPECT_EQ(FlameFileText(tree, FlameFileFromName(name).value()), FlameGraphSvg(tree)) << name;
  }
  for (const char* name : {"f.folded", "svg", "f.gz", "f.svg.txt", "f.Collapsed.zst", "a.b/f", "", "/dev/fd/1"}) {
    ASSERT_TRUE(FlameFileFromName(name).ok()) << name;
    EXPECT_EQ(FlameFileText(tree, FlameFileFromName(name).value()), FoldedStacks(tree)) << name;
  }
}

TEST(FlameFile, AnUnknownEndingIsRefusedWithTheListOfKnownOnes) {
  for (const char* name : {"f.html", "f.png", "a/f.PDF.gz", "f.svgz", "f.", "f.svg.bak"}) {
    const Result<FlameFile> file = FlameFileFromName(name);
    ASSERT_FALSE(file.ok()) << name;
    EXPECT_EQ(file.error().code, ErrorCode::kInvalidArgument);
    for (const char* known : {".svg", ".folded", ".collapsed", ".txt"})
      EXPECT_NE(file.error().message.find(known), std::string::npos) << file.error().message;
  }
}

TEST(FlameLayout, PutsChildrenByNameUponTheirParent) {
  const FlameTree tree = SmallTree();
  const FlameLayout layout = LayOutFlame(tree, 1000, 0.1);
  ASSERT_EQ(layout.boxes.size(), 4u);
  EXPECT_EQ(layout.levels, 3u);
  EXPECT_EQ(tree.nodes[layout.boxes[2].node].name, "b");
  EXPECT_DOUBLE_EQ(layout.boxes[2].x, 0);
  EXPECT_DOUBLE_EQ(layout.boxes[2].width, 600);
  EXPECT_EQ(tree.nodes[layout.boxes[3].node].name, "c");
  EXPECT_DOUBLE_EQ(layout.boxes[3].x, 600);
  EXPECT_EQ(layout.boxes[3].depth, 2u);
  EXPECT_EQ(layout.too_narrow, 0u);
}

TEST(FlameLayout, CountsWhatIsTooNarrow) {
  const FlameLayout layout = LayOutFlame(SmallTree(), 1000, 400);
  EXPECT_EQ(layout.boxes.size(), 3u);
  EXPECT_EQ(layout.too_narrow, 1u);
}

TEST(FlameGraph, SaysItsNoteInThePicture) {
  const std::string svg = FlameGraphSvg(SmallTree(), {.note = "doubtful: 3 of 10 <events> were dropped"});
  EXPECT_THAT(svg, HasSubstr(">doubtful: 3 of 10 &lt;events&gt; were dropped</text>"));
  EXPECT_EQ(CountOf(FlameGraphSvg(SmallTree()), "id=\"note\""), 0u);
}

TEST(FlameGraph, DrawsEveryBoxWithItsTooltip) {
  const std::string svg = FlameGraphSvg(SmallTree(), {.title = "A <title>"});
  EXPECT_EQ(CountOf(svg, "<g data-depth"), 4u);
  EXPECT_THAT(svg, HasSubstr("<title>b (60 ns, 60.00%)</title><rect x=\"10.00\""));
  EXPECT_THAT(svg, HasSubstr("A &lt;title&gt;"));
  EXPECT_THAT(svg, HasSubstr("100 ns in all"));
  EXPECT_THAT(svg, HasSubstr("<script>"));
  EXPECT_THAT(svg, Not(HasSubstr("http://www.w3.org/1999")));
  EXPECT_EQ(CountOf(svg, "http"), 1u) << "it must not load anything; the one is the namespace";
}

TEST(FlameGraph, StandsTheOtherWayRoundWhenAsked) {
  const auto y_of_root = [](const std::string& svg) {
    const size_t at = svg.find(" y=\"", svg.find("data-name=\"all\""));
    return std::stod(svg.substr(at + 4));
  };
  FlameSvgOptions options;
  const double below = y_of_root(FlameGraphSvg(SmallTree(), options));
  options.inverted = true;
  EXPECT_LT(y_of_root(FlameGraphSvg(SmallTree(), options)), below);
}

TEST(FlameGraph, EscapesWhatXmlCannotHold) {
  FlameTree tree = SmallTree();
  tree.nodes[3].name = std::string_view("a\x01\xff\"&\xef\xbf\xbf\xf0\x9f\x98\x80\0z", 14);
  const std::string svg = FlameGraphSvg(tree);
  EXPECT_THAT(svg,
              HasSubstr("data-name=\"a\xef\xbf\xbd\xef\xbf\xbd&quot;&amp;\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbdz\""));
  EXPECT_EQ(std::count(svg.begin(), svg.end(), '\0'), 0);
}

TEST(FlameGraph, CutsLabelsAtTheirBoxAndNotInsideALetter) {
  FlameTree tree = SmallTree();
  std::string name;
  for (int i = 0; i < 100; ++i)
    name += "\xc3\xa9";  // e acute
  tree.nodes[2].name = name;
  FlameSvgOptions options;
  options.width = 200;
  const std::string svg = FlameGraphSvg(tree, options);
  const size_t text = svg.find("<text", svg.find("data-name=\"\xc3\xa9"));
  const std::string label = svg.substr(svg.find('>', text) + 1, svg.find("</text>", text) - svg.find('>', text) - 1);
  EXPECT_EQ(label, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9..");
}

TEST(FlameGraph, OfNothingSaysSo) {
  const std::string svg = FlameGraphSvg(FlameTree{});
  EXPECT_THAT(svg, HasSubstr("Nothing was recorded"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  FlameTree tree = SmallTree();
  tree.async_spans = 2;
  EXPECT_THAT(FlameGraphSvg(tree), HasSubstr("2 asynchronous ranges are left out"));
}

}  // namespace
}  // namespace opscope
