// Writes the kWindowInfo block: JSON text, built member by member, because readers of all versions must
// understand it and it is written once per recording. src/wire/FORMAT.md lists the members. Three variants
// share the beginning:
//
//   final      after the close: final counts of every thread
//   live       at the beginning of a mapped file: no threads yet, but the rate of the clock, because a killed process
//              never writes the second calibration
//   dump       counts at the moment of a dump, with the reason for it
//
// A thread that takes its next chunk needs the window's mutex. So that mutex is held only to copy what threads may
// add meanwhile; the text is formatted from the copy, because formatting takes long and calls malloc.
//
// Nothing here throws: a failed allocation gives an empty text, and the caller reports that.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/window_info.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/json_object.h"
#include "base/signals_blocked.h"
#include "base/text.h"
#include "recorder/clock.h"
#include "recorder/overhead.h"
#include "recorder/system_file.h"

namespace opscope {
namespace {

// Copy of what any thread may add to a window, from one moment.
struct Additions {
  GrowingArray<Calibration> calibrations;
  GrowingArray<char> metadata;
  GrowingArray<char> overhead;
};

template <typename T>
bool CopyArray(const GrowingArray<T>& from, GrowingArray<T>* to) {
  return to->Append(from.begin(), from.size());
}

// False: an allocation failed.
bool CopyAdditions(Window* window, Additions* copy) {
  const SignalsBlocked blocked;  // a handler that records may need the mutex
  MutexLock lock(window->mutex);
  return CopyArray(window->calibrations, &copy->calibrations) && CopyArray(window->metadata, &copy->metadata) &&
         CopyArray(window->overhead, &copy->overhead);
}

std::string_view TextOf(const char* text, size_t capacity) {
  return {text, strnlen(text, capacity)};
}

void AppendThread(std::string* out, const ThreadFigures& thread) {
  JsonObject object(out);
  object.Uint("index", thread.index)
      .Uint("os_thread", thread.os_thread)
      .Uint("logical_thread", thread.logical_thread)
      .Text("name", TextOf(thread.name, sizeof(thread.name)))
      .Uint("recorded", thread.recorded)
      .Uint("dropped", thread.dropped)
      .Uint("chunks", thread.chunks);
  object.Close();
}

// Members for readers that put several recordings side by side: machine and clock.
void AppendMachine(std::string* out, const Window& window) {
  JsonMemberWriter members(out);
  if (window.boot != 0) {
    AppendHex(&members.Key("boot").append("\""), window.boot);
    out->push_back('"');
  }
  members.Key("wall_clock").append("[");
  AppendInt(out, window.wall_clock.monotonic_ns);
  out->push_back(',');
  AppendInt(out, window.wall_clock.unix_ns);
  out->push_back(',');
  AppendInt(out, window.wall_clock.within_ns);
  out->push_back(']');
}

void AppendCalibrations(std::string* out, const GrowingArray<Calibration>& calibrations) {
  JsonMemberWriter(out).Key("calibrations").append("[");
  for (size_t i = 0; i < calibrations.size(); ++i) {
    if (i != 0) out->push_back(',');
    out->push_back('[');
    AppendUint(out, calibrations[i].ticks);
    out->push_back(',');
    AppendInt(out, calibrations[i].unix_ns);
    out->push_back(']');
  }
  out->push_back(']');
}

// The window is closed: they are constant.
ThreadFigures FinalFigures(const StreamState& state) OPSCOPE_UNCHECKED_LOCKS {
  ThreadFigures thread = IdentityOf(state);
  thread.recorded = state.recorded;
  thread.dropped = state.dropped;
  thread.chunks = state.chunks.size();
  return thread;
}

void AppendFinalThreads(std::string* out, const Window& window) {
  const size_t count = window.detached ? 0 : window.streams.size();
  if (HasForgotten(window)) AppendThread(out, FiguresOfForgotten(window));
  for (size_t i = 0; i < count; ++i) {
    if (out->back() != '[') out->push_back(',');
    AppendThread(out, FinalFigures(*window.streams[i]));
  }
}

// The recorder's own measurements first, then those of the sources.
void AppendOverheads(std::string* out, const GrowingArray<char>& of_sources) {
  JsonMemberWriter(out).Key("own_cost");
  JsonObject object(out);
  AppendOverhead(out);
  object.Members({of_sources.begin(), of_sources.size()});
  object.Close();
}

// The members that all variants share. The caller closes the object.
std::string BeginInfo(const Window& window, const Additions& added) {
  std::string out;
  JsonObject object(&out);
  object.Uint("abi", kRecorderAbi).Uint("pid", registry.process);
  if (registry.parent.process != 0)
    object.Uint("parent_pid", registry.parent.process).Uint("parent_generation", registry.parent.generation);
  object.Text("process_name", TextOf(window.process_name, sizeof(window.process_name)))
      .Uint("generation", window.generation)
      .Json("tsc", opscope_clock_is_slow == 0 ? "true" : "false")
      .Uint("max_bytes", window.max_bytes)
      .Text("at_cap", window.at_cap == AtCap::kStop ? "stop" : "keep_newest")
      .Uint("broken_invariants", registry.broken_invariants.load(std::memory_order_relaxed));
  if (window.detached) object.Json("detached", "true");
  AppendMachine(&out, window);
  AppendOverheads(&out, added.overhead);
  AppendCalibrations(&out, added.calibrations);
  return out;
}

// A whole block: append_variant(&text) appends the members of the variant, and the array of threads up to its end.
// Empty: an allocation failed.
template <typename AppendVariant>
std::string InfoText(Window* window, const AppendVariant& append_variant) {
  Additions added;
  if (!CopyAdditions(window, &added)) return {};
  try {
    std::string text = BeginInfo(*window, added);
    append_variant(&text);
    text.append("],\"metadata\":{").append(added.metadata.begin(), added.metadata.size()).append("}}");
    return text;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

// The failure of record_to, if there was one.
void AppendFileFailure(const Window& window, std::string* out) {
  const FileFailure failure = window.file == nullptr ? window.refused : window.file->failure();
  if (failure.error == 0) return;
  char text[128] = "";
  JsonMemberWriter(out).Key("record_to");
  JsonObject object(out);
  object.Uint("errno", static_cast<uint64_t>(failure.error))
      .Text("error", TextOf(strerror_r(failure.error, text, sizeof(text)), sizeof(text)))
      .Text("step", failure.step)
      .Uint("chunks_left_out", window.left_out.load(std::memory_order_relaxed));
  object.Close();
}

}  // namespace

ThreadFigures FiguresOfForgotten(const Window& window) {
  ThreadFigures gone;
  gone.dropped = window.forgotten_dropped + window.dropped_without_stream.load(std::memory_order_relaxed);
  return gone;
}

bool HasForgotten(const Window& window) {
  return window.forgotten_threads != 0 || window.dropped_without_stream.load(std::memory_order_relaxed) != 0;
}

ThreadFigures IdentityOf(const StreamState& state) {
  ThreadFigures thread;
  thread.index = state.thread_index;
  thread.os_thread = state.os_thread;
  thread.logical_thread = state.logical_thread;
  std::memcpy(thread.name, state.thread_name, sizeof(thread.name));
  return thread;
}

void ReadProcessName(Window* window) {
  char buffer[sizeof(window->process_name)];
  CopyText(ReadSystemFile("/proc/self/comm", buffer), window->process_name, sizeof(window->process_name));
}

std::string_view WriteWindowInfo(Window* window) {
  const SignalsBlocked blocked;
  const std::string text = FileInfoText(window);
  if (text.empty()) return {};
  MutexLock lock(window->mutex);
  // The same again, for one file after another.
  if (!window->info_texts.empty() && text == window->info_texts.back()) return {window->info_texts.back(), text.size()};
  char* kept = static_cast<char*>(std::malloc(text.size() + 1));
  if (kept == nullptr || !window->info_texts.Push(kept)) {
    std::free(kept);
    return {};
  }
  std::memcpy(kept, text.c_str(), text.size() + 1);
  return {kept, text.size()};
}

std::string FileInfoText(Window* window) {
  return InfoText(window, [window](std::string* text) {
    AppendFileFailure(*window, text);
    text->append(",\"threads\":[");
    AppendFinalThreads(text, *window);
  });
}

std::string LiveInfoText(Window* window) {
  const Calibration rate = TickRate();
  return InfoText(window, [&rate](std::string* text) {
    text->append(",\"live\":true,\"rate\":[");
    AppendUint(text, rate.ticks);
    text->push_back(',');
    AppendInt(text, rate.unix_ns);
    text->append("],\"threads\":[");
  });
}

std::string DumpInfoText(Window* window, const ThreadFigures* threads, size_t count, std::string_view about_dump) {
  return InfoText(window, [=](std::string* text) {
    text->append(",\"dump\":{").append(about_dump).append("},\"threads\":[");
    for (size_t i = 0; i < count; ++i) {
      if (i != 0) text->push_back(',');
      AppendThread(text, threads[i]);
    }
  });
}

std::string AddedMetadataText(const Window& window, std::string_view members) {
  try {
    std::string text;
    JsonObject object(&text);
    object.Uint("pid", registry.process).Uint("generation", window.generation).Json("live", "true");
    object.Key("metadata").append("{").append(members).append("}");
    object.Close();
    return text;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

std::string AddedOverheadText(Window* window) {
  Additions added;
  if (!CopyAdditions(window, &added)) return {};
  try {
    return BeginInfo(*window, added).append(",\"live\":true}");
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace opscope
