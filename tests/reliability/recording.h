// The opscope calls that the programs of this folder use; all of them are empty in the build without opscope
// (RELIABILITY_PLAIN). The tests compare the two builds of one source.
//
// Thread rule: StartRecording on one thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#ifndef RELIABILITY_PLAIN

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "opscope/profiler.h"

// "open": the window is open when the program ends. "stopped": it was stopped. "exporting": a thread of its
// own saves the recording again and again.
inline void StartRecording(const char* state) {
  static opscope::Profiler profiler({.max_bytes = uint64_t{64} << 20, .at_cap = opscope::AtCap::kKeepNewest});
  static std::atomic<bool> stop{false};
  static std::unique_ptr<opscope::Profiler> exported;
  if (std::strcmp(state, "exporting") == 0) {
    exported = std::make_unique<opscope::Profiler>();
    (void)exported->Start();
    for (int i = 0; i < 50000; ++i)
      OPSCOPE_SCOPE("before the end");
    (void)exported->Stop();
    std::thread([profiler = exported.release()] {
      const std::string name = "opscope_reliability_" + std::to_string(getpid()) + ".opscope";
      const std::string path = std::filesystem::temp_directory_path() / name;
      while (!stop) {
        (void)profiler->Save(path);
        unlink(path.c_str());
      }
    }).detach();
  }
  (void)profiler.Start();
  std::thread([] {
    while (!stop) {
      OPSCOPE_SCOPE("background");
      OPSCOPE_SCOPE("inner");
    }
  }).detach();
  {
    OPSCOPE_SCOPE("started");
  }
  if (std::strcmp(state, "stopped") == 0) (void)profiler.Stop();
}

#else

#define OPSCOPE_SCOPE(name) (void)(name)
inline void StartRecording(const char*) {
}

#endif
