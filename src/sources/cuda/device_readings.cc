// The thread reads is_wanted_ and collector_ again after each round of NVML calls, because any of them may take long; a
// reading goes to the windows that are open by then. NVML's exit handlers must not run while the thread is inside NVML:
// EndWithProcess runs before them and waits up to 100 ms.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/device_readings.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "sources/cuda/timed_calls.h"
#include "sources/streams/failures.h"

namespace opscope::cuda {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetween{100}, kForWindows{1000};
constexpr int kMaxMillisecondsAtEnd = 100;

DecodedRecord RecordOf(uint32_t device, CudaReading what, unsigned value) {
  DecodedRecord record;
  record.event = CudaEvent::kReading;
  record.start = CuptiNow();
  record.duration = value;
  record.SetDetails(CudaReadingDetails{.device = device, .what = static_cast<uint32_t>(what)});
  return record;
}

// A sensor that fails has no reading in this round.
std::vector<DecodedRecord> ReadAll(const NvmlFunctions& nvml, const std::vector<ReadDevice>& devices) {
  std::vector<DecodedRecord> records;
  for (const ReadDevice& device : devices) {
    unsigned value = 0;
    if (nvml.DeviceGetPowerUsage != nullptr && nvml.DeviceGetPowerUsage(device.handle, &value) == 0)
      records.push_back(RecordOf(device.device, CudaReading::kPowerMilliwatts, value));
    if (nvml.DeviceGetClockInfo != nullptr && nvml.DeviceGetClockInfo(device.handle, kNvmlSmClock, &value) == 0)
      records.push_back(RecordOf(device.device, CudaReading::kSmClockMegahertz, value));
  }
  return records;
}

}  // namespace

DeviceReadings& DeviceReadings::Get() {
  static DeviceReadings& readings = *new DeviceReadings;
  return readings;
}

void DeviceReadings::Begin(Collector* collector) {
  const MutexLock lock(mutex_);
  collector_ = collector;
  is_wanted_ = true;
  if (has_thread_ || is_absent_) return;
  has_thread_ = BeginThread([this] { Run(); });
}

void DeviceReadings::Suspend() {
  const MutexLock lock(mutex_);
  is_wanted_ = false;
  changed_.notify_all();
}

template <typename Calls>
bool DeviceReadings::Call(const Calls& calls) {
  is_inside_.store(true);
  const bool may_call = !is_ending_.load();  // stored after is_inside_: one of the two sides sees the other's
  if (may_call) calls();
  is_inside_.store(false);
  return may_call;
}

void DeviceReadings::EndWithProcess() {
  DeviceReadings& readings = Get();
  if (readings.process_ != getpid()) return;  // a child has no such thread
  readings.is_ending_.store(true);
  for (int i = 0; i < kMaxMillisecondsAtEnd && readings.is_inside_.load(); ++i)
    std::this_thread::sleep_for(milliseconds(1));
}

bool DeviceReadings::AwaitNext() {
  const MutexLock lock(mutex_);
  while (is_wanted_ && changed_.wait_until(mutex_, next_)) {
  }
  return is_wanted_;
}

void DeviceReadings::ReadWhileWanted(const NvmlFunctions& nvml) {
  std::vector<ReadDevice> devices;
  while (AwaitNext()) {
    std::vector<DecodedRecord> records;
    const bool may_go_on = Call([&] {
      if (devices.empty()) devices = FindDevices(nvml, FindDriver());
      records = ReadAll(nvml, devices);
    });
    if (!may_go_on) return;
    Collector* collector = nullptr;
    {
      const MutexLock lock(mutex_);
      collector = collector_;
    }
    collector->ForEachOpen(After(kForWindows), [&](DeviceWindow* window) {
      for (const DecodedRecord& record : records)
        window->Take(record, Decoded::kWhole);
    });
    next_ = After(kBetween);
  }
}

void DeviceReadings::Run() {
  pthread_setname_np(pthread_self(), "opscope nvml");
  static NvmlFunctions nvml;  // never unloaded
  bool may_go_on = true;
  if (nvml.Init == nullptr) {
    may_go_on = Call([] { nvml = LoadNvml(); });
    process_ = getpid();
    std::atexit(&EndWithProcess);  // after NVML's own, and so called before them
  }
  while (may_go_on && nvml.is_usable()) {
    bool has_begun = false;
    may_go_on = Call([&] { has_begun = nvml.Init() == 0; });
    try {
      if (has_begun) ReadWhileWanted(nvml);
    } catch (...) {
      CountFailure();
    }
    if (has_begun && nvml.Shutdown != nullptr) may_go_on = Call([] { nvml.Shutdown(); });
    const MutexLock lock(mutex_);
    if (has_begun && is_wanted_ && may_go_on) continue;  // a window began meanwhile
    has_thread_ = false;
    return;
  }
  const MutexLock lock(mutex_);
  is_absent_ = true;
  has_thread_ = false;
}

}  // namespace opscope::cuda
