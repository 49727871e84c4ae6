// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/dump.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace opscope {
namespace {

constexpr char kDumpOptions[] =
    R"({"at_cap":"keep_newest","dump":{"number":3,"reason":"no_step","detail":"no step for 1001 ms","unix_ns":17},)"
    R"("threads":[{"reason":"none"}]})";

class DumpTest : public testing::Test {
 protected:
  DumpTest() : process_(builder_.AddProcess({.pid = 7})) {}

  TrackId Thread(int64_t tid) { return builder_.AddTrack({.process = process_, .tid = tid}); }
  void Span(TrackId track, const char* name, int64_t start, int64_t duration, uint8_t flags = 0) {
    builder_.AddSpan(
        {.start = {start}, .duration = {duration}, .name = builder_.Intern(name), .track = track, .flags = flags});
  }
  // "7: outer inner; 8: "
  static std::string Text(const Trace& trace) {
    std::string text;
    for (const OpenSpans& thread : FindOpenSpans(trace)) {
      text += (text.empty() ? "" : "; ") + std::to_string(trace.tracks().tid[Row(thread.track)]) + ":";
      for (const SpanId span : thread.spans)
        text += " " + std::string(trace.text(trace.spans().name[Row(span)]));
    }
    return text;
  }

  TraceBuilder builder_;
  ProcessId process_;
};

TEST_F(DumpTest, ReadsWhyAndWhenOfADump) {
  builder_.info().options_json = kDumpOptions;
  const std::optional<DumpCause> cause = CauseOfDump(builder_.Build());
  ASSERT_TRUE(cause.has_value());
  EXPECT_EQ(cause->reason, "no_step");
  EXPECT_EQ(cause->detail, "no step for 1001 ms");
  EXPECT_EQ(cause->number, 3u);
  EXPECT_EQ(cause->unix_ns, 17);
}

TEST_F(DumpTest, HasNoCauseInWhatIsNoDump) {
  for (const char* options : {"{}", "", R"({"own_cost":{"dump":{"reason":"x"}}})", R"({"dump":{}})", R"({"dump":5})"}) {
    TraceBuilder builder;
    builder.info().options_json = options;
    EXPECT_FALSE(CauseOfDump(builder.Build()).has_value()) << options;
  }
}

TEST_F(DumpTest, ListsWhatIsOpenOnEachThreadOutermostFirst) {
  builder_.info().options_json = kDumpOptions;
  const TrackId main = Thread(7), idle = Thread(8);
  Span(main, "done", 0, 5);
  Span(main, "outer", 10, 90, span_flags::kUnfinished);
  Span(main, "also done", 11, 5);
  Span(main, "inner", 20, 80, span_flags::kUnfinished);
  Span(idle, "done", 0, 5);
  Thread(9);  // recorded nothing
  EXPECT_EQ(Text(builder_.Build()), "7: outer inner; 8:");
}

TEST_F(DumpTest, TakesOnlyARecordingThatWasCutOffForOpen) {
  Span(Thread(7), "longer than the recording", 0, 5, span_flags::kUnfinished);
  EXPECT_EQ(Text(builder_.Build()), "");
  TraceBuilder killed;
  const TrackId track = killed.AddTrack({.process = killed.AddProcess({.pid = 1}), .tid = 7});
  killed.AddSpan({.name = killed.Intern("open"), .track = track, .flags = span_flags::kUnfinished});
  killed.AddProblem("recording_not_ended", -1);
  EXPECT_EQ(Text(killed.Build()), "7: open");
}

}  // namespace
}  // namespace opscope
