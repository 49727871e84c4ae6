// What every call of the library goes through: its faults by the scenario, the rules that hold for all functions, the
// count, the log, and the one lock.
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
void Change(std::string_view scenario);  // forgets nothing but which call of a function is the next one's number

// A rule was broken, by a call of `where`.
void Violation(std::string_view rule, std::string_view where);
std::uint64_t Violations();
std::string ViolationText();

// A function of the library, one static per function.
class Function {
 public:
  // `logged`: not one that is called per record or per range. `in_callback`: CUPTI allows it in a buffer callback.
  enum Traits : unsigned { kPlain = 0, kQuiet = 1, kInCallback = 2, kWithoutDriver = 4 };
  explicit Function(const char* name, unsigned traits = kPlain);
  const char* name;
  unsigned traits;
  std::atomic<std::uint64_t> calls{0};
};
std::uint64_t CallsOf(std::string_view function);
std::string CallLog();
// A call of a function of another library, which is known by its name alone: its code by the scenario, or 0.
std::uint32_t CalledBeside(const char* function);
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
  // Lets others in for a while.
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

// One call: `refused` says that `result` is the answer already. Counts the call; hangs where the scenario says so.
class Call {
 public:
  explicit Call(Function& function, std::int64_t argument = -1);
  bool refused = false;
  cupti::Result result = cupti::Result::kSuccess;
  // Logs and hands the result on.
  cupti::Result Return(cupti::Result answer);

 private:
  void Refuse(cupti::Result code);
  Function& function_;
  std::int64_t argument_;
};

}  // namespace fake
