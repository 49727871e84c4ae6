// A small trace with one of everything, and what the tests of several formats ask.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/export.h"
#include "trace/builder.h"

namespace opscope {

// A process with two threads and a stream. Thread "main": step( a( b( ) c crosses a's end ) ), an async span by flag;
// thread 8: a function of Python; stream 7: a kernel that b launched, drawn by a flow. A counter, an instant, an async
// span with an id. Times begin at -100.
inline Trace MakeEverything(bool hostile_names = false) {
  TraceBuilder builder;
  const auto text = [&](std::string_view name) { return builder.Intern(name); };
  builder.info().epoch_ns = 1'700'000'000'000'000'000;
  const ProcessId process = builder.AddProcess({.pid = 12, .name = text("python")});
  const ProcessId device = builder.AddProcess({.pid = 0, .name = text("python"), .labels = text("GPU 0")});
  const TrackId main = builder.AddTrack({.process = process, .tid = 12, .name = text("main")});
  const TrackId other = builder.AddTrack({.process = process, .tid = 8});
  const TrackId stream = builder.AddTrack({.process = device, .kind = TrackKind::kDeviceStream, .tid = 7});
  const int64_t sizes[] = {2, 4};
  const ArgumentRow argument = {.kind = ArgumentKind::kTensor, .dtype = text("float"), .sizes = sizes};
  const ArgsId args = builder.AddArguments({&argument, 1});
  const std::string_view b = hostile_names ? std::string_view("=b\xff\\x41;\n\",\0", 12) : "b";
  builder.AddSpan(
      {.start = {-100}, .duration = {1100}, .name = text("step"), .category = text("user_annotation"), .track = main});
  builder.AddSpan({.start = {100},
                   .duration = {400},
                   .name = text("a"),
                   .overload = text("Tensor"),
                   .category = text("cpu_op"),
                   .track = main,
                   .sequence = 3,
                   .external_id = 1,
                   .args = args});
  const AddedSpan launch = builder.AddSpan({.start = {100},
                                            .duration = {100},
                                            .name = text(b),
                                            .category = text("cpu_op"),
                                            .track = main,
                                            .correlation = 5,
                                            .extra = text("\"n\":1,\"list\":[1,2],\"s\":\"t\"")});
  builder.AddSpan({.start = {400}, .duration = {300}, .name = text("c"), .category = text("cpu_op"), .track = main});
  builder.AddSpan({.start = {450}, .duration = {10}, .name = text("d"), .category = text("cpu_op"), .track = main});
  builder.AddSpan({.start = {300},
                   .duration = {900},
                   .name = text("late"),
                   .category = text("cpu_op"),
                   .track = main,
                   .flags = span_flags::kAsync});
  builder.AddSpan({.start = {0},
                   .duration = {50},
                   .name = text("train.py(12): step"),
                   .category = text("python_function"),
                   .track = other,
                   .flags = span_flags::kUnfinished});
  const AddedSpan kernel = builder.AddSpan({.start = {150},
                                            .duration = {80},
                                            .name = text("kernel"),
                                            .category = text("kernel"),
                                            .track = stream,
                                            .correlation = 5});
  builder.AddFlow({.id = 5,
                   .category = text("ac2g"),
                   .name = text("ac2g"),
                   .start_time = {110},
                   .start_track = main,
                   .start_span = launch,
                   .end_time = {150},
                   .end_track = stream,
                   .end_span = kernel});
  builder.AddCounter({.time = {20}, .name = text("load"), .series = text("cpu"), .track = main, .value = 0.5});
  builder.AddInstant({.time = {30}, .name = text("mark"), .category = text("x"), .track = main, .scope = 't'});
  builder.AddAsyncSpan({.start = {40},
                        .duration = {500},
                        .name = text("load data"),
                        .category = text("io"),
                        .track = main,
                        .id = text("0x1")});
  return builder.Build();
}

inline Exported ExportAll(const Trace& trace, ExportFormat format, const ExportOptions& options = {}) {
  Result<Exported> exported = ExportToBytes(trace, format, options);
  return exported.ok() ? std::move(exported).value() : Exported{"failed: " + exported.error().message, {}, 0};
}

}  // namespace opscope
