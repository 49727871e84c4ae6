// The command line as a function, so that the program without Python and the Python entry point are
// the same command.
//
// Thread rule: one call per process at a time; writes to standard output and standard error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "opscope/doctor.h"

namespace opscope {

// Asked by `opscope doctor` alone. May be empty: there is no host.
using AskHost = std::function<HostFacts()>;

// Runs `opscope ARGS...`; argv[0] is not looked at. Returns the exit code: 0 done, 1 could not do it,
// 2 wrong usage, 3 done in part. Never throws, never exits. Leaves signal handlers as they are: with
// SIGPIPE ignored, a closed pipe ends the output quietly with 0.
[[nodiscard]] int RunCli(int argc, const char* const* argv, const AskHost& ask_host = {});

// Draws on standard error, if that is a terminal, how far a long piece of work has come, with a bar and the time that
// it will still take: "opscope: WHAT [########............]  42 %, 3 s left", once it has lasted a second, four times a
// second; the line is wiped at the end. Silent with OPSCOPE_LOG=off.
class TerminalProgress {
 public:
  explicit TerminalProgress(const std::string& what,
                            std::chrono::milliseconds quiet_at_first = std::chrono::seconds(1));
  ~TerminalProgress();
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  // Total 0: nobody knows; `done` is shown as bytes.
  void Show(size_t done, size_t total);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  bool is_silent_;
  bool has_shown_ = false;
  Clock::time_point begin_;
  Clock::time_point next_;
};

}  // namespace opscope
