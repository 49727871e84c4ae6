// Decodes CUPTI's filled buffers on a separate thread and passes the records to the windows.
//
// CUPTI's callbacks only store a buffer and wake that thread. It decodes records without locks, a few hundred at a
// time, and then writes them with the windows locked. No lock that a callback takes is held while CUPTI is called.
//
// Thread rule: any thread. The process uses one collector at a time. If its thread hangs in CUPTI, it is abandoned.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/timed_mutex.h"
#include "sources/cuda/buffer_pool.h"
#include "sources/cuda/cupti_library.h"
#include "sources/cuda/device_window.h"
#include "sources/cuda/timed_calls.h"

namespace opscope::cuda {

class Collector {
 public:
  explicit Collector(const CuptiLibrary* library) : library_(library) { sem_init(&wake_, 0, 0); }

  // From now on CUPTI's callbacks use this collector. REQUIRES: it is never destroyed.
  void Install();
  static void RequestBuffer(uint8_t** buffer, size_t* size, size_t* max_records);
  static void CompleteBuffer(cupti::CudaContext context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);

  // False: no thread could be started.
  bool Start();
  BufferPool* pool() { return &pool_; }

  // Delivers records to the window from now on, until DeviceWindow::End. Keeps the window until Forget. False: another
  // thread held the windows until the deadline; this holds for all functions with a deadline.
  bool Add(std::shared_ptr<DeviceWindow> window, const ClockPair& clock, Deadline deadline);
  // Waits until the records of all buffers that CUPTI has returned are written. False: the deadline passed.
  bool Drain(Deadline deadline);
  void Forget(const DeviceWindow* window, Deadline deadline);
  // Calls visit() while no window takes records. False: visit() was not called.
  template <typename Visiting>
  bool Visit(Deadline deadline, const Visiting& visit) {
    if (!windows_mutex_.try_lock_until(deadline)) return false;
    const TimedMutexLock lock(windows_mutex_, std::adopt_lock);
    visit();
    return true;
  }
  // Calls visit(window) for each open window.
  template <typename Visiting>
  bool ForEachOpen(Deadline deadline, const Visiting& visit) {
    return Visit(deadline, [&] {
      windows_mutex_.AssertHeld();
      for (const auto& window : windows_) {
        if (window->is_open()) visit(window.get());
      }
    });
  }

 private:
  struct Batch;
  void Run();
  void Collect(const FilledBuffer& filled);
  void Deliver(const Batch& batch);
  const char* NameOfCall(const DecodedRecord& record);
  void RecordFailedCall(const char* function, cupti::Result answer);

  const CuptiLibrary* library_;
  BufferPool pool_;
  sem_t wake_;
  bool has_thread_ = false;

  TimedMutex windows_mutex_;
  std::vector<std::shared_ptr<DeviceWindow>> windows_ OPSCOPE_GUARDED_BY(windows_mutex_);
  // Records that describe devices, written again into each window that begins later.
  std::vector<std::pair<DecodedRecord, std::string>> devices_ OPSCOPE_GUARDED_BY(windows_mutex_);

  Mutex done_mutex_;
  ConditionVariable done_;
  std::atomic<uint64_t> filled_{0};                         // buffers that CUPTI has returned
  uint64_t collected_ OPSCOPE_GUARDED_BY(done_mutex_) = 0;  // of these, buffers whose records are written

  // Names of runtime and driver calls, by callback number. Used only by the collector's thread.
  std::vector<const char*> names_[2];
};

uint64_t CuptiNow();
// Reads CUPTI's clock and the recorder's together, several times, and keeps the pair with the smallest error.
ClockPair ReadClockPair();

}  // namespace opscope::cuda
