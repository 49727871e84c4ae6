// Small random traces for tests that compare a fast implementation with an obvious one: few names, few
// times, so that nesting, ties, crossings and repeated names are common.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "trace/builder.h"

namespace opscope {

struct RandomTraceOptions {
  int spans = 12;
  int threads = 2;
  int64_t end = 14;
  bool has_device = false;
  bool has_unfinished = false;
};

inline Trace RandomTrace(uint64_t seed, const RandomTraceOptions& options) {
  std::mt19937_64 random(seed);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  std::vector<TrackId> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.push_back(
        builder.AddTrack({.process = process, .tid = 10 + i, .logical_thread = 1 + static_cast<uint64_t>(i)}));
  }
  const TrackId stream =
      builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});
  for (int i = 0; i < options.spans; ++i) {
    SpanRow row;
    row.start = {below(options.end)};
    row.duration = {below(options.end - row.start.ns + 1)};
    row.name = builder.Intern(std::string(1, static_cast<char>('a' + below(3))));
    row.track = threads[static_cast<size_t>(below(options.threads))];
    row.category = builder.Intern("cpu_op");
    row.external_id = static_cast<uint32_t>(i + 1);
    row.flags = below(8) == 0 ? span_flags::kAsync : 0;
    if (row.flags != 0 && below(2) == 0) row.flags |= span_flags::kCrossing;
    if (options.has_unfinished && below(6) == 0) row.flags |= span_flags::kUnfinished;
    if (options.has_device && below(3) == 0) {
      row.category = builder.Intern(below(2) == 0 ? "kernel" : "cuda_runtime");
      const bool is_kernel = builder.text(row.category) == "kernel";
      if (is_kernel) row.track = stream;
      row.flags = 0;
      row.external_id = static_cast<uint32_t>(below(options.spans + 1));
      row.correlation = static_cast<uint32_t>(100 + below(4));
    }
    builder.AddSpan(row);
  }
  return builder.Build();
}

}  // namespace opscope
