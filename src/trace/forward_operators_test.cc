// SPDX-License-Identifier: Apache-2.0
#include "opscope/forward_operators.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// Processes with two threads each; every span has a name of its own.
class ForwardPasses {
 public:
  enum class Threads { kNumbered, kAsInAKinetoFile };
  explicit ForwardPasses(Threads threads) {
    for (const int64_t pid : {1, 2}) {
      const ProcessId process = builder_.AddProcess({.pid = pid});
      for (const int64_t tid : {1, 2}) {
        const uint64_t logical = threads == Threads::kNumbered ? static_cast<uint64_t>(tid) : 0;
        tracks_[{pid, tid}] = builder_.AddTrack({.process = process, .tid = tid, .logical_thread = logical});
      }
    }
  }
  AddedSpan Add(const std::string& name, std::pair<int64_t, int64_t> thread, int64_t start, int64_t end,
                int64_t sequence, uint64_t forward_thread = 0) {
    return builder_.AddSpan({.start = {start},
                             .duration = {end - start},
                             .name = builder_.Intern(name),
                             .track = tracks_.at(thread),
                             .sequence = sequence,
                             .forward_thread = forward_thread});
  }
  void Arrow(AddedSpan from, std::pair<int64_t, int64_t> from_thread, AddedSpan to,
             std::pair<int64_t, int64_t> to_thread) {
    builder_.AddFlow({.category = builder_.Intern("fwdbwd"),
                      .start_track = tracks_.at(from_thread),
                      .start_span = from,
                      .end_track = tracks_.at(to_thread),
                      .end_span = to});
  }
  void ArrowFromNowhere(AddedSpan to) { builder_.AddFlow({.category = builder_.Intern("fwdbwd"), .end_span = to}); }
  // Name of the forward operator by that of its backward function.
  std::map<std::string, std::string> Forward() {
    const Trace trace = builder_.Build();
    const std::vector<SpanId> forward = FindForwardOperators(trace);
    std::map<std::string, std::string> names;
    for (size_t row = 0; row < forward.size(); ++row) {
      if (forward[row] == SpanId::kNone) continue;
      names[std::string(trace.text(trace.spans().name[row]))] = trace.text(trace.spans().name[Row(forward[row])]);
    }
    return names;
  }

 private:
  TraceBuilder builder_;
  std::map<std::pair<int64_t, int64_t>, TrackId> tracks_;
};

using ForwardNames = std::map<std::string, std::string>;

TEST(ForwardOperators, AreThoseThatStartLastWithTheNumber) {
  ForwardPasses program(ForwardPasses::Threads::kNumbered);
  program.Add("item", {1, 1}, 0, 5, 7);
  program.Add("conv2d", {1, 1}, 10, 20, 7);
  program.Add("convolution", {1, 1}, 11, 20, 7);
  program.Add("relu", {1, 1}, 21, 22, 8);
  program.Add("frame", {1, 1}, 30, 40, 7, 1);
  program.Add("node", {1, 1}, 31, 40, 7, 1);
  program.Add("AccumulateGrad", {1, 1}, 50, 60, -1);
  program.Add("of no operator", {1, 1}, 70, 80, 9, 1);
  EXPECT_EQ(program.Forward(), (ForwardNames{{"frame", "convolution"}, {"node", "convolution"}}));
}

TEST(ForwardOperators, OfAnotherProcessOrThreadAreOthers) {
  ForwardPasses program(ForwardPasses::Threads::kNumbered);
  program.Add("one", {1, 1}, 0, 5, 7);
  program.Add("two", {1, 2}, 0, 5, 7);
  program.Add("other", {2, 1}, 0, 5, 7);
  program.Add("of one", {1, 2}, 10, 20, 7, 1);
  program.Add("of two", {1, 1}, 10, 20, 7, 2);
  program.Add("of other", {2, 2}, 10, 20, 7, 1);
  program.Add("of nothing", {2, 1}, 10, 20, 7, 2);
  EXPECT_EQ(program.Forward(), (ForwardNames{{"of one", "one"}, {"of two", "two"}, {"of other", "other"}}));
}

// tid 1 and 2 of the system are threads 4 and 9 of torch's.
TEST(ForwardOperators, OfAKinetoFileAreOnTheThreadThatItsArrowsLeave) {
  ForwardPasses program(ForwardPasses::Threads::kAsInAKinetoFile);
  const AddedSpan one = program.Add("one", {1, 1}, 0, 5, 7);
  const AddedSpan two = program.Add("two", {1, 2}, 1, 5, 7);
  program.Arrow(one, {1, 1}, program.Add("of one", {1, 2}, 10, 20, 7, 4), {1, 2});
  program.Arrow(two, {1, 2}, program.Add("of two", {1, 2}, 30, 40, 7, 9), {1, 2});
  program.Add("of one again", {1, 2}, 50, 60, 7, 4);
  program.Add("other", {2, 1}, 0, 5, 7);
  program.Add("of other", {2, 2}, 10, 20, 7, 4);  // no arrow: the number decides alone
  EXPECT_EQ(program.Forward(),
            (ForwardNames{{"of one", "one"}, {"of two", "two"}, {"of one again", "one"}, {"of other", "other"}}));
}

TEST(ForwardOperators, ArrowsWithoutATrackTellNothing) {
  ForwardPasses program(ForwardPasses::Threads::kAsInAKinetoFile);
  program.Add("one", {1, 1}, 0, 5, 7);
  program.ArrowFromNowhere(program.Add("of one", {1, 2}, 10, 20, 7, 4));
  EXPECT_EQ(program.Forward(), (ForwardNames{{"of one", "one"}}));
}

// A thread runs operators; some make a node, of which some backward functions run later. The program knows which.
TEST(ForwardOperators, OfRandomProgramsAreThoseThatMadeTheNodes) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
    ForwardPasses program(ForwardPasses::Threads::kNumbered);
    ForwardNames expected;
    std::map<std::pair<int64_t, int64_t>, int64_t> next_number;
    int64_t now = 0;
    struct Node {
      std::pair<int64_t, int64_t> thread;
      int64_t number;
      std::string maker;
    };
    std::vector<Node> alive;
    for (int i = 0; i < 200; ++i) {
      const std::pair<int64_t, int64_t> thread = {1 + below(2), 1 + below(2)};
      const std::string name = "span " + std::to_string(i);
      if (alive.empty() || below(3) != 0) {
        int64_t& number = next_number[thread];
        const int64_t depth = below(3);
        for (int64_t level = 0; level < depth; ++level)
          program.Add(name + " outer", thread, now + level, now + 20 - level, number);
        program.Add(name, thread, now + 5, now + 15, number);
        if (below(2) == 0) alive.push_back({thread, number++, name});
      } else {
        const Node& node = alive[below(static_cast<uint32_t>(alive.size()))];
        program.Add(name, {node.thread.first, thread.second}, now, now + 20, node.number,
                    static_cast<uint64_t>(node.thread.second));
        expected[name] = node.maker;
      }
      now += 30;
    }
    EXPECT_EQ(program.Forward(), expected);
  }
}

}  // namespace
}  // namespace opscope
