// One life of a recording, whatever is recorded: a Session makes Recordings one after the other (the cycles of a
// profile) and has what they share: the flight recorder, the names of their files, the memory that they may hold
// together. A Recording is a window of the recorder and the sources that record into it; stopped, it is read as a
// Trace. opscope::Profiler (profiler.h) adds a schedule and steps; the front ends of Python add names and messages.
//
//   opscope::Session session;
//   std::shared_ptr<opscope::Recording> recording = session.Prepare({.sources = {{torch, flags}}});
//   OPSCOPE_TRY(recording->Start());
//   ...
//   recording->Stop();
//   opscope::Result<std::shared_ptr<const opscope::Trace>> trace = recording->ReadTrace();
//
// After fork the child has copies of the objects but no recorder behind them: there every call does nothing and says so
// where it must answer; a Trace that was read before the fork can be had.
//
// Thread rule: any thread; calls take turns. No call needs Python's GIL (a source of Python's calls takes it by
// itself).
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

struct RecordingOptions {
  uint64_t max_bytes = uint64_t{1} << 30;  // of records, names and arguments
  AtCap at_cap = AtCap::kStop;
  NativeThreads native_threads = NativeThreads::kAll;
  // A file that it lies in while it is made. To a Session: of its first recording, further ones go to NAME.2.EXTENSION
  // and so on; empty: what OPSCOPE_RECORD_TO of the environment says (record_to.h). To a Recording: as it is.
  std::string record_to = {};
  std::string metadata_json = {};       // members of a JSON object, kept in the recording
  std::vector<SourceUse> sources = {};  // started in this order, stopped in the other; none: native scopes alone
};

struct KeptRecording;  // the bytes of a recording that is over
using SharedRecording = std::shared_ptr<const KeptRecording>;

class Recording {
 public:
  using SharedTrace = std::shared_ptr<const Trace>;

  explicit Recording(RecordingOptions options);
  // Stops, and gives everything back.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // A recording records once. kInvalidArgument: it was started before; kUnsupported: the recorder or
  // a source has no room for one more, the message says which. Of a session that was not started the flight recorder
  // is on from here to Stop: errors as of Session::Start.
  [[nodiscard]] Status Start();
  // Ends it; milliseconds at most. A second call does nothing.
  void Stop();
  bool is_running() const;
  // It was stopped, or belongs to the process that this one was forked from.
  bool is_over() const;
  bool is_inherited() const;
  // While paused nothing begins to be recorded by sources that can pause, or by the one of this name (Source::name);
  // without effect unless it runs.
  void Pause(bool paused, std::string_view source = {});
  // What record_to could not do: asked after the start (no file), and after the stop (the rest). Empty: nothing.
  std::string FileWarning() const;

  WindowCounts counts() const;  // recorded + dropped = issued
  // One member of the recording's metadata; `json` is its value. Kept until the recording is read; false after that.
  bool AddMetadata(std::string_view key, std::string_view json);

  // Imports it, at the first call; its window is given back then. kInvalidArgument: it was not started, or still runs.
  Result<SharedTrace> ReadTrace();
  // The same of those before it that it adds up with (Session::Prepare), oldest first, and of itself when it is over.
  Result<SharedTrace> ReadAll();
  bool has_earlier() const;

  // Writes it as `.opscope`. kInvalidArgument: it is not over, or was read. kIo: the system's refusal; nothing
  // half-written stays.
  [[nodiscard]] Status Save(const std::string& path);

  // Of the recorder, for what records by itself: 0 unless it runs.
  uint32_t slot() const;
  uint64_t generation() const;
  // Null: not started, or read. Valid as long as this is and nobody reads it.
  const Window* window() const;

 private:
  friend class Session;
  struct Life;    // what it is by now, and its lock
  struct Shared;  // with the session that has prepared it, and its other recordings

  Result<std::vector<SharedRecording>> KeepAll();

  const std::unique_ptr<Life> life_;
};

class Session {
 public:
  explicit Session(FlightOptions flight = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // From here to Stop the session is this process's, and the flight recorder is on. kInvalidArgument: it was started
  // already, or the flight options make no sense; kUnsupported: the system refused a handler or a thread.
  [[nodiscard]] Status Start();
  void Stop();
  bool is_started() const;  // false in the child of a fork

  // Makes the next recording, which replaces the one before. adds_up: the one before, where it is over, and those that
  // it adds up with are kept as bytes, and all of them are one result (Recording::ReadAll) and share max_bytes. With
  // AtCap::kKeepNewest the oldest give way to the new one, their events counted as dropped.
  [[nodiscard]] Result<std::shared_ptr<Recording>> Prepare(RecordingOptions options, bool adds_up = false);
  void Forget();  // does not keep the newest recording any more

  FlightRecorder& flight() const;

 private:
  struct Newest;  // recording, and its lock

  void RenewInChild();

  const FlightOptions flight_options_;
  int process_;  // of the following
  std::shared_ptr<Recording::Shared> shared_;
  std::unique_ptr<Newest> newest_;
};

}  // namespace opscope
