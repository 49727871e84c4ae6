// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/function_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <tuple>

#include "analysis/random_trace_for_test.h"

namespace opscope {
namespace {

// torch's algorithm with an object per event: sort, nest per thread by a stack, fold, in that order.
struct SlowEvent {
  uint32_t span;
  std::string name;
  uint64_t thread;
  double start;
  double end;
  bool is_async;
  SlowEvent* parent = nullptr;
  std::vector<SlowEvent*> children;
};

// Behind which of two a span begins: by start, the nested ones first, then as they stand.
bool BeginsBefore(const SpanColumns& spans, uint32_t a, uint32_t b) {
  const auto key = [&](uint32_t i) { return std::tuple(spans.start[i], spans.flags[i] & span_flags::kAsync, i); };
  return spans.track[a] == spans.track[b] && key(a) < key(b);
}

// An unfinished span ends with the first finished one that it began in.
Timestamp SlowEnd(const SpanColumns& spans, uint32_t i, bool* has_end) {
  Timestamp end = spans.start[i] + spans.duration[i];
  *has_end = (spans.flags[i] & span_flags::kUnfinished) == 0;
  if (*has_end) return end;
  for (uint32_t around = 0; around < spans.size(); ++around) {
    const Timestamp other = spans.start[around] + spans.duration[around];
    if ((spans.flags[around] & span_flags::kUnfinished) != 0 || !BeginsBefore(spans, around, i)) continue;
    if (other < spans.start[i]) continue;
    end = std::min(end, other);
    *has_end = true;
  }
  return end;
}

std::list<SlowEvent> SlowList(const Trace& trace, bool only_finished) {
  std::list<SlowEvent> events;
  const SpanColumns& spans = trace.spans();
  for (uint32_t i = 0; i < spans.size(); ++i) {
    bool has_end = false;
    const Timestamp end = SlowEnd(spans, i, &has_end);
    if (only_finished && !has_end) continue;
    SlowEvent event;
    event.span = i;
    event.name = trace.text(spans.name[i]);
    event.thread = trace.tracks().logical_thread[Row(spans.track[i])];
    event.start = static_cast<double>(spans.start[i].ns) / 1000;
    event.end = static_cast<double>(end.ns) / 1000;
    event.is_async = (spans.flags[i] & (span_flags::kAsync | span_flags::kCrossing)) == span_flags::kAsync ||
                     (spans.flags[i] & span_flags::kUnfinished) != 0;
    events.push_back(event);
  }
  events.sort(
      [](const SlowEvent& a, const SlowEvent& b) { return a.start != b.start ? a.start < b.start : a.end > b.end; });
  return events;
}

void NestSlowly(std::list<SlowEvent>* events, uint64_t threads) {
  for (uint64_t thread = 1; thread <= threads; ++thread) {
    std::vector<SlowEvent*> stack;
    for (SlowEvent& event : *events) {
      if (event.thread != thread || event.is_async) continue;
      while (!stack.empty() && (event.start >= stack.back()->end || event.end > stack.back()->end))
        stack.pop_back();
      if (!stack.empty()) {
        event.parent = stack.back();
        stack.back()->children.push_back(&event);
      }
      stack.push_back(&event);
    }
  }
}

void FoldSlowly(std::list<SlowEvent>* events, std::list<SlowEvent>* removed) {
  for (bool again = true; again;) {
    std::vector<std::list<SlowEvent>::iterator> folded;
    for (auto event = events->begin(); event != events->end(); ++event) {
      SlowEvent* parent = event->parent;
      if (parent == nullptr || parent->name != event->name || parent->children.size() != 1) continue;
      parent->children = event->children;
      for (SlowEvent* child : event->children)
        child->parent = parent;
      folded.push_back(event);
    }
    again = !folded.empty();
    for (auto event : folded)
      removed->splice(removed->end(), *events, event);
  }
}

TEST(FunctionEvents, EqualTorchsAlgorithmOnRandomTraces) {
  for (uint64_t seed = 1; seed <= 3000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Trace trace = RandomTrace(
        seed, {.spans = 3 + static_cast<int>(seed % 15), .threads = 2, .end = 9, .has_unfinished = seed % 2 == 0});
    const bool only_finished = seed % 4 == 0;
    std::list<SlowEvent> slow = SlowList(trace, only_finished);
    std::list<SlowEvent> removed;
    NestSlowly(&slow, 2);
    FoldSlowly(&slow, &removed);
    const FunctionEvents events =
        BuildFunctionEvents(trace, {.trace_start = Timestamp{0}, .use_device = {}, .only_finished = only_finished});
    ASSERT_EQ(events.size(), slow.size());
    size_t i = 0;
    for (const SlowEvent& event : slow) {
      EXPECT_EQ(events.span[i], SpanId{event.span});
      EXPECT_EQ(events.start_us[i], event.start);
      EXPECT_EQ(events.end_us[i], event.end);
      const EventIndex parent = events.parent[i];
      EXPECT_EQ(parent == EventIndex::kNone ? SpanId::kNone : events.span[Row(parent)],
                event.parent == nullptr ? SpanId::kNone : SpanId{event.parent->span});
      double children = 0;
      std::vector<SpanId> expected;
      for (const SlowEvent* child : event.children) {
        expected.push_back(SpanId{child->span});
        children += child->end - child->start;
      }
      std::vector<SpanId> got;
      for (EventIndex c = events.first_child[i]; c != EventIndex::kNone; c = events.next_sibling[Row(c)]) {
        got.push_back(events.span[Row(c)]);
      }
      EXPECT_EQ(got, expected);
      EXPECT_EQ(SelfCpuTimeTotal(events, i), event.is_async ? 0 : event.end - event.start - children);
      ++i;
    }
  }
}

class OneThread {
 public:
  OneThread()
      : track_(builder_.AddTrack({.process = builder_.AddProcess({.pid = 1}), .tid = 5, .logical_thread = 1})) {}
  SpanRow& Add(std::string_view name, int64_t start, int64_t end) {
    rows_.push_back({.start = {start},
                     .duration = {end - start},
                     .name = builder_.Intern(name),
                     .category = builder_.Intern("cpu_op"),
                     .track = track_});
    return rows_.back();
  }
  TraceBuilder& builder() { return builder_; }
  TrackId track() const { return track_; }
  Trace Build() {
    for (const SpanRow& row : rows_)
      builder_.AddSpan(row);
    return builder_.Build();
  }

