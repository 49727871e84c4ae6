// Scopes, and a Profiler, in static initialisers and in destructors of every kind, registered in the order of the given
// permutation: destructors ORDER (0 to 23) STATE.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "recording.h"

namespace {

struct Recorder {
  const char* where;
  ~Recorder() {
    OPSCOPE_SCOPE("in a destructor");
    std::thread([] { OPSCOPE_SCOPE("on a thread of a destructor"); }).join();
    std::printf("%s\n", where);
  }
};

// Before main, and so before anything that StartRecording makes.
struct RecordsBeforeMain {
  RecordsBeforeMain() {
    OPSCOPE_SCOPE("before main");
#ifndef RELIABILITY_PLAIN
    opscope::Profiler profiler;
    (void)profiler.Start();
    OPSCOPE_SCOPE("before main, recorded");
    (void)profiler.Stop();
    if (profiler.recorded() != 1) std::printf("a static initialiser recorded nothing\n");
#endif
  }
  ~RecordsBeforeMain() { OPSCOPE_SCOPE("after everything"); }
} records_before_main;

const char* state = "open";

void MakeStatic() {
  static Recorder recorder{"static"};
}
void MakeThreadLocal() {
  thread_local Recorder recorder{"thread-local"};
  recorder.where = "thread-local";
}
void MakeAtExit() {
  std::atexit([] {
    OPSCOPE_SCOPE("at exit");
    std::printf("at exit\n");
  });
}
void MakeRecording() {
  StartRecording(state);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  state = argv[2];
  std::array<void (*)(), 4> makers = {MakeStatic, MakeThreadLocal, MakeAtExit, MakeRecording};
  std::array<int, 4> order = {0, 1, 2, 3};
  for (int i = std::atoi(argv[1]); i > 0; --i)
    std::next_permutation(order.begin(), order.end());
  for (const int maker : order)
    makers[static_cast<size_t>(maker)]();
  return 0;
}
