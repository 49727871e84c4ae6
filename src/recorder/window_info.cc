// SPDX-License-Identifier: Apache-2.0
#include "recorder/window_info.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/text.h"

namespace opscope {
namespace {

void AppendMember(std::string* out, std::string_view key, uint64_t value) {
  out->append(",\"").append(key).append("\":");
  AppendUint(out, value);
}

void AppendMember(std::string* out, std::string_view key, std::string_view text) {
  out->append(",\"").append(key).append("\":");
  AppendJsonString(out, text);
}

std::string_view TextOf(const char* text, size_t capacity) {
  return {text, strnlen(text, capacity)};
}

void AppendThread(std::string* out, const StreamState& state) {
  out->append("{\"index\":");
  AppendUint(out, state.thread_index);
  AppendMember(out, "os_thread", state.os_thread);
  AppendMember(out, "logical_thread", state.logical_thread);
  AppendMember(out, "name", TextOf(state.thread_name, sizeof(state.thread_name)));
  AppendMember(out, "recorded", state.recorded);
  AppendMember(out, "dropped", state.dropped);
  AppendMember(out, "chunks", state.chunks.size());
  out->push_back('}');
}

void AppendCalibrations(std::string* out, const GrowingArray<Calibration>& calibrations) {
  out->append(",\"calibrations\":[");
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

void AppendThreads(std::string* out, const Window& window) {
  out->append(",\"threads\":[");
  const size_t count = window.detached ? 0 : window.streams.size();
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) out->push_back(',');
    AppendThread(out, *window.streams[i]);
  }
  out->push_back(']');
}

// REQUIRES: window->mutex is held.
std::string InfoText(const Window& window) {
  std::string out = "{\"abi\":";
  AppendUint(&out, kRecorderAbi);
  AppendMember(&out, "pid", registry.process);
  AppendMember(&out, "process_name", TextOf(window.process_name, sizeof(window.process_name)));
  AppendMember(&out, "generation", window.generation);
  out.append(opscope_clock_is_slow == 0 ? ",\"tsc\":true" : ",\"tsc\":false");
  AppendMember(&out, "max_bytes", window.max_bytes);
  AppendMember(&out, "at_cap", window.at_cap == AtCap::kStop ? "stop" : "keep_newest");
  AppendMember(&out, "broken_invariants", registry.broken_invariants.load(std::memory_order_relaxed));
  if (window.detached) out.append(",\"detached\":true");
  AppendCalibrations(&out, window.calibrations);
  AppendThreads(&out, window);
  out.append(",\"metadata\":{").append(window.metadata.begin(), window.metadata.size()).append("}}");
  return out;
}

}  // namespace

void ReadProcessName(Window* window) {
  const int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t size = read(file, window->process_name, sizeof(window->process_name));
  close(file);
  if (size > 0) window->process_name[size - 1] = '\0';  // the last byte is a newline
}

std::string_view WriteWindowInfo(Window* window) {
  std::lock_guard<std::mutex> lock(window->mutex);
  try {
    const std::string text = InfoText(*window);
    char* kept = static_cast<char*>(std::malloc(text.size()));
    if (kept == nullptr || !window->info_texts.Push(kept)) {
      std::free(kept);
      return {};
    }
    std::memcpy(kept, text.data(), text.size());
    return {kept, text.size()};
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace opscope
