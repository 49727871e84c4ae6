// SPDX-License-Identifier: Apache-2.0
#include "report/cut_off.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trace/builder.h"

namespace opscope {
namespace {

// A dump of threads on which `depth` scopes are open inside each other, "f0" around the others.
Trace DumpOf(int threads, int depth) {
  TraceBuilder builder;
  builder.info().options_json = R"({"dump":{"number":1,"reason":"request","unix_ns":0}})";
  const ProcessId process = builder.AddProcess({.pid = 1});
  for (int thread = 0; thread < threads; ++thread) {
    const TrackId track = builder.AddTrack(
        {.process = process, .tid = thread, .name = builder.Intern("name\n\u202e" + std::to_string(thread))});
    builder.AddSpan({.duration = {1}, .name = builder.Intern("done"), .track = track});
    for (int i = 0; i < depth; ++i) {
      builder.AddSpan({.start = {10 + i},
                       .duration = {1000 - i},
                       .name = builder.Intern("f" + std::to_string(i)),
                       .track = track,
                       .flags = span_flags::kUnfinished});
    }
  }
  return builder.Build();
}

TEST(CutOff, SaysEachCauseInWords) {
  const auto words = [](const char* reason, const char* detail) {
    const std::string text =
        DescribeDump({.reason = reason, .detail = detail, .number = 2, .unix_ns = 86'400'000'000'000});
    const std::string when = " (dump 2, 1970-01-02 00:00:00 UTC)";
    EXPECT_TRUE(text.ends_with(when)) << text;
    return text.substr(0, text.size() - when.size());
  };
  EXPECT_EQ(words("request", ""), "the program asked for it");
  EXPECT_EQ(words("signal", "SIGUSR1"), "the signal SIGUSR1 came");
  EXPECT_EQ(words("exception", "KeyError"), "KeyError left the recorded block, or was not caught");
  EXPECT_EQ(words("no_step", "no step for 1001 ms"), "there was no step for 1001 ms");
  EXPECT_EQ(words("mine", "a reason of a program"), "mine: a reason of a program");
}

TEST(CutOff, IndentsWhatIsOpenAndNamesThreadsOnOneLine) {
  EXPECT_EQ(FormatOpenSpans(DumpOf(1, 3)),
            "Open on thread 0 (name\\x0a\\u202e0)\n"
            "    1.000 us  f0\n"
            "      999 ns   f1\n"
            "      998 ns    f2\n");
  EXPECT_EQ(FormatOpenSpans(DumpOf(1, 0)), "Open on thread 0 (name\\x0a\\u202e0): nothing\n");
}

TEST(CutOff, ShowsBothEndsOfADeepStackAndTheFirstThreads) {
  const std::string deep = FormatOpenSpans(DumpOf(1, 30));
  EXPECT_EQ(std::count(deep.begin(), deep.end(), '\n'), 1 + 4 + 1 + 16);
  EXPECT_NE(deep.find(" f3\n  (10 more)\n"), std::string::npos) << deep;
  EXPECT_NE(deep.find(" f14\n"), std::string::npos) << deep;
  EXPECT_TRUE(deep.ends_with(" f29\n")) << deep;
  const std::string many = FormatOpenSpans(DumpOf(25, 1));
  EXPECT_EQ(std::count(many.begin(), many.end(), '\n'), 2 * 20 + 1);
  EXPECT_TRUE(many.ends_with("(5 more threads; --json has them)\n")) << many;
}

}  // namespace
}  // namespace opscope
