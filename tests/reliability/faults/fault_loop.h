// Runs a job again and again, each time in a process of its own, with the first, second, third ... call of a
// kind failing, until it comes to its end without one: then every single place where the call can fail was
// seen to fail (SQLite tests itself so).
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

// Given to the job: what stands between Begin and End is tried.
class Trial {
 public:
  explicit Trial(const Fault& fault, uint64_t at) : fault_(fault), at_(at) {}
  void Begin() { Arm(fault_, at_); }
  void End() { calls_ += Disarm(); }
  // The call failed; before that nothing may go wrong.
  bool failed() const { return at_ != 0 && calls_ >= at_; }
  Call call() const { return fault_.call; }
  int number() const { return fault_.number; }
  // What a caller repeats or goes on with, and nobody else hears of.
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

// A crash, a hang (20 s) and a leak (where there is a leak sanitizer) are wrong too. OPSCOPE_SOAK=1: every
// place; else, beyond the first 40, a share of them. FAULT_AT=7: the seventh place alone, in this process.
Report FailEach(const Fault& fault, const Job& job);

// The job in a process of its own, with nothing failing: for what this process must not have done itself.
std::string RunApart(const Job& job);

}  // namespace faults
