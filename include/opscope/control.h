// Recording a running program on demand. Processes that were started with
// OPSCOPE_CONTROL=DIR, or by `opscope run --on-demand`, wait for requests in the
// folder DIR; these functions send them. docs/reference/control_protocol.md
// describes the folder and the messages.
//
//   opscope::Result<std::vector<opscope::ControlProcess>> all = opscope::ListProcesses("opscope-run");
//   opscope::Result<opscope::RecordReport> done = opscope::RecordOnDemand({.folder = "opscope-run", .steps = 5});
//
// DIR must belong to this user alone (mode 0700) and be no link; processes of other
// users never get a request. Processes on this machine get it through their sockets,
// those on other machines through a file in DIR, which they read once a second.
//
// Thread rule: any thread; each call is independent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opscope/result.h"

namespace opscope {

// Whether a process can be recorded.
enum class ControlState : uint8_t { kReady, kRecording, kUnavailable };

// A process of a folder.
struct ControlProcess {
  int64_t pid = 0;
  // As the process calls its machine; if it does not answer, as the name of its
  // socket has it.
  std::string host = {};
  // -1: unknown.
  int32_t rank = -1;
  // "torch", "paddle", "megengine"; "": unknown.
  std::string framework = {};
  // The step that it is in, from 0; 0: no step has ended. -1: unknown.
  int64_t last_step = -1;
  // Median length of its last steps; 0: unknown.
  int64_t step_ns = 0;
  ControlState state = ControlState::kUnavailable;
  // Why it cannot be recorded now; "": it can.
  std::string why_not = {};
};

// Asks all processes of a folder, for at most a few seconds. Ordered by rank, host
// and pid. Removes the sockets of processes of this machine that are gone; they are
// listed once more. kNotFound: no such folder. kInvalidArgument: it is not of this
// user alone.
[[nodiscard]] Result<std::vector<ControlProcess>> ListProcesses(const std::string& folder);

// What became of the window of one process.
enum class WindowStatus : uint8_t {
  // The file has all steps.
  kComplete,
  kFailed,
  // The process was past the first step when the request reached it. It recorded
  // nothing.
  kLate,
};

// Which processes record, and how many steps.
struct RecordOptions {
  std::string folder;
  // This process of this machine alone; nullopt: all ranks.
  std::optional<int64_t> pid = {};
  // These ranks; empty: all.
  std::vector<int32_t> ranks = {};
  // From 1 to kMaxWindowSteps.
  int64_t steps = 1;
};

inline constexpr int64_t kMaxWindowSteps = 100;

// One process, or a rank that has none.
struct RecordedProcess {
  // -1: unknown.
  int32_t rank = -1;
  // "": there is no process of this rank.
  std::string host = {};
  // 0: there is no process of this rank.
  int64_t pid = 0;
  WindowStatus status = WindowStatus::kFailed;
  // Path; "": no file was written. A failed window may have a file, with a part of the steps.
  std::string file = {};
  // "": complete.
  std::string why_not = {};
};

// The result of RecordOnDemand.
struct RecordReport {
  // Number of the request, as control.log has it.
  std::string request;
  // The step at which all begin; nullopt: no process could begin.
  std::optional<int64_t> first_step;
  // Ordered by rank, host and pid.
  std::vector<RecordedProcess> rows;
};

// Lets the processes record the same steps and waits until their files are complete:
// for the begin at most 60 s or four steps, for the window at most 60 s. Of the
// processes of a rank those that make steps record; processes without a rank record if no
// process has a rank. A process of this machine that does not answer has failed. Errors
// as ListProcesses; kNotFound: there is no process.
[[nodiscard]] Result<RecordReport> RecordOnDemand(const RecordOptions& options);

}  // namespace opscope
