// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "report/html/page_parts.h"
#include "trace/builder.h"

namespace opscope {
namespace {

std::string CountersOfPage(const std::vector<double>& values) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  int64_t now = 0;
  for (const double value : values)
    builder.AddCounter({.time = {now += 10}, .name = builder.Intern("loss"), .track = track, .value = value});
  const Trace trace = builder.Build();
  PageResults results;
  results.trace = &trace;
  PageStrings strings(trace, 1000);
  std::string json;
  AppendPageCounters(results, 1 << 20, &strings, &json);
  return json;
}

TEST(PageCounters, SamplesThatAreNoFiniteNumberAreLeftOutAndNotDrawnAsZero) {
  const std::string json = CountersOfPage({2.5, NAN, -INFINITY, 1});
  EXPECT_NE(json.find("\"values\":[2.5,1],\"left_out\":2}"), std::string::npos) << json;
  const std::string without = CountersOfPage({NAN, NAN});
  EXPECT_NE(without.find("\"values\":[],\"left_out\":2}"), std::string::npos) << without;
}

}  // namespace
}  // namespace opscope
