// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "opscope/export/formats.h"
#include "trace/builder.h"

namespace opscope {
namespace {

size_t Count(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size()))
    ++count;
  return count;
}

// A tensor of 2 x 3 floats each, 10 us one after the other.
std::string PictureOf(size_t tensors, uint64_t apart, std::string_view name = "fc.ADD:0") {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 7});
  const TrackId track = builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 2});
  const int64_t sizes[] = {2, 3};
  const ArgumentRow row[] = {{.kind = ArgumentKind::kTensor, .dtype = builder.Intern("Float32"), .sizes = sizes}};
  const ArgsId args = builder.AddArguments(row);
  for (size_t i = 0; i < tensors; ++i) {
    builder.AddTensorLife({.produced = {1250007 + static_cast<int64_t>(i) * 10000},
                           .duration = {i % 2 == 0 ? 250000 : 0},
                           .track = track,
                           .tensor = i + 1,
                           .op = 900,
                           .address = 0x7f2a40400000 + i * apart,
                           .bytes = 24,
                           .args = args,
                           .name = builder.Intern(name)});
  }
  const auto exported = ExportToBytes(builder.Build(), ExportFormat::kMegEngineSvg);
  EXPECT_TRUE(exported.ok());
  return exported.value().bytes;
}

TEST(MegEngineSvg, HasTheAttributesOfTheOriginal) {
  const std::string svg = PictureOf(2, uint64_t{1} << 40);
  EXPECT_NE(svg.find("<rect x=\"0.000000\" y=\"0.000000\" height=\"0.000024\" width=\"2.500000\" fill=\"#BBBBBB\" "
                     "tag:type=\"tensor\" tag:name=\"fc.ADD:0\" tag:address=\"0x7f2a40400000\" tag:size=\"24B \" "
                     "tag:layout=\"{2(3),3(1) Float32}\" tag:produced=\"1ms 250us 7ns \" tag:erased=\"1ms 500us 7ns \" "
                     "tag:duration=\"250us \" tag:group=\"900\">"),
            std::string::npos)
      << svg;
  EXPECT_NE(svg.find("<rect x=\"0.100000\" y=\"0.000025\" height=\"0.000024\" width=\"0.000000\" fill=\"#DDDDDD\""),
            std::string::npos)
      << svg;
  EXPECT_LT(svg.find("fill=\"blue\""), svg.find("tag:type"));
}

TEST(MegEngineSvg, EscapesNames) {
  const std::string svg = PictureOf(1, 64, "a<b>&\"q\"\x01.ADD:0");
  EXPECT_NE(svg.find("tag:name=\"a&lt;b&gt;&amp;&quot;q&quot;\xef\xbf\xbd.ADD:0\""), std::string::npos) << svg;
  EXPECT_EQ(svg.find("a<b>"), std::string::npos);
}

TEST(MegEngineSvg, IsUtf8WhateverBytesNamesHave) {
  const std::string svg = PictureOf(1, 64, "a\xff.ADD:0");
  EXPECT_NE(svg.find("tag:name=\"a\xef\xbf\xbd.ADD:0\""), std::string::npos) << svg;
  EXPECT_TRUE(IsUtf8(svg));
}

TEST(MegEngineSvg, DrawsEachOfTenThousandAndSumsUpTheSmallOnesOfMore) {
  EXPECT_EQ(Count(PictureOf(10000, 64), "tag:type=\"tensor\""), 10000u);
  const std::string many = PictureOf(100000, 64);
  EXPECT_LT(Count(many, "<rect"), 28000u);
  uint64_t told = Count(many, "tag:type=\"tensor\"");
  for (size_t at = many.find("tag:count=\""); at != std::string::npos; at = many.find("tag:count=\"", at + 1))
    told += std::stoull(many.substr(at + 11));
  EXPECT_EQ(told, 100000u);
}

TEST(MegEngineSvg, IsAPictureOfNothingWithoutTensors) {
  EXPECT_NE(PictureOf(0, 0).find("fill=\"blue\""), std::string::npos);
}

}  // namespace
}  // namespace opscope
