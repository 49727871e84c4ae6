// A flight recorder: writes the newest part of a recording into a file when
// something happens, and the job goes on. Profiler has one (Options::flight); a
// program with a window of its own uses the class.
//
//   opscope::Profiler profiler({.at_cap = opscope::AtCap::kKeepNewest,
//                               .flight = {.path = "flight.opscope", .signal = SIGUSR1, .on_exception = true,
//                                          .no_step_for = std::chrono::seconds(60)}});
//
// Each dump is an `.opscope` file with every thread's newest records, every
// thread's open scopes as unfinished spans, and its reason in the options. It is
// written beside the final name and renamed, with mode 0600 less the umask. See
// docs/how-to/keep_the_newest_events.md.
//
// Start installs only what the options ask for, and Stop removes it: a signal
// handler and a terminate handler that call their predecessors, and a thread (for
// signals and the watchdog) that blocks all signals. After fork the child has none
// of them.
//
// Thread rule: Dump, Step, files and TakeMessages from any thread; the others one
// thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "opscope/recorder_abi.h"
#include "opscope/result.h"

namespace opscope {

// When to dump by itself, and where. The defaults never do.
struct FlightOptions {
  // Path of automatic dumps. "{pid}" and "{number}" stand for the process and for
  // 1, 2, ...; a missing one is inserted before the extension: flight.opscope ->
  // flight-4242-1.opscope. Numbers whose file exists are skipped. Relative to the
  // working directory at Start.
  std::string path = {};
  // Dump when the process receives this signal; 0: none.
  int signal = 0;
  // Dump when an uncaught exception ends the program.
  bool on_exception = false;
  // Dump when no Step came for this long, once until the next Step; 0: never.
  // Counts from Start.
  std::chrono::milliseconds no_step_for{0};
};

// Dumps one window at a time.
class FlightRecorder {
 public:
  explicit FlightRecorder(FlightOptions options);
  // Stops. REQUIRES: Release was called for a watched window.
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // kInvalidArgument: options that Start would refuse: no path, a signal that
  // cannot be handled or stands for a fault, a negative time. Any thread.
  [[nodiscard]] static Status Check(const FlightOptions& options);

  // Installs what the options ask for. A second call does nothing.
  // kInvalidArgument: as Check. kUnsupported: the system refused a handler or a
  // thread, or too many flight recorders are running.
  [[nodiscard]] Status Start();
  // Removes it; waits for an automatic dump in progress. A second call does
  // nothing.
  void Stop();

  // Dumps are of this window from here on.
  void Watch(Window* window);
  // No new dump of the window begins; does not wait for one in progress.
  void Unwatch();
  // Waits until no dump of the window is in progress. REQUIRED before
  // opscope_window_free of a watched window.
  void Release(const Window* window);

  // Tells the watchdog that the job is alive. One clock read and one store.
  void Step();

  // Dumps now and returns the file's path. An empty path means FlightOptions::path.
  // A given path is taken as it is (placeholders excepted) and replaces an existing
  // file. kInvalidArgument: no window is watched, or there is no path. kIo,
  // kNotFound: the system refused; no partial file stays.
  [[nodiscard]] Result<std::string> Dump(const std::string& path = {}, const std::string& reason = "request",
                                         const std::string& detail = {});

  // Paths of the dumps so far, in order.
  std::vector<std::string> files() const;
  // Errors of automatic dumps, a sentence each; returns and clears them.
  std::vector<std::string> TakeMessages();

  // Internal (src/flight).
  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace opscope
