// A program whose time of day is set back by an hour while it records. Prints what the recording says of that:
// spans, the shortest duration, whether starts are in order, and the span of time in seconds.
// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

#include "opscope/import.h"
#include "opscope/profiler.h"

namespace {
std::atomic<bool> set_back{false};
}

// Stands before the C library's for every library of this process.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, now);
  if (set_back && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec -= 3600;
  return static_cast<int>(result);
}

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  opscope::Profiler profiler;
  if (!profiler.Start().ok()) return 1;
  for (int i = 0; i < 40000; ++i) {
    OPSCOPE_SCOPE("scope");
    if (i == 20000) set_back = true;
    if (i % 10000 == 0) {
      const timespec pause{0, 30000000};  // so that it is calibrated in between
      nanosleep(&pause, nullptr);
    }
  }
  if (!profiler.Stop().ok() || !profiler.Save(argv[1]).ok()) return 2;
  const auto trace = opscope::ImportFile(argv[1]);
  std::remove(argv[1]);
  if (!trace.ok()) return 3;
  const opscope::SpanColumns& spans = trace.value().spans();
  int64_t shortest = INT64_MAX, last = 0;
  bool in_order = true;
  for (size_t i = 0; i < spans.start.size(); ++i) {
    shortest = std::min(shortest, spans.duration[i].ns);
    in_order = in_order && (i == 0 || spans.start[i - 1].ns <= spans.start[i].ns);
    last = std::max(last, spans.start[i].ns + spans.duration[i].ns);
  }
  std::printf("%zu spans, none negative: %d, in order: %d, below a minute: %d\n", spans.start.size(), shortest >= 0,
              in_order, last - spans.start[0].ns < int64_t{60} * 1000000000);
  return 0;
}
