// What the command leaves behind when a signal ends it: nothing. SIGINT, SIGTERM and SIGHUP end it as they end any
// program, after the files that are not finished were taken away. What the caller ignores (nohup) or handles stays as
// it is.
//
// Thread rule: one object at a time; for the process that runs a command, not for a library in somebody else's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace opscope {

class CleanEndBySignal {
 public:
  CleanEndBySignal();
  ~CleanEndBySignal();
  CleanEndBySignal(const CleanEndBySignal&) = delete;
  CleanEndBySignal& operator=(const CleanEndBySignal&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  bool is_ours_[3] = {};
};

}  // namespace opscope
