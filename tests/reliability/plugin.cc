// A plugin that records scopes, counters and threads of its own, with names that go when it is unloaded.
// Compiled twice: PLUGIN_NAME tells the two apart, and both are laid out alike, so that the names of one
// come to lie where those of the other lay.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "opscope/scope.h"

namespace {

opscope::Window* window = nullptr;

struct RecordsAtTheEnd {
  ~RecordsAtTheEnd() { OPSCOPE_SCOPE(PLUGIN_NAME " at its end"); }
} records_at_the_end;

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const char* plugin_name() {
  return PLUGIN_NAME;
}

__attribute__((visibility("default"))) void plugin_work(int scopes) {
  for (int i = 0; i < scopes; ++i)
    OPSCOPE_SCOPE(PLUGIN_NAME);
  std::thread([] { OPSCOPE_SCOPE(PLUGIN_NAME " on a thread"); }).join();
}

__attribute__((visibility("default"))) int plugin_start() {
  const opscope::WindowOptions options;
  window = opscope_window_open(&options, nullptr);
  return window != nullptr ? 0 : 1;
}

// Number of scopes that were recorded.
__attribute__((visibility("default"))) unsigned long plugin_stop() {
  opscope_window_close(window);
  const unsigned long recorded = opscope_window_counts(window).recorded;
  opscope_window_free(window);
  return recorded;
}
}
