// Records a program from C++. A Profiler decides when to record, how much, and
// which threads; scope.h, included here, annotates the code. The two are separate
// headers because annotations are everywhere and must not pay for <string> and
// <functional>.
//
//   opscope::Profiler profiler({.schedule = opscope::Schedule{.wait = 1, .warmup = 1, .active = 3},
//                               .on_ready = [](opscope::Profiler& p) { (void)p.Save("train.opscope"); }});
//   (void)profiler.Start();
//   for (...) {
//     TrainOneStep();
//     (void)profiler.Step();
//   }
//   (void)profiler.Stop();
//
// Start and Stop take milliseconds and do not depend on the number of events.
// Nothing throws.
//
// Thread rule: one thread at a time per Profiler; Dump and dumps from any thread.
// Several Profilers may record at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/flight_recorder.h"
#include "opscope/recorder.h"
#include "opscope/result.h"
#include "opscope/schedule.h"
#include "opscope/scope.h"
#include "opscope/session.h"
#include "opscope/source.h"

namespace opscope {

class Profiler;

// Options of a Profiler. The defaults record everything of every thread from Start
// to Stop.
struct Options {
  // Cap in bytes for records, names and arguments together.
  uint64_t max_bytes = uint64_t{1} << 30;
  // What happens at the cap: keep the beginning, or keep the newest.
  AtCap at_cap = AtCap::kStop;
  // Which threads' scopes are recorded.
  NativeThreads threads = NativeThreads::kAll;
  // Gives the action of each step: a Schedule or any callable. Empty: record
  // everything from Start to Stop. If set, every recorded step is also a range
  // "ProfilerStep#N".
  std::function<Action(int64_t step)> schedule = {};
  // Called from Step or Stop when a recording is complete. It may call Save.
  std::function<void(Profiler& profiler)> on_ready = {};
  // Called from Start, Step and Stop with a sentence about a schedule that makes no
  // sense, a dump that failed, or a file of record_to that failed. The library
  // itself prints nothing.
  std::function<void(std::string_view sentence)> on_warning = {};
  // Path of a file in which the recording lies while it is made, so that it
  // survives a killed process. The second recording of a schedule goes to
  // NAME.2.EXTENSION, and so on. What the file cannot take (a full disk) stays in
  // memory, with a warning; the recording is complete either way. Empty: the
  // environment variable OPSCOPE_RECORD_TO decides (docs/how-to/record_into_a_file.md), without it
  // the recording lies in memory.
  std::string record_to = {};
  // Members of a JSON object that the recording carries: "\"model\":\"resnet18\"".
  std::string metadata_json = {};
  // Automatic dumps between Start and Stop.
  FlightOptions flight = {};
  // What records beside native scopes, such as a framework's operators (LoadSource,
  // UseSource).
  std::vector<SourceUse> sources = {};
};

// Records one program in one or more cycles. Destroying it is safe in every state.
class Profiler {
 public:
  enum class State : uint8_t { kIdle, kRunning, kStopped };

  explicit Profiler(Options options = {});
  // Stops without calling on_ready, and frees the recording.
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Begins with the action of the current step (0 at first). May be called again
  // after Stop and then continues with the same step. kInvalidArgument: it is
  // running, or the Schedule, the flight options or metadata_json are not valid.
  // kUnsupported: the recorder or a source cannot record one more window.
  [[nodiscard]] Status Start();
  // Ends the current step and begins the next one. kInvalidArgument: not running.
  [[nodiscard]] Status Step();
  // Takes milliseconds, however much was recorded, but waits for a dump in
  // progress. A second call does nothing. kInvalidArgument: never started.
  [[nodiscard]] Status Stop();

  // Writes the last complete recording as an `.opscope` file, atomically.
  // kInvalidArgument: there is none. kIo, kNotFound: the system refused; no partial
  // file stays.
  [[nodiscard]] Status Save(const std::string& path) const;

  // Writes the running recording now, open scopes included, while it goes on.
  // Returns the file's path. An empty path means Options::flight.path. Any thread.
  // Errors: as FlightRecorder::Dump.
  [[nodiscard]] Result<std::string> Dump(const std::string& path = {}) { return session_.flight().Dump(path); }
  // Paths of all dumps so far, in order. Any thread.
  std::vector<std::string> dumps() const { return session_.flight().files(); }

  // Events of the running recording, else of the last complete one; 0 without
  // either. recorded() + dropped() is the number of issued events.
  uint64_t recorded() const { return Counts().recorded; }
  uint64_t dropped() const { return Counts().dropped; }

  // kIdle before the first Start. `action` and `step` describe the current step;
  // the first step is 0.
  State state() const { return state_; }
  Action action() const { return action_; }
  int64_t step() const { return step_; }
  // Window of the last complete recording, for opscope_window_read. Null: none.
  // Valid until the next recording is complete.
  const Window* window() const { return complete_ != nullptr ? complete_->window() : nullptr; }

 private:
  WindowCounts Counts() const;
  Action ActionOf(int64_t step) const;
  Status StartNow();
  Status StepNow();
  Status StopNow();
  Status ApplyTransition(const TransitionPlan& plan, bool discard);
  Status OpenWindow();
  void CloseWindow(bool discard);
  void ReportMessages();
  void ReportFileWarning(const Recording& recording);
  void BeginStepRange();
  void EndStepRange();

  Options options_;
  State state_ = State::kIdle;
  Action action_ = Action::kNone;
  int64_t step_ = 0;
  Session session_;
  std::shared_ptr<Recording> running_;
  std::shared_ptr<Recording> complete_;
  bool is_ready_ = false;
  OpenScope* step_range_ = nullptr;
};

}  // namespace opscope