 private:
  TraceBuilder builder_;
  TrackId track_;
  std::list<SpanRow> rows_;
};

std::vector<std::string> Names(const Trace& trace, const FunctionEvents& events) {
  std::vector<std::string> names;
  for (size_t i = 0; i < events.size(); ++i)
    names.emplace_back(NameText(trace, events, i));
  return names;
}

TEST(FunctionEvents, LeaveOutTorchsOwnMarkersAndFoldStepNumbers) {
  OneThread thread;
  thread.Add("ProfilerStep#3", 0, 10);
  thread.Add("aten::is_leaf", 1, 2);
  thread.Add("profiler::_record_function_enter_new", 2, 3);
  thread.Add("ProfilerStep#4", 10, 20);
  thread.Add("_ZN2at6detail3fooEv", 12, 13);
  thread.Add("i", 14, 15);
  const Trace trace = thread.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  EXPECT_EQ(Names(trace, events),
            (std::vector<std::string>{"ProfilerStep*", "ProfilerStep*", "at::detail::foo()", "i"}));
  EXPECT_EQ(AverageFunctionEvents(trace, events).size(), 3u);
}

TEST(FunctionEvents, AreAveragedWithoutPythonFunctionsWhereTheseAreLeftOut) {
  OneThread thread;
  thread.Add("a.py(1): f", 0, 10).category = thread.builder().Intern("python_function");
  thread.Add("aten::add", 2, 4);
  const Trace trace = thread.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  EXPECT_EQ(AverageFunctionEvents(trace, events).size(), 2u);
  const auto rows = AverageFunctionEvents(trace, events, {.include_python_functions = false});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(NameText(trace, events, Row(rows[0].first)), "aten::add");
  EXPECT_EQ(rows[0].count, 1);
}

TEST(FunctionEvents, TakeTheKernelsOfTheirExternalId) {
  OneThread thread;
  const TrackId stream =
      thread.builder().AddTrack({.process = ProcessId{0}, .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});
  thread.Add("aten::mm", 0, 100).external_id = 5;
  SpanRow& call = thread.Add("cudaLaunchKernel", 20, 40);
  call.category = thread.builder().Intern("cuda_runtime");
  call.external_id = 5;
  call.correlation = 900;
  SpanRow& kernel = thread.Add("gemm", 300, 450);
  kernel.category = thread.builder().Intern("kernel");
  kernel.track = stream;
  kernel.external_id = 5;
  kernel.correlation = 900;
  const Trace trace = thread.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  EXPECT_EQ(events.use_device, "cuda");
  EXPECT_EQ(Names(trace, events), (std::vector<std::string>{"aten::mm", "cudaLaunchKernel", "gemm"}));
  EXPECT_EQ(events.parent[1], EventIndex{0});
  EXPECT_DOUBLE_EQ(DeviceTimeTotal(events, 0), 0.15);
  EXPECT_DOUBLE_EQ(SelfDeviceTimeTotal(events, 0), 0.15);
  EXPECT_DOUBLE_EQ(DeviceTimeTotal(events, 2), 0.15);
  EXPECT_EQ(CpuTimeTotal(events, 2), 0);
  ASSERT_EQ(events.kernel_offset.size(), 4u);
  EXPECT_EQ(events.kernels, std::vector<EventIndex>{EventIndex{2}});
}

TEST(FunctionEvents, GoByTheOpAroundTheCallWhereTheIdIsOfAnother) {
  OneThread thread;
  TraceBuilder& builder = thread.builder();
  const TrackId stream =
      builder.AddTrack({.process = ProcessId{0}, .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});
  thread.Add("aten::add", 0, 10).external_id = 40;
  thread.Add("aten::copy_", 20, 100).external_id = 3;
  const auto add = [&](const char* name, int64_t start, const char* category, uint32_t id) {
    SpanRow& row = thread.Add(name, start, start + 20);
    row.category = builder.Intern(category);
    row.external_id = row.correlation = id;
    if (row.category == builder.Intern("gpu_memcpy")) row.track = stream;
  };
  add("cudaMemcpyAsync", 30, "cuda_runtime", 40);
  add("cudaMemcpyAsync", 60, "cuda_runtime", 3);
  add("Memcpy HtoD", 300, "gpu_memcpy", 40);
  add("Memcpy HtoD", 400, "gpu_memcpy", 3);
  const Trace trace = thread.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  ASSERT_EQ(Names(trace, events), (std::vector<std::string>{"aten::add", "aten::copy_", "cudaMemcpyAsync",
                                                            "cudaMemcpyAsync", "Memcpy HtoD", "Memcpy HtoD"}));
  EXPECT_EQ(DeviceTimeTotal(events, 0), 0);
  EXPECT_DOUBLE_EQ(DeviceTimeTotal(events, 1), 0.04);
  for (const size_t call : {2u, 3u})
    EXPECT_EQ(events.parent[call], EventIndex{1});
}

TEST(FunctionEvents, ListAllocationsThatNoOpHolds) {
  OneThread thread;
  thread.Add("outer", 0, 100);
  thread.Add("inner", 10, 20);
  thread.builder().AddAllocation({.time = {20}, .track = thread.track(), .bytes = 64});  // both ends count
  thread.builder().AddAllocation({.time = {150}, .track = thread.track(), .bytes = -64});
  const Trace trace = thread.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  EXPECT_EQ(Names(trace, events), (std::vector<std::string>{"outer", "inner", "[memory]"}));
  EXPECT_EQ(events.cpu_memory_usage, (std::vector<int64_t>{64, 64, -64}));
  EXPECT_EQ(SelfCpuMemoryUsage(events, 0), 0);
  EXPECT_EQ(events.allocation[2], 1u);
  EXPECT_EQ(events.span[2], SpanId::kNone);
}

TEST(FunctionEvents, BackwardEventsHaveTheStackOfTheirForwardEvent) {
  OneThread thread;
  TraceBuilder& builder = thread.builder();
  const StackId forward_stack =
      builder.AddStack(builder.AddFrame(builder.Intern("model.py(3): forward")), StackId::kNone);
  const StackId own_stack = builder.AddStack(builder.AddFrame(builder.Intern("train.py(9): step")), StackId::kNone);
  SpanRow& forward = thread.Add("aten::mul", 0, 10);
  forward.sequence = 42;
  forward.stack = forward_stack;
  SpanRow& backward = thread.Add("MulBackward0", 20, 40);
  backward.sequence = 42;
  backward.forward_thread = 1;
  backward.scope = ScopeType::kBackwardFunction;
  backward.stack = own_stack;
  thread.Add("aten::mul", 25, 30).stack = own_stack;
  const Trace trace = thread.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  const FunctionEventStacks stacks(trace, events);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(stacks.Of(i), std::vector<std::string_view>{"model.py(3): forward"}) << i;
}

TEST(FunctionEvents, CountTimesFromKinetosOwnSpan) {
  OneThread thread;
  SpanRow& span = thread.Add("PyTorch Profiler (0)", 1000, 9000);
  span.category = thread.builder().Intern("Trace");
  thread.Add("op", 3500, 4000);
  const Trace trace = thread.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.start_us[0], 2.5);
  EXPECT_EQ(events.end_us[0], 3.0);
}

TEST(FunctionEvents, TotalAverageAddsEverything) {
  OneThread thread;
  thread.Add("a", 0, 4000);
  thread.Add("b", 1000, 2000);
  const Trace trace = thread.Build();
  const FunctionEvents events = BuildFunctionEvents(trace);
  const FunctionEventAverage total = TotalAverage(trace, events);
  EXPECT_EQ(total.count, 2);
  EXPECT_EQ(total.cpu_time_total_us, 5.0);
  EXPECT_EQ(total.self_cpu_time_total_us, 4.0);
  EXPECT_EQ(SelfCpuTimeTotalOfAll(events), 4.0);
}

TEST(FunctionEvents, AddUpAsTheirPythonDoes) {
  OneThread thread;
  thread.Add("long", 0, 1'000'000'000'000'000);  // beside it the digits of the others are cut off
  for (int64_t i = 0; i < 1000; ++i)
    thread.Add("op", i * 100, i * 100 + 33);
  const Trace trace = thread.Build();
  const FunctionEvents plain = BuildFunctionEvents(trace);
  FunctionEventOptions as_python_3_12;
  as_python_3_12.compensated_sums = true;
  const FunctionEvents compensated = BuildFunctionEvents(trace, as_python_3_12);
  double in_turn = 0;
  long double exact = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    in_turn += SelfCpuTimeTotal(plain, i);
    exact += static_cast<long double>(SelfCpuTimeTotal(plain, i));
  }
  ASSERT_NE(in_turn, static_cast<double>(exact)) << "these numbers show nothing";
  EXPECT_EQ(SelfCpuTimeTotalOfAll(plain), in_turn);
  EXPECT_EQ(SelfCpuTimeTotalOfAll(compensated), static_cast<double>(exact));
}

TEST(FunctionEvents, AreEmptyForAnEmptyTrace) {
  const Trace trace;
  const FunctionEvents events = BuildFunctionEvents(trace);
  EXPECT_TRUE(events.empty());
  EXPECT_TRUE(AverageFunctionEvents(trace, events).empty());
}

// Two spans of one name, the outer one crossed by a third; allocations in and outside of them; a span of another thread
// whose forward operator is on the first.
Trace CollectedTrace() {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId main = builder.AddTrack({.process = process, .tid = 10, .logical_thread = 1});
  const TrackId other = builder.AddTrack({.process = process, .tid = 11, .logical_thread = 2});
  const StringId op = builder.Intern("cpu_op");
  const auto add = [&](TrackId track, int64_t start, int64_t duration, const char* name, uint64_t forward_thread) {
    builder.AddSpan({.start = Timestamp{start},
                     .duration = Duration{duration},
                     .name = builder.Intern(name),
                     .category = op,
                     .track = track,
                     .forward_thread = forward_thread});
  };
  builder.SetCrossing(main);
  add(main, 0, 100, "same", 0);
  add(main, 10, 50, "same", 0);
  add(main, 20, 60, "crossing", 0);
  add(main, 80, 5, "aten::is_leaf", 0);
  add(other, 30, 10, "backward", 1);
  add(other, 50, 10, "late", 0);
  for (const int64_t time : {15, 150}) {
    builder.AddAllocation({.time = Timestamp{time}, .track = main, .address = 1, .bytes = 64});
  }
  return builder.Build();
}

TEST(FunctionEvents, AreWhatWasCollectedWhenThatIsAsked) {
  const Trace trace = CollectedTrace();
  FunctionEventOptions options;
  options.as_collected = true;
  const FunctionEvents events = BuildFunctionEvents(trace, options);
  std::string text;
  for (size_t i = 0; i < events.size(); ++i) {
    const EventIndex parent = events.parent[i];
    text += std::string(NameText(trace, events, i)) + " < " +
            (parent == EventIndex::kNone ? "-" : std::string(NameText(trace, events, Row(parent)))) + "\n";
  }
  // The inner "same" ended at 60, and took "crossing" along.
  EXPECT_EQ(text,
            "same < -\n"
            "same < same\n"
            "[memory] < same\n"
            "crossing < same\n"
            "backward < crossing\n"
            "late < crossing\n"
            "aten::is_leaf < same\n"
            "[memory] < -\n");
  EXPECT_EQ(BuildFunctionEvents(trace).size(), 6u);  // without is_leaf and the first allocation
}

}  // namespace
}  // namespace opscope
