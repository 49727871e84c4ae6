// A source records the events of one origin (a framework's operators, calls of
// Python, a device) into windows of the recorder. A session (session.h) starts,
// pauses and stops its sources and reports what they lost and what they cost.
//
// A source is a table of functions in a library of its own that is loaded at run
// time: its code may depend on the layouts of one version of a framework. Such a
// library exports `opscope_source`, which returns its table:
//
//   const opscope::Result<const opscope::Source*> torch = opscope::LoadSource("libopscope_torch_2_4.so");
//   const std::string_view flags[] = {"record_shapes"};
//   opscope::Result<opscope::SourceUse> use = opscope::UseSource(*torch.value(), flags);   // for RecordingOptions
//
// A source that needs objects before it can record (an extension module of Python)
// hands out tables that refer to them, as Python capsules named kSourceCapsule. A
// table lives until the process ends.
//
// Facts about a recording beside its events go into the window's metadata
// (opscope_window_add_metadata, window_facts.h), between `start` and the end of
// `stop`. A source that holds finished records (a device's buffers, another
// recorder) opens tracks for them (opscope_track_open). It may append to tracks of
// TrackEnd::kAtRead after the window's close, so that the program need not wait:
// from a thread of its own, or in `deliver`.
//
// Thread rule: any thread; calls for one session run one after the other. Nothing
// throws. The session calls no function with a lock that an event needs. No
// function needs Python's GIL; sources that belong to Python take it by themselves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "opscope/recorder_abi.h"
#include "opscope/result.h"

namespace opscope {

// Version of Source; a loader refuses a table of another one.
inline constexpr uint32_t kSourceAbi = 2;
// Name of Python capsules that hold a Source.
inline constexpr const char kSourceCapsule[] = "opscope.Source";

// Something that a source records only on request, by name: "record_shapes".
struct SourceFlag {
  const char* name = nullptr;
  uint32_t bit = 0;
};

// The interface of a source. A null function is an ability that the source does not
// have; start, stop and name are never null.
struct Source {
  uint32_t abi = kSourceAbi;
  uint32_t flag_count = 0;
  // "torch", "paddle", "python", ...; unique among the sources of a recording.
  const char* name = nullptr;
  // flag_count entries.
  const SourceFlag* flags = nullptr;

  // Starts recording into the open window, which stays open until `stop` has
  // returned. Returns the session, or null with a static sentence in *error.
  // `self`: this table, for sources with fields of their own behind it.
  void* (*start)(const Source* self, Window* window, uint32_t flags, const char** error) = nullptr;
  // Ends recording for this session on all threads before it returns. REQUIRES:
  // session is from start and was not stopped.
  void (*stop)(void* session) = nullptr;
  // While paused no event begins; open events end as usual. Null: the source cannot
  // pause.
  void (*pause)(void* session, bool paused) = nullptr;
  // The source's own number of the calling thread (WindowOptions::thread_number).
  // Null: it has none.
  uint64_t (*thread_number)() = nullptr;
  // Events, or parts of them, lost to faults since the library was loaded. A
  // recording reports by how much this grew while it ran. Null: the source does not
  // count.
  uint64_t (*failures)() = nullptr;
  // Cost of an event with these flags, as JSON members
  // (opscope_window_add_overheads); "" if it could not be measured. Valid until the
  // process ends. Called before the recording's window opens, because measuring may
  // open a window. Null: not measured.
  const char* (*overhead)(uint32_t flags) = nullptr;
  // Called once after `stop`: appends what the session still holds to its tracks,
  // closes them, and frees the session. Called before the window is first read or
  // freed; with a mapped file right after `stop`. Null: `stop` does all that.
  void (*deliver)(void* session) = nullptr;
};

// A source with the flags of one recording.
struct SourceUse {
  const Source* source = nullptr;
  uint32_t flags = 0;
};

// Looks up flags by name. kInvalidArgument: the source has no flag of this name;
// the message lists those it has.
[[nodiscard]] Result<SourceUse> UseSource(const Source& source, std::span<const std::string_view> flags = {});

// Loads the library of a source; it is never unloaded. kUnsupported: the loader's
// message, or the library exports no source, or one of another version of opscope.
[[nodiscard]] Result<const Source*> LoadSource(const std::string& library);

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::Source* opscope_source();
