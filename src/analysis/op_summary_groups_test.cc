// Every grouping of the operator summary, and pairs of them, against brute force over random nested traces.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "opscope/analysis/modules.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/torch/function_events.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// Two ranks with two threads each, a stream and its annotations; steps, calls of Python, modules, shapes, stacks. Few
// names and times, so that spans of one group often lie inside each other. Pairs of tracks have the same name.
Trace RandomJob(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  TraceBuilder builder;
  std::vector<TrackId> tracks;
  for (int32_t rank = 0; rank < 2; ++rank) {
    const ProcessId process = builder.AddProcess({.pid = 40 + rank, .name = builder.Intern("python"), .rank = rank});
    const auto add = [&](TrackKind kind, int64_t tid, const char* name, int32_t device) {
      tracks.push_back(builder.AddTrack(
          {.process = process, .kind = kind, .tid = tid, .name = builder.Intern(name), .device = device}));
    };
    add(TrackKind::kThread, 1, "main", -1);
    add(TrackKind::kThread, 2 + rank, "worker", -1);
    add(TrackKind::kDeviceStream, 7, "stream 7", rank);
    add(TrackKind::kDeviceAnnotation, 7, "stream 7", rank);
  }
  std::vector<ArgsId> lists = {ArgsId::kNone};
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 5}, {5}, {}}) {
    const ArgumentRow tensor = {.kind = ArgumentKind::kTensor, .dtype = builder.Intern("float"), .sizes = sizes};
    lists.push_back(builder.AddArguments(std::vector(1, tensor)));
  }
  std::vector<StackId> stacks = {StackId::kNone, StackId::kNone};
  for (const char* frame : {"f", "g"})
    stacks.push_back(builder.AddStack(builder.AddFrame(builder.Intern(frame)), stacks.back()));
  const char* const names[] = {"a", "b", "nn.Module: Net_0", "nn.Module: Fit_0", "t.py(1): f"};
  const char* const categories[] = {"cpu_op", "python_function"};
  for (int i = 0; i < 24; ++i) {
    SpanRow row;
    row.start = {below(20)};
    row.duration = {below(21 - row.start.ns)};
    row.name = builder.Intern(names[below(5)]);
    row.category = builder.Intern(categories[below(2)]);
    const auto track = i < static_cast<int>(tracks.size()) ? i : below(static_cast<int64_t>(tracks.size()));
    row.track = tracks[static_cast<size_t>(track)];  // each has a span
    row.flags = below(9) == 0 ? span_flags::kAsync : uint8_t{0};
    row.args = lists[static_cast<size_t>(below(4))];
    row.stack = below(3) > 0 ? StackId::kNone : stacks[static_cast<size_t>(below(4))];
    builder.AddSpan(row);
  }
  for (const int64_t number : {3, 4}) {
    const AddedSpan span = builder.AddSpan({.start = {number * 3},
                                            .duration = {below(14)},
                                            .name = builder.Intern("ProfilerStep#" + std::to_string(number)),
                                            .category = builder.Intern("user_annotation"),
                                            .track = tracks[number == 3 ? 0 : 4]});
    builder.AddStep(number, builder.Intern("ProfilerStep#" + std::to_string(number)), span);
  }
  return builder.Build();
}

// The definitions of docs/reference/analyses.md, one span at a time.
class BruteForce {
 public:
  BruteForce(const Trace& trace, const std::vector<GroupKey>& keys)
      : trace_(trace), spans_(trace.spans()), modules_(FindModules(trace)) {
    for (size_t i = 0; i < spans_.size(); ++i) {
      std::string& group = groups_.emplace_back(OnDevice(i) ? "device" : "host");
      for (const GroupKey key : keys)
        group += "|" + TextOf(key, i);
    }
  }

