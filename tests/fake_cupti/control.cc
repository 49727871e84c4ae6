// The functions by which a test controls the simulation: counters, log, and a restart with another scenario.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "buffers.h"
#include "calls.h"
#include "fake_cuda.h"
#include "fake_cupti.h"
#include "fake_program.h"
#include "gpu.h"
#include "rules.h"
#include "session.h"

namespace fake {
namespace {

void Begin() {
  const Locked lock("a scenario");
  ResetSession();
  ResetBuffers();
  ResetCalls();
  ResetGpu();
  ResetProgram();
  ResetGraphs();
  SetHolder(Now().holder);
}

// The scenario of the environment.
const bool has_begun = (Begin(), true);

const char* Keep(std::string text) {
  thread_local std::string kept;
  kept = std::move(text);
  return kept.c_str();
}

}  // namespace
}  // namespace fake

using namespace fake;

void fake_cupti_scenario(const char* scenario) {
  EndHangs();
  EndWorker();
  Restart(scenario);
  Begin();
}

void fake_cupti_change(const char* scenario) {
  Change(scenario);  // first, else what wakes up may hang again
  EndHangs();
}

std::uint64_t fake_cupti_violations() {
  return Violations();
}
const char* fake_cupti_violation_text() {
  return Keep(ViolationText());
}

std::uint64_t fake_cupti_issued(std::uint32_t kind) {
  return Issued(kind);
}
std::uint64_t fake_cupti_dropped(std::uint32_t kind) {
  return Dropped(kind);
}
std::uint64_t fake_cupti_handed_back(std::uint32_t kind) {
  return ReturnedCount(kind);
}

std::uint32_t fake_cupti_enabled_kinds() {
  const Locked lock("a test");
  return static_cast<std::uint32_t>(__builtin_popcountll(TheSession().tool_kinds));
}

std::uint32_t fake_cupti_subscribed() {
  const Locked lock("a test");
  return TheSession().has_subscribed ? 1 : 0;
}

std::uint32_t fake_cupti_buffers_held() {
  const Locked lock("a test");
  return BuffersHeld();
}

std::uint64_t fake_cupti_calls(const char* function) {
  return CallsOf(function);
}
const char* fake_cupti_log() {
  return Keep(CallLog());
}
std::uint64_t fake_cupti_callback_ns() {
  return CallbackTime();
}

void fake_cupti_holder(const char* state) {
  const Locked lock("the holder");
  SetHolder(ParseHolder(state));
}

std::uint64_t fake_cupti_holder_records() {
  return HolderRecords();
}
void fake_cupti_end_hangs() {
  EndHangs();
}
void fake_cupti_deliver_late() {
  DeliverLate();
}
std::uint32_t fake_cupti_called(const char* function) {
  return CallElsewhere(function);
}
void fake_cupti_violation(const char* rule, const char* function) {
  Violation(rule, function);
}

std::uint32_t fake_cuda_devices() {
  return Now().has_driver ? Now().devices : 0;
}

std::uint32_t fake_cuda_driver_version() {
  switch (Now().api) {
    case 18:
      return 12010;
    case 28:
      return 12090;
    default:
      return Now().api / 100 * 10;
  }
}

std::uint32_t fake_cuda_has_context() {
  const Locked lock("a test");
  return HasContext() ? 1 : 0;
}
