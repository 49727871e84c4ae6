// The state of one session of CUPTI: the subscriber, the enabled activity kinds, the clock, and the second user of
// CUPTI (the `holder`), whose buffers are allocated here and thrown away.
// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <ctime>
#include <memory>
#include <vector>

#include "buffers.h"

namespace fake {
namespace {

constexpr std::size_t kHolderBuffer = 1 << 20;

void HolderRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = reinterpret_cast<std::uint8_t*>(new std::uint64_t[kHolderBuffer / 8]);
  *size = kHolderBuffer;
  *max_records = 0;
}

void HolderCompleted(cupti::CudaContext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
  delete[] reinterpret_cast<std::uint64_t*>(buffer);
}

}  // namespace

Session& TheSession() {
  static Session& session = *new Session;
  return session;
}

bool IsSubscriber(cupti::Subscriber subscriber) {
  return TheSession().has_subscribed && subscriber == reinterpret_cast<cupti::Subscriber>(&TheSession());
}

bool IsEnabled(cupti::ActivityKind kind) {
  const Session& session = TheSession();
  return ((session.tool_kinds | session.holder_kinds) & Bit(kind)) != 0;
}

bool IsKindOf(const Scenario& scenario, cupti::ActivityKind kind) {
  const auto number = static_cast<std::uint32_t>(kind);
  if (kind == cupti::ActivityKind::kCudaEvent) return scenario.api >= cupti::CudaEvent2::kSince;
  const std::uint32_t last = scenario.api >= 130500 ? 59 : scenario.api >= 26 ? 54 : 52;
  return number != 0 && number <= last;
}

void SetHolder(Holder holder) {
  Session& session = TheSession();
  session.holder = holder;
  if (holder == Holder::kRecording) {
    using enum cupti::ActivityKind;
    session.holder_kinds = Bit(kConcurrentKernel) | Bit(kMemcpy) | Bit(kMemset) | Bit(kRuntime);
    SetBufferUser({HolderRequested, HolderCompleted, true});
  } else {
    session.holder_kinds = 0;
    ReturnHolderBuffers();
  }
}

std::uint64_t Timestamp() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void ResetSession() {
  Session& session = TheSession();
  std::destroy_at(&session);
  std::construct_at(&session);
}

}  // namespace fake
