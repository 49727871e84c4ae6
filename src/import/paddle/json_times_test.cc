// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

const fs::path kSamples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/paddle";

// "matmul under forward, 1280 ns after the first begin", in order of begin.
std::vector<std::string> Nested(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  std::vector<size_t> order(spans.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return spans.start[a] < spans.start[b]; });
  std::vector<std::string> all;
  for (const size_t row : order) {
    const SpanId parent = spans.parent[row];
    std::string under = parent == SpanId::kNone ? "nothing" : std::string(trace.text(spans.name[Row(parent)]));
    all.push_back(std::string(trace.text(spans.name[row])) + " under " + under + ", " +
                  std::to_string((spans.start[row] - spans.start[order[0]]).ns) + " ns after the first begin");
  }
  return all;
}

Trace Read(const std::string& text) {
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "paddle.json");
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return std::move(trace.value());
}

// Numbers of microseconds.
std::string Event(const std::string& name, const std::string& begin, const std::string& length,
                  const std::string& start_time) {
  return R"({"name":")" + name + "[" + length + R"( us]","pid":1,"tid":1,"ts":)" + begin + ",\"dur\":" + length +
         R"(,"ph":"X","cat":"Operator","args":{"start_time":")" + start_time + R"( us","end_time":"0 us"}},)";
}

std::string Document(const std::string& events) {
  return R"({"displayTimeUnit":"ms","schemaVersion":"1.0.2","span_index":"0","traceEvents":[)" + events + "{}]}";
}

// One run of Paddle, which wrote both files.
TEST(PaddleJsonTimes, AreThoseOfTheProtobufOfTheSameRun) {
  if (!fs::exists(kSamples)) GTEST_SKIP() << kSamples << " is not there";
  const Result<Trace> json = ImportFile((kSamples / "mlp.json.gz").string());
  const Result<Trace> protobuf = ImportFile((kSamples / "mlp.pb").string());
  ASSERT_TRUE(json.ok() && protobuf.ok());
  EXPECT_EQ(Nested(json.value()), Nested(protobuf.value()));
  EXPECT_GT(json.value().spans().size(), 200u);
}

TEST(PaddleJsonTimes, LeaveTwoThatBeginInOneMicrosecondBesideEachOther) {
  const Trace trace = Read(Document(Event("outer", "100", "9.000", "0.000") + Event("a", "101", "0.300", "1.050") +
                                    Event("b", "101", "0.200", "1.600")));
  EXPECT_EQ(Nested(trace), (std::vector<std::string>{"outer under nothing, 0 ns after the first begin",
                                                     "a under outer, 1050 ns after the first begin",
                                                     "b under outer, 1600 ns after the first begin"}));
}

TEST(PaddleJsonTimes, KeepEachWithinTheMicrosecondThatItIsCutTo) {
  const Trace trace = Read(Document(Event("a", "100", "1.000", "0.000") + Event("b", "102", "1.000", "1.100")));
  EXPECT_EQ(trace.spans().start[0].ns / 1000, 100);
  EXPECT_EQ(trace.spans().start[1].ns / 1000, 102);
}

TEST(PaddleJsonTimes, StayAsTheyAreWhereTheTwoDisagree) {
  const Trace trace = Read(Document(Event("a", "100", "1.000", "0.000") + Event("b", "150", "1.000", "2.500")));
  EXPECT_EQ(trace.spans().start[0].ns, 100'000);
  EXPECT_EQ(trace.spans().start[1].ns, 150'000);
}

TEST(PaddleJsonTimes, AreReadFromWhatIsNoNumberAsNothing) {
  const Trace trace = Read(Document(Event("a", "100", "1.000", "soon") + Event("b", "150", "1.000", "")));
  EXPECT_EQ(trace.spans().start[0].ns, 100'000);
  EXPECT_EQ(trace.spans().start[1].ns, 150'000);
}

}  // namespace
}  // namespace opscope
