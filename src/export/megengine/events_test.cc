// The events of MegEngine's timeline, and its ratios, of recordings with very many of one thing.
// SPDX-License-Identifier: Apache-2.0
#include "export/megengine/events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "export/export_for_test.h"

namespace opscope {
namespace {

size_t CountMarks(const std::vector<MegEngineMark>& marks, MegEngineEventKind what) {
  return static_cast<size_t>(
      std::count_if(marks.begin(), marks.end(), [&](const MegEngineMark& mark) { return mark.what == what; }));
}

// A kernel of 80 ns every 100 ns, each in a step; all of one operator, or each of its own.
Trace KernelsInSteps(int64_t count, bool of_one_operator) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 7});
  const TrackId worker = builder.AddTrack({.process = process, .tid = 1, .name = builder.Intern("worker")});
  const TrackId program = builder.AddTrack({.process = process, .tid = 0});
  const TrackId device = builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 2});
  for (int64_t i = 0; i < count; ++i) {
    const auto number = of_one_operator ? 1u : static_cast<uint32_t>(i + 1);
    if (i == 0 || !of_one_operator) {
      builder.AddSpan({.start = {i * 100},
                       .duration = {5},
                       .name = builder.Intern("ADD"),
                       .track = worker,
                       .kind = SpanKind::kOperator,
                       .external_id = number});
    }
    builder.AddSpan({.start = {i * 100 + 10},
                     .duration = {80},
                     .name = builder.Intern("add"),
                     .track = device,
                     .kind = SpanKind::kKernel,
                     .external_id = number});
    const StringId step = builder.Intern("step");
    builder.AddStep(i, step, builder.AddSpan({.start = {i * 100}, .duration = {100}, .name = step, .track = program}));
  }
  return builder.Build();
}

TEST(MegEngineEvents, OfAnOperatorWithManyKernelsHaveEachOfThem) {
  constexpr int64_t kKernels = 200'000;
  const Trace trace = KernelsInSteps(kKernels, true);
  const MegEngineFacts facts(trace);  // minutes, were it quadratic
  const auto marks = ListMegEngineMarks(trace, facts);
  EXPECT_EQ(CountMarks(marks[0], MegEngineEventKind::kKernelStart), size_t{kKernels});
  EXPECT_EQ(CountMarks(marks[2], MegEngineEventKind::kKernelFinish), size_t{kKernels});
}

TEST(MegEngineRatios, OfManyStepsAreThoseOfTheirKernels) {
  constexpr int64_t kSteps = 200'000;
  const Trace trace = KernelsInSteps(kSteps, false);
  const std::vector<MegEngineRatios> ratios = ComputeMegEngineRatios(trace, MegEngineFacts(trace));  // likewise
  ASSERT_EQ(ratios.size(), 1u);
  EXPECT_NEAR(ratios[0].steps, 80, 0.01);
  EXPECT_EQ(ratios[0].end, kSteps * 100 - 10);
}

TEST(MegEngineRatios, CountAStepFromItsFirstKernelToItsLastOne) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 7});
  const TrackId device = builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 2});
  for (const int64_t start : {0, 100, 200}) {
    builder.AddSpan({.start = {start},
                     .duration = {10},
                     .name = builder.Intern("add"),
                     .track = device,
                     .kind = SpanKind::kKernel,
                     .external_id = static_cast<uint32_t>(start + 1)});
  }
  const auto add_step = [&](int64_t number, int64_t start, int64_t duration) {
    const TrackId track = builder.AddTrack({.process = process, .tid = 10 + number});
    builder.AddStep(number, StringId::kEmpty,
                    builder.AddSpan({.start = {start}, .duration = {duration}, .track = track}));
  };
  add_step(0, 0, 150);    // kernels at 0 and 100: 110 ns
  add_step(1, 150, 100);  // the kernel at 200: 10 ns
  const Trace trace = builder.Build();
  EXPECT_NEAR(ComputeMegEngineRatios(trace, MegEngineFacts(trace))[0].steps, 100 * 120 / 210.0, 1e-9);
}

TEST(MegEngineEvents, OfManyStartsHaveOneReadingOfTheClockForEachOfMemory) {
  constexpr int64_t kStarts = 200'000;
  TraceBuilder builder;
  builder.AddMetadata("megengine.profile_device", "1");
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 7}), .tid = 1});
  for (int64_t i = 0; i < kStarts; ++i) {
    builder.AddSpan({.start = {i * 10}, .duration = {5}, .name = builder.Intern("StartProfile"), .track = track});
    for (const int64_t time : {i * 10 + 2, i * 10 + 8}) {  // within the span, and behind it
      builder.AddCounter({.time = {time}, .name = builder.Intern("xpu0_alloc_mem"), .track = track, .value = 1});
    }
  }
  const Trace trace = builder.Build();
  const auto marks = ListMegEngineMarks(trace, MegEngineFacts(trace));  // likewise
  EXPECT_EQ(CountMarks(marks[0], MegEngineEventKind::kAhead), size_t{kStarts});
}

TEST(MegEngineChrome, CountsWhatLiesOnOtherTracks) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 7});
  const TrackId other = builder.AddTrack({.process = process, .kind = TrackKind::kOther, .tid = 1});
  builder.AddSpan({.duration = {5}, .name = builder.Intern("wait"), .track = other});
  builder.AddInstant({.name = builder.Intern("mark"), .track = other});
  builder.AddCounter({.name = builder.Intern("power"), .track = other, .value = 1});
  const Exported exported = ExportAll(builder.Build(), ExportFormat::kMegEngineChrome);
  EXPECT_EQ(ExportedText(ExportFormat::kMegEngineChrome, exported),
            "left out, as megengine-chrome has no place for them: 1 spans of tracks that are not threads or streams, "
            "1 instants of tracks that are left out, 1 counter samples of tracks that are left out");
}

}  // namespace
}  // namespace opscope