  std::map<std::string, std::string> Rows(const std::vector<uint8_t>& selected) const {
    std::map<std::string, OpSummaryRow> rows;
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (selected[i] == 0) continue;
      OpSummaryRow& row = rows[groups_[i]];
      const int64_t duration = spans_.duration[i].ns;
      row.min_ns = row.count == 0 ? duration : std::min(row.min_ns, duration);
      ++row.count;
      row.total_with_recursion_ns += duration;
      if (!IsInsideItsGroup(i, selected)) row.total_ns += duration;
    }
    std::map<std::string, std::string> texts;
    for (const auto& [group, row] : rows)
      texts[group] = Numbers(row);
    return texts;
  }

  static std::string Numbers(const OpSummaryRow& row) {
    return std::to_string(row.count) + " " + std::to_string(row.total_ns) + " " +
           std::to_string(row.total_with_recursion_ns) + " " +
           std::to_string(row.total_with_recursion_ns / static_cast<int64_t>(row.count)) + " " +
           std::to_string(row.min_ns);
  }

 private:
  bool OnDevice(size_t i) const {
    const TrackKind kind = trace_.tracks().kind[Row(spans_.track[i])];
    return kind == TrackKind::kDeviceStream || kind == TrackKind::kDeviceAnnotation;
  }
  bool IsInsideItsGroup(size_t i, const std::vector<uint8_t>& selected) const {
    for (SpanId p = spans_.parent[i]; p != SpanId::kNone; p = spans_.parent[Row(p)]) {
      if (selected[Row(p)] != 0 && groups_[Row(p)] == groups_[i]) return true;
    }
    return false;
  }
  std::string Stack(size_t i) const {
    if (spans_.stack[i] != StackId::kNone) {
      const StackId caller = trace_.stacks().caller[Row(spans_.stack[i])];
      return caller == StackId::kNone ? "f" : "f;g";
    }
    const std::string around = spans_.parent[i] == SpanId::kNone ? "" : Stack(Row(spans_.parent[i]));
    const SpanKind kind = spans_.kind[i];
    const bool is_call = kind == SpanKind::kPythonFunction || kind == SpanKind::kCFunction || kind == SpanKind::kModule;
    return !is_call ? around : (around.empty() ? "" : around + ";") + std::string(trace_.text(spans_.name[i]));
  }
  std::string Thread(size_t i) const {
    const uint32_t track = Row(spans_.track[i]);
    const std::string rank = ", rank " + TextOf(GroupKey::kRank, i) + ")";
    switch (trace_.tracks().kind[track]) {
      case TrackKind::kDeviceStream:
        return "stream 7 (7" + rank;
      case TrackKind::kDeviceAnnotation:
        return "stream 7 (annotations, 7" + rank;
      default:
        break;
    }
    const std::string name(trace_.text(trace_.tracks().name[track]));
    return name == "main" ? "main (1" + rank : name + " (" + std::to_string(trace_.tracks().tid[track]) + ")";
  }
  std::string Step(size_t i) const {
    const StepColumns& steps = trace_.steps();
    for (size_t step = 0; step < steps.size(); ++step) {
      const uint32_t range = Row(steps.span[step]);
      const int64_t begin = spans_.start[range].ns, end = begin + spans_.duration[range].ns;
      const int64_t start = spans_.start[i].ns;
      if (TextOf(GroupKey::kRank, range) == TextOf(GroupKey::kRank, i) && begin <= start && start < end)
        return std::to_string(steps.number[step]);
    }
    return "";
  }
  std::string TextOf(GroupKey key, size_t i) const {
    const uint32_t track = Row(spans_.track[i]), process = Row(trace_.tracks().process[track]);
    switch (key) {
      case GroupKey::kName:
        return std::string(trace_.text(spans_.name[i]));
      case GroupKey::kShape:
        return spans_.args[i] == ArgsId::kNone ? "" : InputShapesText(trace_, spans_.args[i]);
      case GroupKey::kCategory:
        return std::string(trace_.text(spans_.category[i]));
      case GroupKey::kThread:
        return Thread(i);
      case GroupKey::kDevice:
        return OnDevice(i) ? std::to_string(trace_.tracks().device[track]) : "";
      case GroupKey::kStack:
        return Stack(i);
      case GroupKey::kModule:
        return modules_.PathOf(modules_.node_of[i]);
      case GroupKey::kKind:
        return std::string(SpanKindName(spans_.kind[i]));
      case GroupKey::kProcess:
        return "python (" + std::to_string(trace_.processes().pid[process]) + ")";
      case GroupKey::kRank:
        return std::to_string(trace_.processes().rank[process]);
      case GroupKey::kStep:
        return Step(i);
    }
    return "";
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  const ModulesOfSpans modules_;
  std::vector<std::string> groups_;  // by span
};

std::map<std::string, std::string> RowsOf(const Trace& trace, const std::vector<GroupKey>& keys,
                                          const std::vector<uint8_t>& selected) {
  std::map<std::string, std::string> texts;
  for (const OpSummaryRow& row : SummarizeOps(trace, {.group_by = keys, .selected = &selected}).rows) {
    std::string group = row.on_device ? "device" : "host";
    size_t further = 0;
    for (const GroupKey key : keys)
      group += "|" + (key == GroupKey::kName ? std::string(trace.text(row.name)) : row.keys[further++]);
    EXPECT_TRUE(texts.emplace(group, BruteForce::Numbers(row)).second) << "two rows of " << group;
  }
  return texts;
}

