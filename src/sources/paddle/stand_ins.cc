// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/stand_ins.h"

#include <atomic>
#include <cstddef>

#include "sources/streams/failures.h"

namespace opscope {
namespace {

struct Known {
  std::atomic<const PaddleStandIn*> stand_in{nullptr};
  std::atomic<uint32_t> recordings{0};
};
constinit Known known[2];

Known& Of(PaddlePart part) {
  return known[static_cast<size_t>(part) - static_cast<size_t>(PaddlePart::kNative)];
}

}  // namespace

void SetStandIn(PaddlePart part, const PaddleStandIn* stand_in) {
  Of(part).stand_in.store(stand_in);
}
bool HasStandIn(PaddlePart part) {
  return Of(part).stand_in.load() != nullptr;
}

const char* StartStandIn(PaddlePart part, uint32_t flags) {
  Known& one = Of(part);
  const PaddleStandIn* stand_in = one.stand_in.load();
  const bool is_alone = one.recordings.fetch_add(1) == 0;
  const char* refused = is_alone || stand_in->enter == nullptr ? stand_in->start(flags)
                                                               : "another recording has Paddle's own profiler already";
  if (refused != nullptr) one.recordings.fetch_sub(1);
  return refused;
}

void StopStandIn(PaddlePart part, Window* window) {
  Known& one = Of(part);
  one.recordings.fetch_sub(1);  // first: what begins from here on is not in what it holds
  if (!one.stand_in.load()->stop(window)) CountFailure();
}

void LeaveStandIns() {
  for (Known& one : known)
    one.recordings.store(0);
}

const PaddleStandIn* StandInOfRanges() {
  const Known& native = Of(PaddlePart::kNative);
  if (__builtin_expect(native.recordings.load(std::memory_order_relaxed) == 0, 1)) return nullptr;
  const PaddleStandIn* stand_in = native.stand_in.load(std::memory_order_relaxed);
  return stand_in != nullptr && stand_in->enter != nullptr ? stand_in : nullptr;
}

void ExitRangeOfStandIn(void* range) {
  Of(PaddlePart::kNative).stand_in.load()->exit(range);
}

}  // namespace opscope
