// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/op_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "analysis/random_trace_for_test.h"
#include "analysis/span_measures.h"
#include "opscope/analysis/flame.h"
#include "opscope/analysis/span_filter.h"

namespace opscope {
namespace {

// The definitions of docs/reference/analyses.md, one span at a time, as slowly as they read.
class SlowSummary {
 public:
  explicit SlowSummary(const Trace& trace) : trace_(trace), spans_(trace.spans()) {}

  OpSummaryRow RowOf(std::string_view name, bool on_device) const {
    OpSummaryRow row;
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (trace_.text(spans_.name[i]) != name || IsDevice(i) != on_device) continue;
      const int64_t duration = spans_.duration[i].ns;
      row.min_ns = row.count == 0 ? duration : std::min(row.min_ns, duration);
      row.max_ns = std::max(row.max_ns, duration);
      ++row.count;
      row.total_with_recursion_ns += duration;
      row.self_ns += Self(i);
      row.device_self_ns += DeviceSelf(i);
      if (IsInsideItsName(i)) continue;
      row.total_ns += duration;
      row.device_total_ns += DeviceTotal(i);
    }
    return row;
  }

 private:
  bool IsDevice(size_t i) const { return trace_.tracks().kind[Row(spans_.track[i])] == TrackKind::kDeviceStream; }
  int64_t ClippedEnd(size_t i) const {
    const int64_t end = spans_.start[i].ns + spans_.duration[i].ns;
    return spans_.parent[i] == SpanId::kNone ? end : std::min(end, ClippedEnd(Row(spans_.parent[i])));
  }
  bool IsInside(size_t i, size_t ancestor) const {
    for (SpanId p = spans_.parent[i]; p != SpanId::kNone; p = spans_.parent[Row(p)]) {
      if (Row(p) == ancestor) return true;
    }
    return false;
  }
  bool IsInsideItsName(size_t i) const {
    for (SpanId p = spans_.parent[i]; p != SpanId::kNone; p = spans_.parent[Row(p)]) {
      if (spans_.name[Row(p)] == spans_.name[i]) return true;
    }
    return false;
  }
  int64_t Self(size_t i) const {
    int64_t self = ClippedEnd(i) - spans_.start[i].ns;
    for (size_t c = 0; c < spans_.size(); ++c) {
      if (spans_.parent[c] == SpanId{static_cast<uint32_t>(i)}) self -= ClippedEnd(c) - spans_.start[c].ns;
    }
    return self;
  }
  bool IsCall(size_t i) const { return trace_.text(spans_.category[i]) == "cuda_runtime"; }
  // The host span with the number that begins first, -1: none.
  int64_t First(std::span<const uint32_t> numbers, uint32_t number, bool is_operator) const {
    int64_t first = -1;
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (IsDevice(i) || (is_operator && IsCall(i)) || number == 0 || numbers[i] != number) continue;
      if (first < 0 || spans_.start[i] < spans_.start[static_cast<size_t>(first)]) first = static_cast<int64_t>(i);
    }
    return first;
  }
  int64_t Launcher(size_t kernel) const {
    const int64_t call = First(spans_.correlation, spans_.correlation[kernel], false);
    for (int64_t i = call; i >= 0;) {
      if (!IsCall(static_cast<size_t>(i))) return i;
      const SpanId around = spans_.parent[static_cast<size_t>(i)];
      i = around == SpanId::kNone ? -1 : int64_t{Row(around)};
    }
    const int64_t op = First(spans_.external_id, spans_.external_id[kernel], true);
    return op >= 0 ? op : call;
  }
  int64_t DeviceSelf(size_t i) const {
    if (IsDevice(i)) return Self(i);
    int64_t sum = 0;
    for (size_t k = 0; k < spans_.size(); ++k) {
      if (IsDevice(k) && Launcher(k) == static_cast<int64_t>(i)) sum += spans_.duration[k].ns;
    }
    return sum;
  }
  int64_t DeviceTotal(size_t i) const {
    if (IsDevice(i)) return spans_.duration[i].ns;
    int64_t sum = DeviceSelf(i);
    for (size_t c = 0; c < spans_.size(); ++c) {
      if (IsInside(c, i)) sum += DeviceSelf(c);
    }
    return sum;
  }

  const Trace& trace_;
  const SpanColumns& spans_;
};

