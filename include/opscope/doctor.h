// What this machine can profile, and what is missing: facts, and their two layouts
// (`opscope doctor`). Facts of the machine come from the program itself, facts of
// Python and its frameworks from the host of the command line (cli.h).
//
//   MachineFacts machine;            // what the program found
//   HostFacts host;                  // is_present false: the program runs without Python
//   Print(FormatDoctor(machine, host));
//
// Thread rule: plain values, pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace opscope {

// A limit that is not set.
inline constexpr uint64_t kUnlimited = ~uint64_t{0};

// What the program finds by itself.
struct MachineFacts {
  std::string opscope_version;
  // Compiler and its version.
  std::string built_with;
  // kRecorderAbi of the recorder in this process.
  uint32_t recorder_abi = 0;

  // True: ReadTicks reads the TSC. False: every event calls clock_gettime.
  bool clock_is_tsc = false;
  // True if the processor says that its TSC runs at one rate in every power state.
  bool tsc_is_invariant = false;
  // Rate of the recorder's clock.
  double ticks_per_second = 0;
  // Cost of one clock read, measured now.
  double clock_read_ns = 0;
  // The kernel's clock source; empty: unknown.
  std::string kernel_clock;

  // Processors that this process may use.
  uint32_t processors = 0;
  // Installed memory.
  uint64_t memory_bytes = 0;
  // Memory limit of the control group, in bytes like the following limits.
  uint64_t memory_limit_bytes = kUnlimited;
  // RLIMIT_MEMLOCK.
  uint64_t locked_memory_bytes = kUnlimited;
  // RLIMIT_FSIZE: the largest recording that a file can take.
  uint64_t file_size_bytes = kUnlimited;
  // RLIMIT_NOFILE.
  uint64_t open_files = kUnlimited;
  // The working directory.
  std::string folder;
  uint64_t folder_free_bytes = 0;
  bool folder_is_writable = false;

  // Text of the setting; empty: this kernel has no perf events.
  std::string perf_event_paranoid;
  // True if this process can open a hardware counter.
  bool perf_counters = false;
  // Device files /dev/nvidia0, /dev/nvidia1, ...
  uint32_t nvidia_gpus = 0;
  // Path of the CUPTI library; empty: not found.
  std::string cupti;
  // Version of CUPTI's interface as it reports it (130001 for CUDA 13.0); 0: the
  // host did not ask CUPTI.
  uint32_t cupti_version = 0;
  bool cuda_can_be_recorded = false;
  // Why CUDA cannot be recorded; empty: it can.
  std::string cuda_detail = "CUDA is not recorded: this program does not ask CUPTI";
};

// A framework that Python could import.
struct HostFramework {
  // "torch", "paddle", "megengine", ...
  std::string name;
  std::string version;
  // "prebuilt", "cached", "compile" (at its first use), or "none": it cannot be
  // profiled.
  std::string adapter;
  // Path of the adapter, or why there is none.
  std::string detail;
  // A command that removes the obstacle; may be empty.
  std::string install;
  // True if a self-test has recorded with this adapter.
  bool was_tried = false;
  // Parts that do not fit this framework, each with the reason.
  std::vector<std::pair<std::string, std::string>> left_out = {};
  // How its operators are recorded; may be empty.
  std::string route = {};

  bool cannot_be_profiled() const { return adapter == "none"; }
  bool can_be_profiled() const { return !cannot_be_profiled() && was_tried; }
};

// An optional part of the Python package, which `pip install 'opscope[NAME]'` brings.
struct HostExtra {
  // "sql", "spark", ...
  std::string name;
  // What it is for, as a phrase: "opscope query, files of Parquet".
  std::string purpose;
  // What of it is installed, each with its version.
  std::vector<std::pair<std::string, std::string>> installed = {};
  // What is not installed; empty: the extra can be used.
  std::vector<std::string> missing = {};
  // A command that installs what is missing.
  std::string install = {};
};

// What only the host of the command line knows: Python.
struct HostFacts {
  // False: the program runs without Python.
  bool is_present = false;
  // "CPython 3.11.7".
  std::string interpreter;
  // Path of the interpreter.
  std::string executable;
  // Folder of the Python package.
  std::string package;
  // First line of its --version; empty: no compiler was found.
  std::string compiler;
  // A command that installs a compiler.
  std::string compiler_install;
  // Folder of compiled adapters.
  std::string cache_folder;
  // "private", "not there yet", or why opscope does not use it.
  std::string cache_state;
  // Adapters in that folder, and their size.
  uint64_t cache_adapters = 0;
  uint64_t cache_bytes = 0;
  // Every framework that opscope knows and this Python can import.
  std::vector<HostFramework> frameworks;
  // Every extra of the package. A missing one is no obstacle to profiling.
  std::vector<HostExtra> extras = {};
  // True: the following three replace those of MachineFacts.
  bool has_probed_cupti = false;
  std::string cupti;
  uint32_t cupti_version = 0;
  // One line, why CUDA cannot be recorded; empty: it can.
  std::string cuda_detail;

  // True if no installed framework is known to be out of reach.
  bool can_profile_everything() const {
    for (const HostFramework& framework : frameworks) {
      if (framework.cannot_be_profiled()) return false;
    }
    return true;
  }
  // True if a self-test has run for every framework.
  bool has_tried_everything() const {
    for (const HostFramework& framework : frameworks) {
      if (!framework.was_tried) return false;
    }
    return true;
  }
};

// Text for people.
[[nodiscard]] std::string FormatDoctor(const MachineFacts& machine, const HostFacts& host);
// JSON of type "opscope.doctor/1". A limit that is not set is null.
[[nodiscard]] std::string DoctorJson(const MachineFacts& machine, const HostFacts& host);

}  // namespace opscope
