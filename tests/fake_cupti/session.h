// What the tool and the other user of CUPTI have switched on: kinds, callbacks, the subscription.
//
// All functions but Timestamp need the library's lock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <utility>

#include "rules.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {

struct Session {
  std::uint64_t tool_kinds = 0;  // bits
  std::uint64_t holder_kinds = 0;
  bool has_registered = false;
  Holder holder = Holder::kNone;
  bool has_subscribed = false;
  std::atomic<cupti::CallbackFunction> callback{nullptr};
  void* user_data = nullptr;
  std::set<std::pair<cupti::CallbackDomain, std::uint32_t>> callbacks;
  cupti::ThreadIdType thread_id_type = cupti::ThreadIdType::kDefault;
  bool event_timestamps = false;
};
Session& TheSession();

bool IsSubscriber(cupti::Subscriber subscriber);

constexpr std::uint64_t Bit(cupti::ActivityKind kind) {
  return std::uint64_t{1} << static_cast<std::uint32_t>(kind);
}
bool IsEnabled(cupti::ActivityKind kind);
bool IsKindOf(const Scenario& scenario, cupti::ActivityKind kind);

// Another user of CUPTI comes, records, or goes.
void SetHolder(Holder holder);

// ns of CUPTI's clock, which is CLOCK_REALTIME.
std::uint64_t Timestamp();

void ResetSession();

}  // namespace fake
