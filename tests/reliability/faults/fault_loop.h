// Runs a job repeatedly, each time in a child process, with the first, second, third, ... call of a kind failing, until
// a run ends without reaching the failing call. Then every place where such a call can fail has been tested. (SQLite
// tests its out-of-memory handling in this way.)
//
// Thread rule: one thread at a time, in a process that has no other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "faults.h"

namespace faults {

// Passed to the job: calls between Begin and End can fail.
class Trial {
 public:
  explicit Trial(const Fault& fault, uint64_t at) : fault_(fault), at_(at) {}
  void Begin() { Arm(fault_, at_); }
  void End() { calls_ += Disarm(); }
  // Whether the call has failed; until then the job must succeed.
  bool failed() const { return at_ != 0 && calls_ >= at_; }
  Call call() const { return fault_.call; }
  int number() const { return fault_.number; }
  // A fault that the caller must handle itself by repeating or continuing: EINTR, or a partial write.
  bool is_harmless() const { return fault_.number == 0 || fault_.number == EINTR; }

 private:
  Fault fault_;
  uint64_t at_;
  uint64_t calls_ = 0;
};

// Returns what it found wrong; empty: all its claims hold.
using Job = std::function<std::string(Trial* trial)>;

struct Report {
  uint64_t points = 0;  // places that failed
  std::string wrong;    // "call 7: ..." of the first places where claims did not hold
  bool is_good() const { return wrong.empty() && points > 0; }
};

// Fails each place in turn. A crash, a hang (20 s) and a leak (with a leak sanitizer) count as wrong. Beyond the first
// 40 places only a share of them is tried, unless OPSCOPE_SOAK=1. FAULT_AT=7 tries the seventh place alone, in this
// process, for a debugger.
Report FailEach(const Fault& fault, const Job& job);

// Runs the job in a child process without a fault, for setup that must not change the state of this process.
std::string RunInChildProcess(const Job& job);

}  // namespace faults