TEST(OpSummaryGroups, CountASpanOnceInItsRowWhateverTheyAre) {
  const auto keys = static_cast<uint64_t>(GroupKeyNames().size());
  for (uint64_t seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Trace trace = RandomJob(seed);
    std::vector<uint8_t> selected(trace.spans().size(), 1);
    for (size_t i = 0; seed % 3 == 0 && i < selected.size(); ++i)
      selected[i] = (seed * 7 + i * 5) % 4 != 0;
    for (uint64_t key = 0; key < keys; ++key) {
      const std::vector<GroupKey> alone = {static_cast<GroupKey>(key)};
      EXPECT_EQ(RowsOf(trace, alone, selected), BruteForce(trace, alone).Rows(selected)) << GroupKeyNames()[key];
    }
    const auto first = static_cast<GroupKey>(seed % keys), second = static_cast<GroupKey>((seed / keys + 1) % keys);
    if (first == second) continue;
    for (const std::vector<GroupKey>& pair : {std::vector{first, second}, {second, first, GroupKey::kName}}) {
      if (pair.size() == 3 && (first == GroupKey::kName || second == GroupKey::kName)) continue;
      EXPECT_EQ(RowsOf(trace, pair, selected), BruteForce(trace, pair).Rows(selected))
          << GroupKeyNames()[static_cast<size_t>(first)] << ", " << GroupKeyNames()[static_cast<size_t>(second)];
    }
  }
}

TEST(OpSummaryGroups, WithFewBytesOfKeysKeepTheLargestSelfTimesAndSumTheOthers) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Trace job = RandomJob(seed);
    const OpSummaryOptions options{.group_by = {GroupKey::kName, GroupKey::kStack}};
    OpSummaryOptions limited = options;
    limited.max_key_bytes = 1 + seed % 400;
    const OpSummary all = SummarizeOps(job, options), some = SummarizeOps(job, limited);
    ASSERT_EQ(some.rows.size() + some.left_out.rows, all.rows.size());
    EXPECT_EQ(all.left_out.rows, 0u);
    int64_t least = INT64_MAX, most_left_out = INT64_MIN;
    OpSummary::LeftOut expected;
    size_t at = 0;
    for (const OpSummaryRow& row : all.rows) {
      const OpSummaryRow* const kept = at < some.rows.size() ? &some.rows[at] : nullptr;
      if (kept != nullptr &&
          std::tie(kept->name, kept->on_device, kept->keys) == std::tie(row.name, row.on_device, row.keys)) {
        EXPECT_EQ(kept->self_ns, row.self_ns);
        least = std::min(least, row.self_ns);
        ++at;
        continue;
      }
      most_left_out = std::max(most_left_out, row.self_ns);
      ++expected.rows;
      expected.count += static_cast<int64_t>(row.count);
      expected.self_ns += row.self_ns;
      expected.total_with_recursion_ns += row.total_with_recursion_ns;
    }
    EXPECT_EQ(at, some.rows.size()) << "rows of all, in their order";
    EXPECT_GE(least, most_left_out) << seed;
    EXPECT_EQ(std::tie(some.left_out.rows, some.left_out.count, some.left_out.self_ns),
              std::tie(expected.rows, expected.count, expected.self_ns));
    EXPECT_EQ(some.left_out.total_with_recursion_ns, expected.total_with_recursion_ns);
  }
}

TEST(OpSummaryGroups, AreNamedInTheOrderOfTheirKeys) {
  for (size_t key = 0; key < GroupKeyNames().size(); ++key)
    EXPECT_EQ(GroupKeyFromName(GroupKeyNames()[key]), static_cast<GroupKey>(key));
  EXPECT_EQ(GroupKeyFromName("step"), GroupKey::kStep);
  EXPECT_EQ(GroupKeyFromName("planet"), std::nullopt);
}

// What Kineto writes, and a span of a program that has the same category.
TEST(OpSummaryGroups, LeaveOutTheRecordingsOwnSpanWhereThatIsAskedFor) {
  TraceBuilder builder;
  const StringId category = builder.Intern("Trace");
  const TrackId thread = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const ProcessId spans = builder.AddProcess({.pid_text = builder.Intern("Spans")});
  const TrackId beside =
      builder.AddTrack({.process = spans, .kind = TrackKind::kOther, .tid_text = builder.Intern("PyTorch Profiler")});
  for (const TrackId track : {thread, beside}) {
    builder.AddSpan({.duration = {50},
                     .name = builder.Intern(track == thread ? "PyTorch Profiler (0)" : "a window of another name"),
                     .category = category,
                     .track = track});
  }
  const Trace trace = builder.Build();
  EXPECT_EQ(SummarizeOps(trace).rows.size(), 2u);
  for (const GroupKey key : {GroupKey::kName, GroupKey::kKind, GroupKey::kCategory}) {
    const OpSummary summary = SummarizeOps(trace, {.group_by = {key}, .leaves_out_window = true});
    ASSERT_EQ(summary.rows.size(), 1u);
    EXPECT_EQ(summary.rows[0].count, 1u);
  }
}

}  // namespace
}  // namespace opscope
