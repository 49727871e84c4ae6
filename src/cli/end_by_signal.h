// Ends the command cleanly by signal: SIGINT, SIGTERM and SIGHUP remove unfinished files and then end the process as
// usual. Signals that the caller ignores (nohup) or handles are left alone.
//
// Thread rule: one object at a time. For the process of a command only, not for a library within a user's program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace opscope {

class TerminationHandlers {
 public:
  TerminationHandlers();
  ~TerminationHandlers();
  TerminationHandlers(const TerminationHandlers&) = delete;
  TerminationHandlers& operator=(const TerminationHandlers&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  bool is_ours_[3] = {};
};

}  // namespace opscope
