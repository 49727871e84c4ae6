// A workload with a known result: two threads issue a known number of events of all kinds, and compute a checksum that
// must not depend on the faults around them.
//
// Everything that can fail (a thread, semaphores) is created in the constructor, before a fault is armed.
// SPDX-License-Identifier: Apache-2.0
#include "recorded_work.h"

#include <cstdio>

#include "opscope/scope.h"

namespace faults {
namespace {

constexpr uint64_t kRounds = 4000;  // some chunks of each thread
constexpr uint64_t kEventsOfARound = 4;

uint64_t Mixed(uint64_t result, uint64_t value) {
  return (result ^ value) * 0x9e3779b97f4a7c15U;
}

}  // namespace

RecordedWork::RecordedWork() {
  sem_init(&begin_, 0, 0);
  sem_init(&done_, 0, 0);
  pthread_create(&thread_, nullptr, RunThread, this);
}

RecordedWork::~RecordedWork() {
  ends_ = true;
  sem_post(&begin_);
  pthread_join(thread_, nullptr);
}

void* RecordedWork::RunThread(void* self) {
  auto* work = static_cast<RecordedWork*>(self);
  for (;;) {
    sem_wait(&work->begin_);
    if (work->ends_) return nullptr;
    work->thread_result_ = WorkOnce();
    sem_post(&work->done_);
  }
}

uint64_t RecordedWork::WorkOnce() {
  uint64_t result = 1;
  for (uint64_t i = 0; i < kRounds; ++i) {
    OPSCOPE_SCOPE("round");
    char name[32];
    std::snprintf(name, sizeof(name), "part %d", static_cast<int>(i % 100));
    opscope::Scope part(name);
    if (i % 50 == 0) part.Arg("round", i);
    opscope::Counter("result", static_cast<double>(result));
    if (i % 2 == 0) {
      opscope::Instant("even");
    } else {
      opscope::FlowBegin("odd", i);
    }
    result = Mixed(result, i);
  }
  return result;
}

void RecordedWork::Work() {
  sem_post(&begin_);
  const uint64_t own = WorkOnce();
  sem_wait(&done_);
  uint64_t one = 1;
  for (uint64_t i = 0; i < kRounds; ++i)
    one = Mixed(one, i);
  result_ += own + thread_result_;
  expected_ += 2 * one;
  issued_ += 2 * kRounds * kEventsOfARound;
}

}  // namespace faults
