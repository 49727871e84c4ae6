// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/stacks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "trace/builder.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

class TorchStacks : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "opscope_stacks_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    track_ = builder_.AddTrack({.process = builder_.AddProcess({.pid = 1}), .tid = 1});
  }
  void TearDown() override { fs::remove_all(folder_); }

  StackId Stack(std::initializer_list<std::string_view> outermost_first) {
    StackId stack = StackId::kNone;
    for (const std::string_view frame : outermost_first)
      stack = builder_.AddStack(builder_.AddFrame(builder_.Intern(frame)), stack);
    return stack;
  }
  void Add(int64_t start_ns, int64_t duration_ns, StackId stack) {
    builder_.AddSpan({.start = {start_ns},
                      .duration = {duration_ns},
                      .name = builder_.Intern("op"),
                      .category = builder_.Intern("cpu_op"),
                      .track = track_,
                      .stack = stack});
  }
  std::string Lines() {
    const Trace trace = builder_.Build();
    const Status status =
        ExportTorchStacks(trace, BuildFunctionEvents(trace), StackMetric::kSelfCpuTime, (folder_ / "x").string());
    EXPECT_TRUE(status.ok());
    std::stringstream text;
    text << std::ifstream(folder_ / "x", std::ios::binary).rdbuf();
    return text.str();
  }

  fs::path folder_;
  TraceBuilder builder_;
  TrackId track_;
};

TEST_F(TorchStacks, AreLinesFromTheOutermostFrameOn) {
  const StackId stack = Stack({"a.py(1): main", "b;c\td\ne"});
  Add(0, 9'999, stack);
  Add(20'000, 2'000, stack);
  EXPECT_EQ(Lines(), "a.py(1):_main;b_c_d_e 9\na.py(1):_main;b_c_d_e 2\n");
}

TEST_F(TorchStacks, LeaveOutWhatHasNoStackOrLessThanAMicrosecond) {
  Add(0, 999, Stack({"short"}));
  Add(20'000, 2'000, StackId::kNone);
  Add(40'000, 2'000, Stack({"autograd/__init__.py(1): backward"}));  // a frame that torch hides
  Add(60'000, 1'000, Stack({"one"}));
  EXPECT_EQ(Lines(), "one 1\n");
}

TEST_F(TorchStacks, OfAPathThatCannotBeWrittenAreAnError) {
  Add(0, 9'999, Stack({"a"}));
  const Trace trace = builder_.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  const Status folder = ExportTorchStacks(trace, events, StackMetric::kSelfCpuTime, folder_.string());
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().message.find(folder_.string()), std::string::npos);
  EXPECT_FALSE(ExportTorchStacks(trace, events, StackMetric::kSelfCpuTime, (folder_ / "no" / "x").string()).ok());
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace opscope