void ExpectEqualsSlow(const Trace& trace) {
  const SlowSummary slow(trace);
  const OpSummary summary = SummarizeOps(trace);
  size_t count = 0;
  for (const OpSummaryRow& row : summary.rows) {
    const OpSummaryRow expected = slow.RowOf(trace.text(row.name), row.on_device);
    count += row.count;
    EXPECT_EQ(row.count, expected.count);
    EXPECT_EQ(row.total_ns, expected.total_ns);
    EXPECT_EQ(row.total_with_recursion_ns, expected.total_with_recursion_ns);
    EXPECT_EQ(row.self_ns, expected.self_ns);
    EXPECT_EQ(row.min_ns, expected.min_ns);
    EXPECT_EQ(row.max_ns, expected.max_ns);
    EXPECT_EQ(row.device_total_ns, expected.device_total_ns);
    EXPECT_EQ(row.device_self_ns, expected.device_self_ns);
  }
  EXPECT_EQ(count, trace.spans().size());
}

TEST(OpSummary, EqualsTheObviousImplementationOnRandomTraces) {
  for (uint64_t seed = 1; seed <= 1500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ExpectEqualsSlow(RandomTrace(seed, {.spans = 4 + static_cast<int>(seed % 14), .has_device = seed % 2 == 0}));
  }
}

struct Spec {
  const char* name;
  int64_t start;
  int64_t end;
};

Trace OneThread(std::initializer_list<Spec> specs) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const Spec& spec : specs) {
    builder.AddSpan({.start = {spec.start},
                     .duration = {spec.end - spec.start},
                     .name = builder.Intern(spec.name),
                     .track = track});
  }
  return builder.Build();
}

TEST(OpSummary, CountsARecursiveCallOnceInTheTotal) {
  const Trace trace = OneThread({{"f", 0, 100}, {"g", 10, 90}, {"f", 20, 50}});
  const OpSummary summary = SummarizeOps(trace);
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_EQ(summary.rows[0].total_ns, 100);
  EXPECT_EQ(summary.rows[0].total_with_recursion_ns, 130);
  EXPECT_EQ(summary.rows[0].self_ns, 20 + 30);
  EXPECT_EQ(summary.rows[0].mean_ns(), 65);
  EXPECT_EQ(summary.rows[1].self_ns, 50);
}

TEST(OpSummary, OfSelectedSpansAsksNothingOfTheOthersButTheirPlace) {
  const Trace trace = OneThread({{"f", 0, 100}, {"g", 10, 90}, {"f", 20, 50}, {"f", 60, 70}});
  const Result<SpanFilter> short_ones = SpanFilter::Parse("duration < 50");
  const std::vector<uint8_t> selected = short_ones.value().Select(trace);
  const OpSummary summary = SummarizeOps(trace, {.selected = &selected});
  ASSERT_EQ(summary.rows.size(), 1u);
  EXPECT_EQ(summary.rows[0].count, 2u);
  EXPECT_EQ(summary.rows[0].total_ns, 40) << "the outer f is not there";
  EXPECT_EQ(summary.rows[0].max_ns, 30);
  const Result<SpanFilter> named = SpanFilter::Parse("name = f");
  const std::vector<uint8_t> all_f = named.value().Select(trace);
  EXPECT_EQ(SummarizeOps(trace, {.selected = &all_f}).rows[0].total_ns, 100) << "g between them changes nothing";
  EXPECT_EQ(SummarizeOps(trace, {.selected = &all_f}).rows[0].self_ns, 20 + 30 + 10);
}

TEST(OpSummary, ClipsAChildThatOutlivesItsParent) {
  const Trace trace = OneThread({{"parent", 0, 100}, {"child", 60, 150}});
  const OpSummary summary = SummarizeOps(trace);
  EXPECT_EQ(summary.rows[0].self_ns, 60);
  EXPECT_EQ(summary.rows[1].self_ns, 40);
  EXPECT_EQ(summary.rows[1].total_ns, 90);
}

TEST(OpSummary, StopsSumsAtTheLargestTime) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  for (int64_t thread = 1; thread <= 3; ++thread) {
    const TrackId track = builder.AddTrack({.process = process, .tid = thread});
    builder.AddSpan({.start = {thread}, .duration = {INT64_MAX - 10}, .name = builder.Intern("f"), .track = track});
  }
  const Trace trace = builder.Build();
  const OpSummary summary = SummarizeOps(trace);
  EXPECT_EQ(summary.rows[0].total_ns, INT64_MAX);
  EXPECT_EQ(summary.rows[0].total_with_recursion_ns, INT64_MAX);
  EXPECT_EQ(summary.rows[0].self_ns, INT64_MAX);
  EXPECT_EQ(summary.rows[0].mean_ns(), INT64_MAX - 10);
  EXPECT_EQ(summary.thread_self_ns, INT64_MAX);
  EXPECT_EQ(FoldSpans(trace, FlameMetric::kTime, {.threads = ThreadNodes::kNever}).nodes[0].total, INT64_MAX);
}

