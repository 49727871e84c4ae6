// What on this machine can be profiled, and what is missing: facts, and their two layouts.
//
// Thread rule: plain values, pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace opscope {

inline constexpr uint64_t kUnlimited = ~uint64_t{0};

// What the program finds by itself.
struct MachineFacts {
  std::string opscope_version;
  std::string built_with;  // compiler
  uint32_t recorder_abi = 0;

  bool clock_is_tsc = false;  // else a clock_gettime at every event
  bool tsc_is_invariant = false;
  double ticks_per_second = 0;
  double clock_read_ns = 0;  // measured now
  std::string kernel_clock;  // its clock source; empty: unknown

  uint32_t processors = 0;                    // that this process may use
  uint64_t memory_bytes = 0;                  // installed
  uint64_t memory_limit_bytes = kUnlimited;   // of the control group
  uint64_t locked_memory_bytes = kUnlimited;  // RLIMIT_MEMLOCK
  uint64_t file_size_bytes = kUnlimited;      // RLIMIT_FSIZE: how large a recording may grow
  uint64_t open_files = kUnlimited;           // RLIMIT_NOFILE
  std::string folder;                         // the working directory
  uint64_t folder_free_bytes = 0;
  bool folder_is_writable = false;

  std::string perf_event_paranoid;  // the setting's text; empty: this kernel has no perf events
  bool perf_counters = false;       // this process can open a hardware counter
  uint32_t nvidia_gpus = 0;
  std::string cupti;  // the library's path; empty: not found
  // What it says itself, where the host has asked it.
  uint32_t cupti_version = 0;  // of its interface, 130001 for CUDA 13.0
  bool cuda_can_be_recorded = false;
  std::string cuda_detail = "CUDA is not recorded: this program does not ask CUPTI";  // why not; "": it can be
};

// One framework that Python could import.
struct HostFramework {
  std::string name;
  std::string version;
  std::string adapter;     // "prebuilt", "cached", "compile" (at its first use), "none": it cannot be profiled
  std::string detail;      // the adapter's path, or why there is none
  std::string install;     // a line that removes the obstacle; may be empty
  bool was_tried = false;  // a self-test has recorded with this adapter
  std::vector<std::pair<std::string, std::string>> left_out = {};  // parts that do not fit, each with the reason
  std::string route = {};                                          // what its operators are recorded by; may be empty

  bool cannot_be_profiled() const { return adapter == "none"; }
  bool can_be_profiled() const { return !cannot_be_profiled() && was_tried; }
};

// What only the host of the command line knows: Python.
struct HostFacts {
  bool is_present = false;  // false: the program without Python
  std::string interpreter;  // "CPython 3.11.7"
  std::string executable;
  std::string package;           // folder of the Python package
  std::string compiler;          // its own first line; empty: none
  std::string compiler_install;  // what installs one
  std::string cache_folder;
  std::string cache_state;  // "private", "not there yet", or why it is refused
  uint64_t cache_adapters = 0;
  uint64_t cache_bytes = 0;
  std::vector<HostFramework> frameworks;
  bool has_asked_cupti = false;  // then these stand for the machine's
  std::string cupti;
  uint32_t cupti_version = 0;
  std::string cuda_detail;  // one line, why CUDA cannot be recorded; empty: it can be

  // Nothing that is installed is known to be out of reach.
  bool can_profile_everything() const {
    for (const HostFramework& framework : frameworks) {
      if (framework.cannot_be_profiled()) return false;
    }
    return true;
  }
  bool has_tried_everything() const {
    for (const HostFramework& framework : frameworks) {
      if (!framework.was_tried) return false;
    }
    return true;
  }
};

// Text for people.
[[nodiscard]] std::string FormatDoctor(const MachineFacts& machine, const HostFacts& host);
// "opscope.doctor/1". A limit that is not set is null.
[[nodiscard]] std::string DoctorJson(const MachineFacts& machine, const HostFacts& host);

}  // namespace opscope
