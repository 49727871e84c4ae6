// A source: what records the events of one origin (a framework's operators, calls of Python, a device) into windows of
// the recorder. A session (session.h) starts, pauses and stops its sources, and tells what they lost and what they
// cost.
//
// A source is a table of functions, because it comes from a library of its own that is loaded at run time: its code may
// depend on the layouts of one version of a framework. Such a library exports
//
//   opscope_source   which returns its table
//
// or, where it must be told of objects before it can record (a source that is an extension module of Python), gives
// tables that know of them; those of Python as capsules named kSourceCapsule. A table lives for ever.
//
// What a source knows of its recording beside its events (facts) it adds to the window's metadata by itself
// (opscope_window_add_metadata, window_facts.h), from `start` on and at the latest in `stop`. One that holds records
// when they are finished already (a device's buffers, another recorder) opens tracks for them (opscope_track_open), and
// may append to those of TrackEnd::kAtRead after the window's close, so that the program need not wait for it: from a
// thread of its own, or when it is asked to (`deliver`).
//
// Thread rule: any thread; calls for one session take turns. Nothing throws. No function is called with a lock that an
// event needs, and none needs Python's GIL but those of sources that are Python's own, which take it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "opscope/recorder_abi.h"
#include "opscope/result.h"

namespace opscope {

inline constexpr uint32_t kSourceAbi = 2;
inline constexpr const char kSourceCapsule[] = "opscope.Source";

// Something that a source records only when it is asked to.
struct SourceFlag {
  const char* name = nullptr;
  uint32_t bit = 0;
};

struct Source {
  uint32_t abi = kSourceAbi;
  uint32_t flag_count = 0;
  const char* name = nullptr;  // "torch"
  const SourceFlag* flags = nullptr;

  // Records into the open window from now on. Null with a static sentence in *error where it cannot. The window is
  // closed after `stop` and stays until then. `self`: this table, for sources that have fields of their own behind it.
  void* (*start)(const Source* self, Window* window, uint32_t flags, const char** error) = nullptr;
  // Nothing is recorded for this session any more, on no thread. REQUIRES: session is from start and was not stopped.
  void (*stop)(void* session) = nullptr;
  // While paused nothing begins to be recorded; what is open ends as ever. Null: it cannot pause.
  void (*pause)(void* session, bool paused) = nullptr;
  // The source's own number of the calling thread (WindowOptions::thread_number). Null: it has none.
  uint64_t (*thread_number)() = nullptr;
  // Events, or parts of them, that were lost to a fault since the library was loaded: what it grows by while a
  // recording runs is told there. Null: it counts none.
  uint64_t (*failures)() = nullptr;
  // What an event costs with these flags (opscope_window_add_own_cost), "" when that could not be measured. Valid for
  // ever; asked before the recording's window opens, for it may open one of its own. Null: nobody knows.
  const char* (*own_cost)(uint32_t flags) = nullptr;
  // After `stop`, once: appends what the session still holds to its tracks, closes them, and lets go of the session,
  // which lives until then. Asked before the window is first read, or freed without that; where it has a mapped file,
  // right after `stop`. Null: `stop` does all that.
  void (*deliver)(void* session) = nullptr;
};

// A source and what is asked of it.
struct SourceUse {
  const Source* source = nullptr;
  uint32_t flags = 0;
};

// kInvalidArgument: the source has no flag of this name; the sentence lists those it has.
[[nodiscard]] Result<SourceUse> UseSource(const Source& source, std::span<const std::string_view> flags = {});

// Loads the library of a source, which stays in the process. kUnsupported: the loader's own sentence, or the library
// exports no source, or one of another version of opscope.
[[nodiscard]] Result<const Source*> LoadSource(const std::string& library);

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::Source* opscope_source();