TEST(OpSummary, StopsBytesAtTheLargestNumberAndCountsWhatTakesThemBack) {
  for (const int64_t sign : {1, -1}) {
    TraceBuilder builder;
    const ProcessId process = builder.AddProcess({.pid = 1});
    const TrackId track = builder.AddTrack({.process = process, .tid = 1});
    const auto add = [&](const char* name, int64_t at, std::initializer_list<int64_t> sizes) {
      builder.AddSpan({.start = {at}, .duration = {10}, .name = builder.Intern(name), .track = track});
      for (const int64_t bytes : sizes)
        builder.AddAllocation({.time = {at + 5}, .track = track, .bytes = sign * bytes});
    };
    add("much", 0, {INT64_MAX, INT64_MAX, 1});
    add("there and back", 20, {INT64_MAX, INT64_MAX, -INT64_MAX, -INT64_MAX, 7});
    const Trace trace = builder.Build();
    const OpSummary summary = SummarizeOps(trace);
    ASSERT_EQ(summary.rows.size(), 2u);
    for (const OpSummaryRow& row : summary.rows) {
      const bool is_much = trace.text(row.name) == "much";
      EXPECT_EQ(row.self_memory_bytes, !is_much ? sign * 7 : sign > 0 ? INT64_MAX : INT64_MIN);
    }
    EXPECT_EQ(MeasureSpans(trace).self_memory_bytes[0], sign > 0 ? INT64_MAX : INT64_MIN);
  }
}

TEST(OpSummary, GivesMemoryToTheInnermostSpanOfTheThread) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId track = builder.AddTrack({.process = process, .tid = 1});
  const TrackId other = builder.AddTrack({.process = process, .tid = 2});
  builder.AddSpan({.start = {0}, .duration = {100}, .name = builder.Intern("outer"), .track = track});
  builder.AddSpan({.start = {10}, .duration = {20}, .name = builder.Intern("inner"), .track = track});
  builder.AddAllocation({.time = {15}, .track = track, .bytes = 64});
  builder.AddAllocation({.time = {50}, .track = track, .bytes = -16});
  builder.AddAllocation({.time = {15}, .track = other, .bytes = 1000});
  builder.AddAllocation({.time = {200}, .track = track, .bytes = 4});
  const Trace trace = builder.Build();
  const OpSummary summary = SummarizeOps(trace);
  EXPECT_EQ(summary.rows[0].self_memory_bytes, -16);
  EXPECT_EQ(summary.rows[1].self_memory_bytes, 64);
}

TEST(OpSummary, FindsTheInnermostSpanBesideManyAsynchronousOnes) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const int64_t start : {0, 300, 400, 500}) {
    builder.AddSpan(
        {.start = {start}, .duration = {50}, .name = builder.Intern(std::to_string(start)), .track = track});
  }
  for (int64_t start = 1; start < 40; ++start) {
    builder.AddSpan({.start = {start},
                     .duration = {1000},
                     .name = builder.Intern("async"),
                     .track = track,
                     .flags = span_flags::kAsync});
  }
  builder.AddAllocation({.time = {20}, .track = track, .bytes = 64});
  builder.AddAllocation({.time = {420}, .track = track, .bytes = 8});
  builder.AddAllocation({.time = {100}, .track = track, .bytes = 1});
  const Trace trace = builder.Build();
  for (const OpSummaryRow& row : SummarizeOps(trace).rows) {
    const std::string_view name = trace.text(row.name);
    EXPECT_EQ(row.self_memory_bytes, name == "0" ? 64 : name == "400" ? 8 : 0) << name;
  }
}

TEST(OpSummary, GroupsByNameAndThread) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId named = builder.AddTrack({.process = process, .tid = 1, .name = builder.Intern("main")});
  const TrackId plain = builder.AddTrack({.process = process, .tid = 2});
  for (TrackId track : {named, plain, named}) {
    builder.AddSpan(
        {.start = {0}, .duration = {5}, .name = builder.Intern("f"), .track = track, .flags = span_flags::kAsync});
  }
  const Trace trace = builder.Build();
  const OpSummary summary = SummarizeOps(trace, {{GroupKey::kName, GroupKey::kThread}});
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_EQ(summary.key_names, std::vector<std::string>{"thread"});
  EXPECT_EQ(summary.rows[0].keys, std::vector<std::string>{"main"});
  EXPECT_EQ(summary.rows[0].count, 2u);
  EXPECT_EQ(summary.rows[1].keys, std::vector<std::string>{"2"});
}

