// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle/node_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// Paddle's way, word by word: a stack of open calls; what is left gets the calls of the runtime that lie in it and are
// no one's yet; then, children before parents, memory. What belongs to what, by name.
class PaddlesWay {
 public:
  struct Call {
    int64_t start, end;
    bool is_python;
    std::string name;
  };
  struct Other {
    int64_t start, end;
    std::string name;
    bool is_taken = false;
  };

  // False: calls cross, which Paddle refuses.
  bool Build(std::vector<Call> calls, std::vector<Other> runtime, std::vector<Other> memory) {
    std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
      if (a.start != b.start) return a.start < b.start;
      return a.end != b.end ? a.end > b.end : a.is_python && !b.is_python;
    });
    std::vector<int> open, left;
    const auto leave = [&] {
      Take(calls[static_cast<size_t>(open.back())], &runtime);
      left.push_back(open.back());
      open.pop_back();
    };
    for (size_t i = 0; i < calls.size(); ++i) {
      while (!open.empty() && calls[i].start >= calls[static_cast<size_t>(open.back())].end)
        leave();
      if (!open.empty() && calls[i].end > calls[static_cast<size_t>(open.back())].end) return false;
      owner_[calls[i].name] = open.empty() ? "root" : calls[static_cast<size_t>(open.back())].name;
      open.push_back(static_cast<int>(i));
    }
    while (!open.empty())
      leave();
    for (const int call : left)
      Take(calls[static_cast<size_t>(call)], &memory);
    for (const std::vector<Other>* others : {&runtime, &memory}) {
      for (const Other& other : *others)
        owner_.try_emplace(other.name, "root");
    }
    return true;
  }
  const std::map<std::string, std::string>& owner() const { return owner_; }

 private:
  void Take(const Call& call, std::vector<Other>* others) {
    for (Other& other : *others) {
      if (other.is_taken || other.start < call.start || other.end > call.end) continue;
      other.is_taken = true;
      owner_[other.name] = call.name;
    }
  }

  std::map<std::string, std::string> owner_;
};

std::map<std::string, std::string> OwnersIn(const Trace& trace) {
  const PaddleNodeTrees trees = BuildPaddleNodeTrees(trace);
  std::map<std::string, std::string> owner;
  const auto name = [&](uint32_t node) {
    return trees.is_root(node) ? "root" : std::string(trace.text(trace.spans().name[Row(trees.span[node])]));
  };
  for (uint32_t node = 0; node < trees.size(); ++node) {
    if (!trees.is_root(node)) owner[name(node)] = name(trees.parent[node]);
    for (uint32_t call = trees.first_call[node]; call < trees.first_call[node + 1]; ++call)
      owner[std::string(trace.text(trace.spans().name[Row(trees.call[call])]))] = name(node);
    for (const PaddleMemoryRow& row : trees.memory_of(node))
      owner["m" + std::to_string(trace.allocations().address[row.allocation])] = name(node);
  }
  return owner;
}

// Calls inside each other or side by side, that often begin or end together, or at once.
void MakeCalls(int64_t start, int64_t end, int depth, std::mt19937* random, std::vector<PaddlesWay::Call>* calls) {
  const auto pick = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>((*random)() % static_cast<uint64_t>(to - from + 1));
  };
  for (int64_t at = start; at <= end && calls->size() < 14;) {
    const int64_t begin = pick(at, std::min(end, at + 2)), stop = pick(begin, end);
    calls->push_back({begin, stop, (*random)() % 2 == 0, "c" + std::to_string(calls->size())});
    if (depth < 4 && (*random)() % 2 == 0) MakeCalls(begin, stop, depth + 1, random, calls);
    at = stop + static_cast<int64_t>((*random)() % 2);
    if (at == start) ++at;
  }
}

TEST(PaddleNodeTrees, AreThoseThatPaddleBuilds) {
  constexpr int64_t kUnit = 10'000;
  int compared = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    std::mt19937 random(seed);
    std::vector<PaddlesWay::Call> calls;
    MakeCalls(1, 12, 0, &random, &calls);
    std::vector<PaddlesWay::Other> runtime, memory;
    for (int i = 0; i < 6; ++i) {
      const int64_t start = 1 + random() % 12;
      runtime.push_back({start, start + static_cast<int64_t>(random() % 4), "r" + std::to_string(i)});
      const int64_t time = 1 + random() % 12;
      memory.push_back({time, time, "m" + std::to_string(i + 1)});
    }
    PaddlesWay paddles;
    if (!paddles.Build(calls, runtime, memory)) continue;
    ++compared;

    TraceBuilder builder;
    const ProcessId process = builder.AddProcess({.pid = 1});
    const TrackId python = builder.AddTrack({.process = process, .tid_text = builder.Intern("5(Python)")});
    const TrackId below = builder.AddTrack({.process = process, .tid_text = builder.Intern("5(C++)")});
    const auto add = [&](int64_t start, int64_t end, const std::string& name, const char* category, TrackId track) {
      builder.AddSpan({.start = {start * kUnit},
                       .duration = {(end - start) * kUnit},
                       .name = builder.Intern(name),
                       .category = builder.Intern(category),
                       .track = track});
    };
    for (const auto& call : calls)
      add(call.start, call.end, call.name, call.is_python ? "PythonUserDefined" : "UserDefined",
          call.is_python ? python : below);
    for (const auto& call : runtime)
      add(call.start, call.end, call.name, "CudaRuntime", below);
    for (size_t i = 0; i < memory.size(); ++i)
      builder.AddAllocation({.time = {memory[i].start * kUnit}, .track = below, .address = i + 1, .bytes = 4});
    EXPECT_EQ(OwnersIn(builder.Build()), paddles.owner()) << "seed " << seed;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace opscope
