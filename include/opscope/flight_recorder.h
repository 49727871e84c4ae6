// A flight recorder: the newest of a recording goes into a file when something happens, and the job goes
// on. Profiler has one (Options::flight); a program with a window of its own uses the class.
//
//   opscope::Profiler profiler({.at_cap = opscope::AtCap::kKeepNewest,
//                               .flight = {.path = "flight.opscope", .signal = SIGUSR1, .on_exception = true,
//                                          .no_step_for = std::chrono::seconds(60)}});
//
// Each dump is an `.opscope` file of its own, with every thread's newest records, every thread's open
// scopes as unfinished spans, and the reason in its options. It is written beside and renamed, with mode
// 0600 less the umask. See docs/flight_recorder.md.
//
// Nothing is installed that was not asked for, and what was is taken back by Stop: a signal handler that
// calls the one before it, a terminate handler that calls the one before it, a thread (for signals and the
// watchdog) that blocks all signals. After fork the child has none of them.
//
// Thread rule: Dump, Step, files and TakeMessages from any thread; the others one thread at a time.
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

struct FlightOptions {
  // Of the dumps that happen by themselves. "{pid}" and "{number}" stand for the process and for 1, 2, ...;
  // where one is missing it is put before the extension: flight.opscope -> flight-4242-1.opscope. Numbers
  // whose file exists are passed over. Relative to the working directory at Start.
  std::string path = {};
  int signal = 0;             // dump when the process gets it; 0: none
  bool on_exception = false;  // dump when the program ends by an exception that nobody catches
  // Dump when this long there was no Step, once until the next one; 0: never. Counts from Start.
  std::chrono::milliseconds no_step_for{0};
};

class FlightRecorder {
 public:
  explicit FlightRecorder(FlightOptions options);
  // Stops. REQUIRES: the window was let go of (Release).
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  // kInvalidArgument: options that Start would refuse: no path, a signal that cannot be used, a negative time. Any
  // thread.
  [[nodiscard]] static Status Check(const FlightOptions& options);

  // Installs what the options ask for. kInvalidArgument: as Check. kUnsupported: the system refused a handler or a
  // thread.
  [[nodiscard]] Status Start();
  // Takes it back; waits for a dump that is under way. A second call does nothing.
  void Stop();

  // Dumps are of this window from here on.
  void Watch(Window* window);
  // No dump of it begins any more; does not wait.
  void Leave();
  // Waits until no dump of it is under way. REQUIRES before opscope_window_free of a watched window.
  void Release(const Window* window);

  // The job is alive.
  void Step();

  // Dumps now, and returns the file's name. An empty path is that of the options; a path is taken as it is
  // (placeholders excepted) and an existing file is replaced. kInvalidArgument: nothing is being recorded, or
  // no path. kIo, kNotFound: the system's refusal; nothing half-written stays.
  [[nodiscard]] Result<std::string> Dump(const std::string& path = {}, const std::string& reason = "request",
                                         const std::string& detail = {});

  // The dumps so far, in order.
  std::vector<std::string> files() const;
  // What went wrong in dumps that nobody was waiting for, a sentence each; they are told once.
  std::vector<std::string> TakeMessages();

  struct State;  // the library's own

 private:
  std::unique_ptr<State> state_;
};

}  // namespace opscope
