// The state of the whole library: the current scenario, its injected errors and hangs, the log of calls, and the
// counted violations.
//
// Every entry point takes one timed lock. A tool that holds a lock of its own while it calls CUPTI, and needs the same
// lock in a callback, deadlocks rarely with the real library; here the wait for the lock ends after 3 s and is counted
// as the violation `deadlock`.
// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

namespace fake {
namespace {

// Never destroyed, because threads of the program may call until the process ends.
struct Rules {
  std::mutex mutex;  // of what follows; never held while anything else is called
  std::map<std::string, std::pair<std::uint64_t, std::string>, std::less<>> violations;
  std::vector<Function*> functions;
  std::string log;
  std::condition_variable hangs_end;
  std::uint64_t ended_hangs = 0;
  std::vector<std::unique_ptr<Scenario>> scenarios;  // all that there were: a thread may still be reading one
  std::atomic<const Scenario*> now{nullptr};
  std::timed_mutex library;
  pid_t process = getpid();
};

Rules& TheRules() {
  static Rules& rules = *new Rules;
  return rules;
}

thread_local int callbacks_here = 0;
thread_local int locks_here = 0;

constexpr std::size_t kMaxLogBytes = 1 << 20;
constexpr auto kDeadlockAfter = std::chrono::seconds(3);

// Whether a `fail` or `hang` applies to this call of the function.
template <class Rule>
bool Applies(const Rule& rule, const Function& function, std::uint64_t call) {
  return rule.function == function.name && rule.first <= call && call <= rule.last;
}

void HangFor(double seconds) {
  Rules& rules = TheRules();
  std::unique_lock lock(rules.mutex);
  const std::uint64_t ended = rules.ended_hangs;
  rules.hangs_end.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return rules.ended_hangs != ended; });
}

}  // namespace

const Scenario& Now() {
  Rules& rules = TheRules();
  if (const Scenario* scenario = rules.now.load(std::memory_order_acquire)) return *scenario;
  const char* text = std::getenv("OPSCOPE_FAKE_CUPTI");
  auto scenario = std::make_unique<Scenario>(ParseScenario(text == nullptr ? "" : text));
  const std::lock_guard lock(rules.mutex);
  if (rules.scenarios.empty()) {
    rules.scenarios.push_back(std::move(scenario));
    rules.now.store(rules.scenarios.back().get(), std::memory_order_release);
  }
  return *rules.scenarios.back();
}

namespace {

void SetScenario(std::unique_ptr<Scenario> scenario) {
  Rules& rules = TheRules();
  const std::lock_guard lock(rules.mutex);
  rules.scenarios.push_back(std::move(scenario));
  rules.now.store(rules.scenarios.back().get(), std::memory_order_release);
  for (Function* function : rules.functions)
    function->calls = 0;
}

}  // namespace

void Change(std::string_view text) {
  auto scenario = std::make_unique<Scenario>(ParseScenario(text));
  // The library's version does not change: buffers with its records exist.
  scenario->api = Now().api;
  scenario->longer = Now().longer;
  scenario->devices = Now().devices;
  SetScenario(std::move(scenario));
}

void Restart(std::string_view text) {
  SetScenario(std::make_unique<Scenario>(ParseScenario(text)));
  Rules& rules = TheRules();
  const std::lock_guard lock(rules.mutex);
  rules.violations.clear();
  rules.log.clear();
}

void Violation(std::string_view rule, std::string_view where) {
  Rules& rules = TheRules();
  const std::lock_guard lock(rules.mutex);
  auto& [count, last] = rules.violations[std::string(rule)];
  ++count;
  last = where;
}

std::uint64_t Violations() {
  Rules& rules = TheRules();
  const std::lock_guard lock(rules.mutex);
  std::uint64_t sum = 0;
  for (const auto& [rule, what] : rules.violations)
    sum += what.first;
  return sum;
}

std::string ViolationText() {
  Rules& rules = TheRules();
  const std::lock_guard lock(rules.mutex);
  std::string text;
  for (const auto& [rule, what] : rules.violations) {
    text += rule + " " + std::to_string(what.first) + ": " + what.second + "\n";
  }
  return text;
}

