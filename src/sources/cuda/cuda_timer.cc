// A timer is a window that stores only times, in memory, until the caller takes them.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/cuda_timer.h"

#include <unistd.h>

#include <memory>
#include <string>

#include "base/text.h"
#include "sources/cuda/collector.h"
#include "sources/cuda/cupti_session.h"
#include "sources/cuda/device_window.h"
#include "sources/cuda/node_times.h"
#include "sources/streams/failures.h"

namespace opscope::cuda {
namespace {

struct Timer {
  std::shared_ptr<DeviceWindow> window;
  uint32_t flags = 0;
  NodeTimes taken{0};
  pid_t process = 0;
};

}  // namespace

void* StartTimer(uint32_t flags, char* why, size_t size) {
  try {
    auto timer = std::make_unique<Timer>();
    timer->process = getpid();
    timer->flags = flags | cuda_timer_flags::kTimes;
    timer->window = std::make_shared<DeviceWindow>(timer->flags);
    const std::string why_not = CuptiSession::Get().Begin(timer->window);
    CopyText(why_not, why, size);
    return why_not.empty() ? timer.release() : nullptr;
  } catch (...) {
    CountFailure();
    CopyText("out of memory", why, size);
    return nullptr;
  }
}

void DrainTimer(void* opaque, bool flush, CudaTimes* times) {
  auto* timer = static_cast<Timer*>(opaque);
  *times = {};
  if (timer->process != getpid()) return;
  try {
    if (flush) CuptiSession::Get().Flush();
    timer->taken = CuptiSession::Get().TakeTimes(timer->window.get());
    *times = {timer->taken.works.data(), timer->taken.works.size(), timer->taken.regions.data(),
              timer->taken.regions.size(), timer->taken.dropped};
  } catch (...) {
    CountFailure();
  }
}

void StopTimer(void* opaque) {
  const std::unique_ptr<Timer> timer(static_cast<Timer*>(opaque));
  if (timer->process != getpid()) return;
  try {
    CuptiSession::Get().End(timer->window);
    CuptiSession::Get().Forget(timer->window);
  } catch (...) {
    CountFailure();
  }
}

bool PushRegion(uint64_t id) {
  const auto push = LoadedCupti().call.ActivityPushExternalCorrelationId;
  if (push == nullptr || CuptiSession::Get().is_forked()) return false;
  return push(kKindOfRegions, id) == cupti::Result::kSuccess;
}

bool PopRegion(uint64_t* id) {
  const auto pop = LoadedCupti().call.ActivityPopExternalCorrelationId;
  if (pop == nullptr || CuptiSession::Get().is_forked()) return false;
  return pop(kKindOfRegions, id) == cupti::Result::kSuccess;
}

}  // namespace opscope::cuda
