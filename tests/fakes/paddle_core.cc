// The part of Paddle's libphi_core.so that the Paddle source hooks, for machines without Paddle; paddle_python.cc is the
// libpaddle.so beside it. An "operator" makes the ranges and reports the memory that a real one does. There is no
// RecordOpInfoSupplement, so that the source's part for shapes does not fit.
// SPDX-License-Identifier: Apache-2.0
#include "fakes/paddle_core.h"

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace fake_paddle {

// Paddle's names. Calls go through GOT entries, as those of the real library do.
void BeginStatic(Range* range, const char* name, uint32_t type, uint32_t level,
                 uint32_t role) __asm__("_ZN3phi11RecordEventC1EPKcNS_15TracerEventTypeEjNS_9EventRoleE");
void BeginCopied(Range* range, const std::string& name, uint32_t type, uint32_t level, uint32_t role) __asm__(
    "_ZN3phi11RecordEventC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEENS_15TracerEventTypeEjNS_"
    "9EventRoleE");
void End(Range* range) __asm__("_ZN3phi11RecordEvent3EndEv");
bool IsEnabled() __asm__("_ZN3phi11RecordEvent9IsEnabledEv");
void ReportMemory(void* self, const void* block, const Place& place, size_t bytes, uint32_t event) __asm__(
    "_ZN6paddle8platform14RecordMemEventC1EPKvRKN3phi5PlaceEmNS4_18TracerMemEventTypeE");
void EnableRecorder() __asm__("_ZN6paddle8platform23EnableHostEventRecorderEv");
void DisableRecorder() __asm__("_ZN6paddle8platform24DisableHostEventRecorderEv");

#define PADDLE_DATA __attribute__((visibility("default")))
#define PADDLE __attribute__((visibility("default"), noinline))

PADDLE_DATA int32_t level __asm__("_ZZN3phi14HostTraceLevel11GetInstanceEvE8instance") = -1;
PADDLE_DATA Recorder recorder __asm__("_ZZN3phi17HostEventRecorderINS_11CommonEventEE11GetInstanceEvE8instance");

namespace {

bool is_recording = false;

uint64_t UnixNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

bool Construct(Range* range, uint32_t wanted) {
  range->is_enabled = range->is_pushed = false;
  range->name = nullptr, range->static_name = nullptr, range->attributes = nullptr;
  range->role = 0, range->type = 7, range->is_finished = false;
  return level >= static_cast<int64_t>(wanted) && is_recording;
}

}  // namespace

PADDLE void BeginStatic(Range* range, const char* name, uint32_t type, uint32_t wanted, uint32_t role) {
  if (!Construct(range, wanted)) return;
  range->is_enabled = true;
  range->static_name = name, range->role = role, range->type = type, range->start_ns = UnixNs();
}
PADDLE void BeginCopied(Range* range, const std::string& name, uint32_t type, uint32_t wanted, uint32_t role) {
  if (!Construct(range, wanted)) return;
  range->is_enabled = true;
  range->name = new std::string(name), range->role = role, range->type = type, range->start_ns = UnixNs();
}
PADDLE void End(Range* range) {
  if (!range->is_enabled) return;
  range->is_enabled = false;
  if (range->name != nullptr) recorder.names.push_back(*range->name);
  const char* name = range->name != nullptr ? recorder.names.back().c_str() : range->static_name;
  recorder.events.push_back({name, range->start_ns, UnixNs(), range->role, range->type, nullptr});
  delete range->name;
}
PADDLE bool IsEnabled() {
  return is_recording;
}
PADDLE void ReportMemory(void*, const void*, const Place&, size_t, uint32_t) {
}
PADDLE void EnableRecorder() {
  is_recording = true;
}
PADDLE void DisableRecorder() {
  is_recording = false;
  recorder.disabled_ns = SteadyNs();
}

}  // namespace fake_paddle

extern "C" PADDLE void FakePaddleAdd() {
  using namespace fake_paddle;
  const Place cpu{.device = 0, .type = 1, .padding = {}, .custom_type = 0};
  Range outer, named;
  BeginStatic(&outer, "add dygraph", 0, 1, 0);
  BeginCopied(&named, std::string("a name that is made anew"), 7, 1, 0);
  Range* inner = IsEnabled() ? new Range : nullptr;
  if (inner != nullptr) BeginStatic(inner, "add kernel launch", 15, 1, 0);
  Range hidden;
  BeginStatic(&hidden, "too much detail", 7, 4, 0);
  ReportMemory(nullptr, &outer, cpu, 64, 0);
  End(&hidden);
  if (inner != nullptr) End(inner);
  delete inner;
  ReportMemory(nullptr, &outer, cpu, 64, 1);
  End(&named);
  End(&named);
  End(&outer);
}

// Nanoseconds from the end of recording until the events were gathered.
extern "C" PADDLE uint64_t FakePaddleNsBeforeGather() {
  return fake_paddle::recorder.gathered_ns - fake_paddle::recorder.disabled_ns;
}

// Paddle's own profiler: a level of 1 starts it, -1 ends it. Returns the number of events that it has recorded.
extern "C" PADDLE size_t FakePaddleProfiler(int32_t wanted) {
  fake_paddle::level = wanted;
  if (wanted >= 0) {
    fake_paddle::EnableRecorder();
  } else {
    fake_paddle::DisableRecorder();
  }
  const size_t events = fake_paddle::recorder.events.size();
  if (wanted < 0) fake_paddle::recorder.events.clear();
  return events;
}
