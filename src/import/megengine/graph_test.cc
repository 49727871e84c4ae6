// The sums of a static graph's profile against what MegEngine's own profile_analyze printed of it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

const fs::path kSamples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/megengine";

double NumberBehind(const std::string& text, const std::string& words) {
  const size_t at = text.find(words);
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + words.size(), nullptr);
}

double Seconds(const Trace& trace, std::string_view category) {
  const SpanColumns& spans = trace.spans();
  int64_t ns = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (trace.text(spans.category[i]) == category) ns += spans.duration[i].ns;
  }
  return static_cast<double>(ns) / 1e9;
}

TEST(MegEngineGraph, HasTheTotalsOfTheAnalyzer) {
  if (!fs::exists(kSamples)) GTEST_SKIP() << kSamples << " is not there";
  const Result<Trace> trace = ImportFile((kSamples / "lenet_get_profile.json.gz").string());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  std::ifstream file(kSamples / "lenet_profile_analyze.txt");
  std::stringstream printed;
  printed << file.rdbuf();
  // It prints six digits; on one device and one thread its maximum over them is the sum.
  EXPECT_NEAR(Seconds(trace.value(), "kernel"), NumberBehind(printed.str(), "\ntotal device time  "), 5e-7);
  EXPECT_NEAR(Seconds(trace.value(), "cpu_op"), NumberBehind(printed.str(), "\ntotal host time  "), 5e-7);
  EXPECT_EQ(trace.value().tracks().size(), 2u);
}

TEST(MegEngineGraph, IsTheSameInAnyOrderOfItsMembers) {
  const fs::path golden = fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/megengine_graph";
  const Result<Trace> names = ImportFile((golden / "names_before_times/input.json").string());
  const Result<Trace> times = ImportFile((golden / "times_before_names/input.json").string());
  ASSERT_TRUE(names.ok() && times.ok());
  const SpanColumns &a = names.value().spans(), &b = times.value().spans();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(names.value().text(a.name[i]), times.value().text(b.name[i]));
    EXPECT_EQ(a.start[i], b.start[i]);
    EXPECT_EQ(a.duration[i], b.duration[i]);
  }
}

// The clock of a device has an origin of its own: 4.0 s here is 7.0 s of the thread.
constexpr char kTwoClocks[] = R"({"graph_exec": {}, "profiler": {
  "device": {"0": {"gpu0:0": {"start": 4.0, "kern": 4.0, "end": 4.5}},
             "1": {"gpu0:0": {"start": 5.0, "kern": 5.0, "end": 5.25}}},
  "host": {"0": {"main": {"start": 7.0, "kern": 7.0, "end": 7.1}},
           "1": {"main": {"start": 7.2, "kern": 7.2, "end": 7.3}}}}})";

TEST(MegEngineGraph, MovesADeviceBehindItsDispatches) {
  const Result<Trace> read = ImportBytes(std::as_bytes(std::span(std::string_view(kTwoClocks))), "profile");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Trace& trace = read.value();
  std::vector<int64_t> kernels, durations;
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.text(trace.spans().category[i]) != "kernel") continue;
    kernels.push_back(trace.spans().start[i].ns);
    durations.push_back(trace.spans().duration[i].ns);
  }
  EXPECT_EQ(kernels, (std::vector<int64_t>{7'000'000'000, 8'000'000'000}));
  EXPECT_EQ(durations, (std::vector<int64_t>{500'000'000, 250'000'000}));
  ASSERT_EQ(trace.problems().size(), 1u);
  EXPECT_EQ(trace.text(trace.problems().kind[0]), "device_clock_moved");
  EXPECT_EQ(trace.problems().count[0], 2u);
}

}  // namespace
}  // namespace opscope
