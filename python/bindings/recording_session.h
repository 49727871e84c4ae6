// One recording of the running process, as the Python front ends hold it: a window of the recorder,
// the torch source that records into it, and, after stop, the Trace. The recording is imported at
// first use; its raw chunks are given back then. Dropped while running it stops and frees everything.
//
// After fork the child has a copy of the object but no recorder behind it: there every call does
// nothing and says so where it must answer; a Trace that was imported before the fork can be had.
//
// Thread rule: any thread; calls take turns. No call needs or takes the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kept_recording.h"
#include "opscope/flight_recorder.h"
#include "opscope/recorder.h"
#include "opscope/result.h"
#include "opscope/torch_source.h"
#include "opscope/trace.h"

namespace opscope::python {

struct RecordingOptions {
  uint64_t max_bytes = uint64_t{1} << 30;
  AtCap at_cap = AtCap::kStop;
  NativeThreads native_threads = NativeThreads::kAll;
  std::string record_to;                // path of a file that it lies in; empty: none
  std::string metadata_json;            // members of a JSON object
  uint32_t source_flags = 0;            // torch_source_flags
  const TorchSource* source = nullptr;  // null: native scopes only
  FlightRecorder* flight = nullptr;     // dumps this session while it runs; outlives it
};

class RecordingSession {
 public:
  explicit RecordingSession(RecordingOptions options) : options_(std::move(options)) {}
  ~RecordingSession();
  RecordingSession(const RecordingSession&) = delete;
  RecordingSession& operator=(const RecordingSession&) = delete;

  // A session records once. kInvalidArgument: it was started before; kUnsupported: the recorder or
  // the source has no room for one more, the message says which.
  Status Start();
  // Ends the recording; milliseconds at most. A second call does nothing. links_forward_to_backward: torch's switch.
  void Stop(bool links_forward_to_backward = true);
  bool is_running() const;
  // While paused no range of the source begins to be recorded; without effect unless it is running.
  void Pause(bool paused);
  // What record_to could not do: asked after the start (no file), and after the stop (the rest). Empty: nothing.
  std::string FileWarning() const;

  WindowCounts counts() const;
  // One member of the recording's metadata; `json` is its value. Kept until the recording is
  // imported; false after that.
  bool AddMetadata(std::string_view key, std::string_view json);
  // What more kinds of events cost (opscope_window_add_own_cost). False: it does not run.
  bool AddOwnCost(const std::string& members_json);

  // REQUIRES nothing: kInvalidArgument when it was not started or still runs.
  Result<std::shared_ptr<const Trace>> ReadTrace();

  // The recording as bytes, which the session keeps too; the window is given back. REQUIRES as ReadTrace, and that
  // ReadTrace was not called before the first call of this.
  Result<SharedRecording> Keep();

  // Of the recorder's window, for sources that write into it by themselves. 0 unless it is running.
  uint32_t slot() const;
  uint64_t generation() const;

 private:
  enum class State : uint8_t { kNew, kRunning, kStopped, kRead };

  bool is_in_child() const;
  void StopLocked();
  void FreeWindow();
  void ReportSourceFailures();
  void ReportTorchFacts();
  void ReportOperators();
  Status RefuseUnlessStopped() const;
  Result<std::shared_ptr<const Trace>> ImportWindow();

  const RecordingOptions options_;
  mutable std::mutex mutex_;
  std::string metadata_;           // added before the start
  std::atomic<pid_t> process_{0};  // that has started it; relaxed: read by others only after a fork
  State state_ = State::kNew;
  Window* window_ = nullptr;
  void* source_session_ = nullptr;
  uint64_t source_failures_ = 0;  // of the source before the start
  WindowCounts final_counts_;
  bool links_forward_to_backward_ = true;
  SharedRecording kept_;
  std::optional<Result<std::shared_ptr<const Trace>>> trace_;
  std::atomic<bool> is_imported_{false};  // trace_ is complete and stays; read without the mutex in a child
};

}  // namespace opscope::python
