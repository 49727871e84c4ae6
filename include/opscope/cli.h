// The command line as a function. The program without Python and the Python entry
// point both call it, so they are the same command.
//
//   int main(int argc, char** argv) { return opscope::RunCli(argc, argv); }
//
// Thread rule: one call per process at a time; writes to standard output and
// standard error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "opscope/doctor.h"
#include "opscope/job_engine.h"
#include "opscope/result.h"

namespace opscope {

// Where `opscope run` finds what it puts into the environment of a program.
struct LauncherFacts {
  // Folder of the sitecustomize that starts recordings; "": it was not found.
  std::string site_folder;
  // Folder that holds the package nanobind_backend.
  std::string backend_folder;
};

// What only the program around the command line knows, as Python does. An empty
// function: it is unknown.
struct CliHost {
  // The facts about Python, for `doctor`.
  std::function<HostFacts()> probe;
  // The file of the extension module of Python's package `duckdb`; "": it is not installed.
  // For the verbs that need SQL.
  std::function<std::string()> find_duckdb;
  // For `run`.
  std::function<LauncherFacts()> find_launcher;
  // Spark with the tables of a JOB, for `--engine spark`. `master`: where Spark is; "":
  // where its own settings say.
  std::function<Result<std::unique_ptr<JobEngine>>(const std::string& job, const std::string& master)> open_spark;
  // For `mcp`: answers questions about the files, by the Model Context Protocol on standard
  // input and output, until the input ends. Returns an exit code and prints its own errors.
  std::function<int(const std::vector<std::string>& files)> serve_mcp;
};

// Runs `opscope ARGS...`; ignores argv[0]. Returns the exit code: 0 done, 1 failed,
// 2 wrong usage, 3 done in part. Never throws, never exits; `run` does not return if it
// can replace the process by its command. Does not change signal handlers: with SIGPIPE
// ignored, a closed pipe ends the output quietly with 0.
[[nodiscard]] int RunCli(int argc, const char* const* argv, const CliHost& host = {});

// Shows the progress of a long operation on standard error, if that is a terminal:
// "opscope: WHAT [########............]  42 %, 3 s left". The bar appears after
// `quiet_at_first`, is redrawn four times a second, and is wiped by the destructor.
// Silent with OPSCOPE_LOG=off.
class TerminalProgress {
 public:
  // `what`: the operation, as the bar names it.
  explicit TerminalProgress(const std::string& what,
                            std::chrono::milliseconds quiet_at_first = std::chrono::seconds(1));
  // Wipes the line.
  ~TerminalProgress();
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  // Reports progress. total 0: unknown; `done` is then shown as bytes. Cheap: draws
  // at most every quarter of a second.
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
