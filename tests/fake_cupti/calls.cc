// What belongs to every simulated CUDA call: a correlation id, the records of the runtime call and of the driver call
// inside it, and the external ids that the thread has pushed.
//
// Correlation ids are 32 bits wide and wrap past 0, so a scenario can start just below 2^32 to test a profiler's
// handling of it.
// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <vector>

#include "buffers.h"
#include "names.h"
#include "records.h"
#include "session.h"

namespace fake {
namespace {

std::atomic<std::uint32_t> next_correlation{0};
std::atomic<unsigned> life{0};  // a scenario's

struct ThreadIds {
  unsigned of_life = 0;
  std::array<std::vector<std::uint64_t>, 6> pushed;  // by kind
};

ThreadIds& OfThread() {
  thread_local ThreadIds ids;
  if (ids.of_life != life) ids = {life, {}};
  return ids;
}

// Cached per thread, because gettid is a system call.
std::uint32_t SystemThreadId() {
  thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return id;
}

std::uint32_t NextCorrelation() {
  while (true) {
    const std::uint32_t id = next_correlation.fetch_add(1, std::memory_order_relaxed);
    if (id != 0) return id;
  }
}

void WriteApi(cupti::ActivityKind kind, std::uint32_t cbid, std::uint32_t correlation, std::uint64_t begin,
              std::uint64_t end) {
  static const auto process = static_cast<std::uint32_t>(getpid());
  Record<cupti::Api> api;
  api->kind = kind;
  api->cbid = cbid;
  api->start = begin;
  api->end = end;
  api->process = process;
  api->thread = ThreadId();
  api->correlation = correlation;
  WriteRecord(BufferOfThread(), kind, api.bytes);
}

void WriteExternalIds(std::uint32_t correlation) {
  if (!IsEnabled(cupti::ActivityKind::kExternalCorrelation)) return;
  const auto& pushed = OfThread().pushed;
  for (std::size_t kind = 0; kind < pushed.size(); ++kind) {
    if (pushed[kind].empty()) continue;
    Record<cupti::ExternalCorrelation> record;
    record->kind = cupti::ActivityKind::kExternalCorrelation;
    record->external_kind = static_cast<cupti::ExternalCorrelationKind>(kind);
    record->external_id = pushed[kind].back();
    record->correlation = correlation;
    WriteRecord(BufferOfThread(), record->kind, record.bytes);
  }
}

std::uint32_t DriverCallWithin(std::uint32_t runtime_cbid) {
  switch (runtime_cbid) {
    case kCudaLaunchKernel:
      return kCuLaunchKernel;
    case kCudaLaunchKernelExC:
      return kCuLaunchKernelEx;
    case kCudaGraphLaunch:
      return kCuGraphLaunch;
    case kCudaMalloc:
      return kCuMemAlloc;
    case kCudaFree:
      return kCuMemFree;
    case kCudaDeviceSynchronize:
      return kCuCtxSynchronize;
    default:
      return 0;
  }
}

}  // namespace

ApiCall::ApiCall(cupti::CallbackDomain domain, std::uint32_t cbid)
    : domain_(domain), cbid_(cbid), correlation_(NextCorrelation()), begin_(Timestamp()) {
}

void ApiCall::Finish() {
  const bool is_runtime = domain_ == cupti::CallbackDomain::kRuntimeApi;
  const auto kind = is_runtime ? cupti::ActivityKind::kRuntime : cupti::ActivityKind::kDriver;
  const bool is_recorded = IsEnabled(kind);
  const std::uint32_t within = is_runtime && Now().nested_driver ? DriverCallWithin(cbid_) : 0;
  const bool is_recorded_within = within != 0 && IsEnabled(cupti::ActivityKind::kDriver);
  if (!is_recorded && !is_recorded_within) return;
  WriteExternalIds(correlation_);
  const std::uint64_t end = Timestamp();
  if (is_recorded_within) WriteApi(cupti::ActivityKind::kDriver, within, correlation_, begin_, end);
  if (is_recorded) WriteApi(kind, cbid_, correlation_, begin_, end);
}

void PushExternalId(cupti::ExternalCorrelationKind kind, std::uint64_t id) {
  OfThread().pushed[static_cast<std::size_t>(kind)].push_back(id);
}

bool PopExternalId(cupti::ExternalCorrelationKind kind, std::uint64_t* id) {
  auto& pushed = OfThread().pushed[static_cast<std::size_t>(kind)];
  if (pushed.empty()) return false;
  if (id != nullptr) *id = pushed.back();
  pushed.pop_back();
  return true;
}

std::uint32_t ThreadId() {
  if (TheSession().thread_id_type == cupti::ThreadIdType::kSystem) return SystemThreadId();
  return static_cast<std::uint32_t>(pthread_self());
}

std::uint64_t BufferOfThread() {
  const Scenario& scenario = Now();
  // CUPTI's default from 12.3 on.
  return scenario.thread_buffers.value_or(scenario.api >= 21) ? SystemThreadId() : kDeviceBuffer;
}

void ResetCalls() {
  next_correlation = Now().first_correlation;
  ++life;
}

}  // namespace fake