Function::Function(const char* its_name, unsigned its_traits) : name(its_name), traits(its_traits) {
  Rules& rules = TheRules();
  const std::lock_guard lock(rules.mutex);
  rules.functions.push_back(this);
}

std::uint64_t CallsOf(std::string_view function) {
  Rules& rules = TheRules();
  const std::lock_guard lock(rules.mutex);
  for (const Function* known : rules.functions) {
    if (known->name == function) return known->calls;
  }
  return 0;
}

std::uint32_t CallElsewhere(const char* name) {
  static std::mutex& mutex = *new std::mutex;
  static auto& functions = *new std::map<std::string, std::unique_ptr<Function>>;
  Function* function;
  {
    const std::lock_guard lock(mutex);
    auto entry = functions.try_emplace(name).first;
    if (entry->second == nullptr) entry->second = std::make_unique<Function>(entry->first.c_str());
    function = entry->second.get();
  }
  const std::uint64_t number = ++function->calls;
  for (const Hang& hang : Now().hangs) {
    if (Applies(hang, *function, number)) HangFor(hang.seconds);
  }
  for (const Failure& failure : Now().failures) {
    if (Applies(failure, *function, number)) return static_cast<std::uint32_t>(failure.code);
  }
  return 0;
}

std::string CallLog() {
  Rules& rules = TheRules();
  const std::lock_guard lock(rules.mutex);
  return rules.log;
}

void EndHangs() {
  Rules& rules = TheRules();
  const std::lock_guard lock(rules.mutex);
  ++rules.ended_hangs;
  rules.hangs_end.notify_all();
}

InCallback::InCallback() {
  ++callbacks_here;
}
InCallback::~InCallback() {
  --callbacks_here;
}

Locked::Locked(const char* where) : where_(where) {
  Lock(where);
}
Locked::~Locked() {
  Unlock();
}

void Locked::Lock(const char* where) {
  if (locks_here > 0) return;  // in a callback, which runs under it
  // The system clock, because GCC's thread sanitizer does not intercept waits by the steady clock.
  if (!TheRules().library.try_lock_until(std::chrono::system_clock::now() + kDeadlockAfter)) {
    Violation("deadlock", where);
    return;  // going on without the lock is no worse than the deadlock of the real library
  }
  holds_ = true;
  ++locks_here;
}

void Locked::Unlock() {
  if (!holds_) return;
  holds_ = false;
  --locks_here;
  TheRules().library.unlock();
}

Call::Call(Function& function, std::int64_t argument) : function_(function), argument_(argument) {
  const std::uint64_t number = function.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  const Scenario& scenario = Now();
  if (getpid() != TheRules().process) {
    Violation("forked", function.name);
    Refuse(cupti::Result::kUnknown);
    return;
  }
  if (callbacks_here > 0 && (function.traits & Function::kInCallback) == 0) {
    Violation("in_buffer_callback", function.name);
    Refuse(cupti::Result::kInvalidOperation);
    return;
  }
  for (const Hang& hang : scenario.hangs) {
    if (Applies(hang, function, number)) HangFor(hang.seconds);
  }
  for (const Failure& failure : scenario.failures) {
    if (failure.kind && *failure.kind != argument) continue;
    if (Applies(failure, function, number)) {
      Refuse(failure.code);
      return;
    }
  }
  if (!scenario.has_driver && (scenario.api >= 130500 || (function.traits & Function::kWithoutDriver) == 0)) {
    Refuse(scenario.api >= 130001 ? cupti::Result::kUnknown : cupti::Result::kNotInitialized);
  }
}

void Call::Refuse(cupti::Result code) {
  refused = true;
  result = Return(code);
}

cupti::Result Call::Return(cupti::Result answer) {
  if ((function_.traits & Function::kQuiet) == 0) {
    Rules& rules = TheRules();
    const std::lock_guard lock(rules.mutex);
    if (rules.log.size() < kMaxLogBytes) {
      rules.log += function_.name;
      rules.log += argument_ < 0 ? "()" : "(" + std::to_string(argument_) + ")";
      rules.log += "=" + std::to_string(static_cast<std::uint32_t>(answer)) + "\n";
    }
  }
  return answer;
}

}  // namespace fake
