// One profile of a program, whatever it records. A Session makes Recordings one
// after the other (the cycles of one profile) and has what they share: the flight
// recorder, the names of their files, the memory they may use together. A Recording
// is a window of the recorder with the sources that record into it; once stopped it
// is read as a Trace. opscope::Profiler (profiler.h) adds a schedule and steps; the
// Python front ends add names and messages.
//
//   opscope::Session session;
//   auto recording = session.Prepare({.sources = {{torch, flags}}});   // a Result
//   OPSCOPE_TRY(recording.value()->Start());
//   ...
//   recording.value()->Stop();
//   opscope::Result<std::shared_ptr<const opscope::Trace>> trace = recording.value()->ReadTrace();
//
// States of a Recording: new -> running -> stopped -> read. It records once.
//
// After fork the child has copies of the objects without a recorder behind them.
// There every call does nothing, or returns kInvalidArgument; a Trace that was read
// before the fork stays readable.
//
// Thread rule: any thread; calls on one object run one after the other. No call
// needs Python's GIL (a source of Python's calls takes it by itself).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/flight_recorder.h"
#include "opscope/recorder.h"
#include "opscope/result.h"
#include "opscope/source.h"
#include "opscope/trace.h"

namespace opscope {

// Options of one recording. The defaults record native scopes of all threads into
// memory.
struct RecordingOptions {
  // Cap in bytes for records, names and arguments together.
  uint64_t max_bytes = uint64_t{1} << 30;
  AtCap at_cap = AtCap::kStop;
  NativeThreads native_threads = NativeThreads::kAll;
  // Path of a file in which the recording lies while it is made. For
  // Session::Prepare: the path of its first recording; later ones get
  // NAME.2.EXTENSION and so on; empty: OPSCOPE_RECORD_TO of the environment decides
  // (record_to.h). For a Recording without a session: the path itself.
  std::string record_to = {};
  // Members of a JSON object that the recording carries.
  std::string metadata_json = {};
  // Started in this order, stopped in reverse. Empty: native scopes alone.
  std::vector<SourceUse> sources = {};
};

// The bytes of a finished recording; immutable.
struct RetainedRecording;
using SharedRecording = std::shared_ptr<const RetainedRecording>;

// One window and its sources.
class Recording {
 public:
  using SharedTrace = std::shared_ptr<const Trace>;

  explicit Recording(RecordingOptions options);
  // Stops, and frees all memory.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Opens the window and starts the sources. kInvalidArgument: it was started
  // before, or metadata_json is not members of a JSON object. kUnsupported: the
  // recorder or a source cannot record one more window; the message says which. If
  // its session was not started, the flight recorder runs from here to Stop; its
  // errors are those of Session::Start.
  [[nodiscard]] Status Start();
  // Stops the sources and closes the window; milliseconds. A second call does
  // nothing.
  void Stop();
  bool is_running() const;
  // True once it was stopped, and in a forked child.
  bool is_over() const;
  // True in a child that was forked after Start.
  bool is_inherited() const;
  // Pauses or resumes all sources that can pause, or the one with this name
  // (Source::name). While paused they begin no events; open ones end as usual.
  // Without effect unless it is running.
  void Pause(bool paused, std::string_view source = {});
  // A sentence about what record_to could not do, "" if nothing. Call it after
  // Start (the file could not be created) and after Stop (it could not take
  // everything).
  std::string FileWarning() const;

  // Counts so far, final once it is over. recorded + dropped = issued.
  WindowCounts counts() const;
  // Adds one member to the recording's metadata; `json` is its value. False if the
  // recording was read already, or `json` is no JSON value.
  bool AddMetadata(std::string_view key, std::string_view json);

  // Imports the recording at the first call and frees its window; later calls
  // return the same Trace. O(events) once. kInvalidArgument: it was not started, or
  // is running.
  Result<SharedTrace> ReadTrace();
  // One Trace of the earlier recordings that this one adds up with
  // (Session::Prepare), oldest first, and of this one if it is over.
  Result<SharedTrace> ReadAll();
  // True if ReadAll has more than this recording.
  bool has_earlier() const;

  // Writes it as an `.opscope` file, atomically. kInvalidArgument: it is not over,
  // or was read. kIo, kNotFound: the system refused; no partial file stays.
  [[nodiscard]] Status Save(const std::string& path);

  // Slot and generation of its window, for callers that record into it directly. 0
  // unless it is running.
  uint32_t slot() const;
  uint64_t generation() const;
  // Its window. Null if it was not started, or was read. Valid until the next call
  // that reads or destroys it.
  const Window* window() const;

 private:
  friend class Session;
  // State and its lock (src/session).
  struct State;
  // What the recordings of one session share.
  struct Shared;

  Result<std::vector<SharedRecording>> RetainAll();

  const std::unique_ptr<State> state_;
};

// Makes recordings one after the other.
class Session {
 public:
  explicit Session(FlightOptions flight = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Marks the session as started by this process and starts the flight recorder.
  // kInvalidArgument: it was started already, or the flight options make no sense.
  // kUnsupported: the system refused a signal handler or a thread.
  [[nodiscard]] Status Start();
  void Stop();
  // False before Start, after Stop, and in a forked child.
  bool is_started() const;

  // Makes the next recording, which replaces the previous one. With `adds_up`, and
  // if the previous one is over, the session keeps its bytes: all such recordings
  // are one result (Recording::ReadAll) and share max_bytes. Under
  // AtCap::kKeepNewest the oldest ones make room for the new one; their events
  // count as dropped. kOutOfMemory: the bytes could not be kept.
  [[nodiscard]] Result<std::shared_ptr<Recording>> Prepare(RecordingOptions options, bool adds_up = false);
  // Drops the session's reference to the newest recording.
  void Forget();

  // The flight recorder of this session.
  FlightRecorder& flight() const;

 private:
  // The newest recording and its lock.
  struct Newest;

  void ReinitAfterFork();

  const FlightOptions flight_options_;
  // Process that the following members belong to.
  int process_;
  std::shared_ptr<Recording::Shared> shared_;
  std::unique_ptr<Newest> newest_;
};

}  // namespace opscope
