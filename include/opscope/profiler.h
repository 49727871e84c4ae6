// Records a program from C++: decides when, how much and which threads; scope.h (included here) is what
// the program says about itself meanwhile. Kept apart, because code that only annotates is everywhere
// and must not pay for <string> and <functional>.
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
// Thread rule: one thread at a time per Profiler (Dump: any). Several Profilers may record at once.
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

struct Options {
  uint64_t max_bytes = uint64_t{1} << 30;  // of records, names and arguments
  AtCap at_cap = AtCap::kStop;
  NativeThreads threads = NativeThreads::kAll;
  // The action of each step: a Schedule or any callable. None: everything from Start to Stop is
  // recorded. With one, each step is a range "ProfilerStep#N".
  std::function<Action(int64_t step)> schedule = {};
  // A recording is complete; called from Step or Stop. It may Save it.
  std::function<void(Profiler& profiler)> on_ready = {};
  // Sentences about a schedule that makes no sense, and about dumps that could not be written; called from
  // Step and Stop. The library itself prints nothing.
  std::function<void(std::string_view sentence)> on_warning = {};
  // A file that the recording lies in while it is made, so that it is there however the process ends, a kill
  // included. The second recording of a schedule goes to NAME.2.EXTENSION, and so on. What the file cannot
  // take (a full disk) is kept in memory and told to on_warning; the recording itself is complete either way.
  // Empty: OPSCOPE_RECORD_TO of the environment (docs/record_to.md), and without that in memory.
  std::string record_to = {};
  std::string metadata_json = {};  // members of a JSON object ("\"model\":\"resnet18\""), kept in the recording
  FlightOptions flight = {};       // dumps that happen by themselves, between Start and Stop
  // What records beside native scopes: a framework's operators, say (LoadSource, UseSource).
  std::vector<SourceUse> sources = {};
};

class Profiler {
 public:
  enum class State : uint8_t { kIdle, kRunning, kStopped };

  explicit Profiler(Options options = {});
  // Stops without calling on_ready, and frees the recording.
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Begins with the action of the current step (0 at first); after Stop it may be called again and
  // goes on with the same step. kInvalidArgument: running already, or a Schedule that is not valid.
  // kUnsupported: the recorder has no room for another recording.
  [[nodiscard]] Status Start();
  // Ends a step and begins the next one. kInvalidArgument: not running.
  [[nodiscard]] Status Step();
  // Takes milliseconds, however much was recorded, but waits for a dump that is under way. A second call does nothing.
  // kInvalidArgument: never started.
  [[nodiscard]] Status Stop();

  // Writes the last complete recording. kInvalidArgument: there is none. kIo: the system's refusal;
  // nothing half-written stays.
  [[nodiscard]] Status Save(const std::string& path) const;

  // Writes what is recorded now, with the scopes that are open, while the recording goes on; returns the name
  // of the file. An empty path is that of Options::flight. Any thread. Errors as of FlightRecorder::Dump.
  [[nodiscard]] Result<std::string> Dump(const std::string& path = {}) { return session_.flight().Dump(path); }
  // Files of all dumps so far, in order. Any thread.
  std::vector<std::string> dumps() const { return session_.flight().files(); }

  // Of the running recording, else of the last complete one. recorded + dropped = what was issued.
  uint64_t recorded() const { return Counts().recorded; }
  uint64_t dropped() const { return Counts().dropped; }

  State state() const { return state_; }
  Action action() const { return action_; }
  int64_t step() const { return step_; }
  // The last complete recording, null: none. Valid until the next one is complete (opscope_window_read).
  const Window* recording() const { return complete_ != nullptr ? complete_->window() : nullptr; }

 private:
  WindowCounts Counts() const;
  Action ActionOf(int64_t step) const;
  Status StartNow();
  Status StepNow();
  Status StopNow();
  Status Obey(const TransitionPlan& plan, bool throw_away);
  Status OpenWindow();
  void CloseWindow(bool throw_away);
  void TellMessages();
  void WarnOfFile(const Recording& recording);
  void BeginStepRange();
  void EndStepRange();

  Options options_;
  State state_ = State::kIdle;
  Action action_ = Action::kNone;
  int64_t step_ = 0;
  Session session_;
  std::shared_ptr<Recording> running_;
  std::shared_ptr<Recording> complete_;
  OpenScope* step_range_ = nullptr;
};

}  // namespace opscope
