// The checks that every function of the library makes first: the faults of the scenario, the rules that hold for all
// functions, the count and log of calls, and the library's one lock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "scenario.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {

// The scenario in force; the first use reads the environment.
const Scenario& Now();
void Restart(std::string_view scenario);
void Change(std::string_view scenario);  // keeps all state, but counts the calls of each function from 0 again

// Counts a violation of the rule by a call of the function `where`.
void Violation(std::string_view rule, std::string_view where);
std::uint64_t Violations();
std::string ViolationText();

// A function of the library, one static per function.
class Function {
 public:
  // kQuiet: not logged, because it is called per record or per range. kInCallback: CUPTI allows it in a buffer callback.
  // kWithoutDriver: it works without a driver.
  enum Traits : unsigned { kPlain = 0, kQuiet = 1, kInCallback = 2, kWithoutDriver = 4 };
  explicit Function(const char* name, unsigned traits = kPlain);
  const char* name;
  unsigned traits;
  std::atomic<std::uint64_t> calls{0};
};
std::uint64_t CallsOf(std::string_view function);
std::string CallLog();
// Counts a call of a function of another simulated library and applies the scenario's `hang` and `fail` to it. Returns
// the code of `fail`, or 0.
std::uint32_t CallElsewhere(const char* function);
void EndHangs();

// While a callback of the tool runs on this thread; the lock is held.
class InCallback {
 public:
  InCallback();
  ~InCallback();
};

// The library's lock, which callbacks are called under.
class Locked {
 public:
  explicit Locked(const char* where);
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  // Releases the lock while `wait` runs.
  template <class Wait>
  void Without(Wait&& wait) {
    Unlock();
    wait();
    Lock(where_);
  }

 private:
  void Lock(const char* where);
  void Unlock();
  const char* where_;
  bool holds_ = false;
};

// One call. The constructor counts it and applies the faults of the scenario. If `refused`, the function must return
// `result` at once.
class Call {
 public:
  explicit Call(Function& function, std::int64_t argument = -1);
  bool refused = false;
  cupti::Result result = cupti::Result::kSuccess;
  // Logs the call with its result, which it returns.
  cupti::Result Return(cupti::Result answer);

 private:
  void Refuse(cupti::Result code);
  Function& function_;
  std::int64_t argument_;
};

}  // namespace fake