TEST(OpSummary, HasOneRowOfAllStepsWhereThatIsAskedFor) {
  const Trace trace =
      OneThread({{"ProfilerStep#2", 0, 10}, {"f", 1, 3}, {"ProfilerStep#3", 10, 40}, {"ProfilerStep#4", 40, 46}});
  const std::vector<GroupKey> by_name = {GroupKey::kName};
  ASSERT_EQ(SummarizeOps(trace, {.group_by = by_name}).rows.size(), 4u);
  OpSummary summary = SummarizeOps(trace, {.group_by = by_name, .join_steps = true});
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_EQ(summary.NameOf(trace, summary.rows[0]), "ProfilerStep*");
  EXPECT_EQ(summary.rows[0].count, 3u);
  EXPECT_EQ(summary.rows[0].total_ns, 46);
  EXPECT_EQ(summary.rows[0].self_ns, 44);
  EXPECT_EQ(summary.rows[0].min_ns, 6);
  EXPECT_EQ(summary.rows[0].p50_ns, 10);
  EXPECT_EQ(summary.rows[0].max_ns, 30);
  EXPECT_EQ(summary.NameOf(trace, summary.rows[1]), "f");
  EXPECT_EQ(SummarizeOps(trace, {.group_by = {GroupKey::kName, GroupKey::kThread}, .join_steps = true}).rows.size(),
            2u);
}

TEST(OpSummary, HasARowOfHostSpansAndOneOfDeviceSpansWithTheSameName) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId thread = builder.AddTrack({.process = process, .tid = 1});
  const TrackId stream =
      builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});
  const StringId name = builder.Intern("MatrixMul");
  for (const int64_t start : {0, 100}) {
    builder.AddSpan({.start = {start},
                     .duration = {10},
                     .name = name,
                     .category = builder.Intern("cpu_op"),
                     .track = thread,
                     .external_id = 1 + static_cast<uint32_t>(start)});
    builder.AddSpan({.start = {start + 20},
                     .duration = {30},
                     .name = name,
                     .category = builder.Intern("kernel"),
                     .track = stream,
                     .external_id = 1 + static_cast<uint32_t>(start)});
  }
  const OpSummary summary = SummarizeOps(builder.Build());
  ASSERT_EQ(summary.rows.size(), 2u);
  for (const OpSummaryRow& row : summary.rows) {
    EXPECT_EQ(row.count, 2u);
    EXPECT_EQ(row.total_ns, row.on_device ? 60 : 20);
    EXPECT_EQ(row.p50_ns, row.on_device ? 30 : 10);
    EXPECT_EQ(row.device_total_ns, 60);
    EXPECT_EQ(row.device_self_ns, 60);
  }
  EXPECT_NE(summary.rows[0].on_device, summary.rows[1].on_device);
  EXPECT_EQ(summary.device_self_ns, 60) << "it is the same device time";
}

TEST(OpSummary, KnowsTheDeviceTimeThatSharesAreTakenOf) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId thread = builder.AddTrack({.process = process, .tid = 1});
  const TrackId stream =
      builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});
  const StringId op = builder.Intern("cpu_op"), kernel = builder.Intern("kernel");
  const auto add = [&](const char* name, StringId category, TrackId track, int64_t start, int64_t duration,
                       uint32_t id) {
    builder.AddSpan({.start = {start},
                     .duration = {duration},
                     .name = builder.Intern(name),
                     .category = category,
                     .track = track,
                     .external_id = id});
  };
  add("aten::mm", op, thread, 0, 10, 1);
  add("gemm", kernel, stream, 20, 30, 1);
  add("memset", kernel, stream, 60, 10, 0);  // without a launch
  const Trace trace = builder.Build();
  EXPECT_EQ(SummarizeOps(trace).device_self_ns, 40) << "not what host spans launched once more";
  const std::vector<uint8_t> host_only = SpanFilter::Parse("category = cpu_op").value().Select(trace);
  EXPECT_EQ(SummarizeOps(trace, {.selected = &host_only}).device_self_ns, 30);
  EXPECT_EQ(SummarizeOps(OneThread({{"f", 0, 5}})).device_self_ns, 0);
}

TEST(OpSummary, IsEmptyForAnEmptyTrace) {
  EXPECT_TRUE(SummarizeOps(Trace()).rows.empty());
}

}  // namespace
}  // namespace opscope
