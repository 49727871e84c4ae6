// One thread decodes the buffers that CUPTI fills. CUPTI's callback only puts the buffer on a list and wakes the
// thread, because CUPTI calls it inside the program's CUDA calls. Drain waits until the thread has written the records
// of every buffer that CUPTI has returned so far.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/collector.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "sources/cuda/timed_calls.h"
#include "sources/streams/failures.h"

namespace opscope::cuda {
namespace {

std::atomic<Collector*> installed{nullptr};

}  // namespace

uint64_t CuptiNow() {
  const CuptiLibrary& library = LoadedCupti();
  uint64_t now = 0;
  if (library.call.GetTimestamp != nullptr && library.call.GetTimestamp(&now) == cupti::Result::kSuccess) return now;
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);  // the same clock as CUPTI's
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

ClockPair ReadClockPair() {
  constexpr int kTries = 5, kMaxTries = 20;
  constexpr uint64_t kGoodTicks = 5000;  // one or two microseconds; more: this thread was interrupted
  ClockPair best;
  best.bound_ticks = UINT64_MAX;
  for (int i = 0; i < kTries || (best.bound_ticks > kGoodTicks && i < kMaxTries); ++i) {
    const uint64_t before = ReadTicks();
    const uint64_t now = CuptiNow();
    const uint64_t after = ReadTicks();
    const uint64_t bound = (after - before + 1) / 2;
    if (bound < best.bound_ticks) best = {now, before + (after - before) / 2, bound};
  }
  return best;
}

void Collector::Install() {
  installed.store(this, std::memory_order_release);
}

void Collector::RequestBuffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  Collector* collector = installed.load(std::memory_order_acquire);
  const bool may_decline = collector->library_->version >= cupti::kDeclinesBuffersSince;
  *buffer = collector->pool_.Take(may_decline);
  *size = *buffer == nullptr ? 0 : BufferPool::kBufferBytes;
  *max_records = 0;
}

void Collector::CompleteBuffer(cupti::CudaContext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  Collector* collector = installed.load(std::memory_order_acquire);
  if (!collector->pool_.Fill(buffer, valid)) return;  // the buffer is of an earlier collector
  collector->filled_.fetch_add(1, std::memory_order_release);
  sem_post(&collector->wake_);
}

bool Collector::Start() {
  if (has_thread_) return true;
  has_thread_ = BeginThread([this] { Run(); });
  if (!has_thread_) CountFailure();
  return has_thread_;
}

void Collector::Run() {
  pthread_setname_np(pthread_self(), "opscope cuda");
  for (;;) {
    while (sem_wait(&wake_) != 0) {
    }
    FilledBuffer filled;
    while (pool_.TakeFilled(&filled)) {
      try {
        Collect(filled);
      } catch (...) {
        CountFailure();
      }
      pool_.Return(filled);
      {
        const MutexLock guard(done_mutex_);
        ++collected_;
      }
      done_.notify_all();
    }
    pool_.KeepReady();
  }
}

struct Collector::Batch {
  struct Row {
    DecodedRecord record;
    Decoded decoded;
  };
  std::array<Row, 256> rows;
  size_t count = 0;
};

const char* Collector::NameOfCall(const DecodedRecord& record) {
  constexpr uint32_t kMaxNumbers = 1 << 16;
  const uint32_t number = record.DetailsAs<CudaCallDetails>().callback;
  std::vector<const char*>& names = names_[record.event == CudaEvent::kDriverCall ? 1 : 0];
  if (number >= kMaxNumbers || library_->call.GetCallbackName == nullptr) return "unknown";
  if (number >= names.size()) names.resize(number + 1, nullptr);
  if (names[number] == nullptr) {
    const char* name = nullptr;
    const bool is_known =
        library_->call.GetCallbackName(record.domain, number, &name) == cupti::Result::kSuccess && name != nullptr;
    names[number] = is_known ? name : "unknown";
  }
  return names[number];
}

void Collector::RecordFailedCall(const char* function, cupti::Result answer) {
  const std::string text = std::string(function) + ": " + library_->NameOf(answer);
  const TimedMutexLock lock(windows_mutex_);
  for (const auto& window : windows_) {
    if (!window->is_open()) continue;
    ++window->problems().failed_calls[text];
    window->problems().lost_by_failed_calls = true;
  }
}

void Collector::Deliver(const Batch& batch) {
  const TimedMutexLock lock(windows_mutex_);
  for (size_t i = 0; i < batch.count; ++i) {
    const auto& [record, decoded] = batch.rows[i];
    if (record.event == CudaEvent::kDevice && decoded == Decoded::kWhole) {
      const auto number = record.DetailsAs<CudaDeviceDetails>().device;
      const bool is_known = std::any_of(devices_.begin(), devices_.end(), [&](const auto& device) {
        return device.first.template DetailsAs<CudaDeviceDetails>().device == number;
      });
      if (!is_known) devices_.emplace_back(record, record.name == nullptr ? "" : record.name);
    }
    for (const auto& window : windows_)
      window->Take(record, decoded);
  }
}

void Collector::Collect(const FilledBuffer& filled) {
  const auto batch = std::make_unique<Batch>();
  uint64_t discarded = 0;
  cupti::Activity* record = nullptr;
  for (;;) {
    const cupti::Result answer = library_->call.ActivityGetNextRecord(filled.bytes, filled.valid, &record);
    if (answer != cupti::Result::kSuccess) {
      if (answer != cupti::Result::kMaxLimitReached) RecordFailedCall("cuptiActivityGetNextRecord", answer);
      break;
    }
    if (filled.is_discarded) {
      ++discarded;
      continue;
    }
    Batch::Row& row = batch->rows[batch->count];
    row.decoded = Decode(record, library_->version, &row.record);
    if (row.decoded == Decoded::kWhole && row.record.is_call()) row.record.name = NameOfCall(row.record);
    if (++batch->count == batch->rows.size()) {
      Deliver(*batch);
      batch->count = 0;
    }
  }
  Deliver(*batch);
  if (discarded == 0) return;
  const TimedMutexLock lock(windows_mutex_);
  for (const auto& window : windows_) {
    if (window->is_open()) window->problems().dropped += discarded;
  }
}

bool Collector::Add(std::shared_ptr<DeviceWindow> window, const ClockPair& clock, Deadline deadline) {
  return Visit(deadline, [&] {
    windows_mutex_.AssertHeld();
    window->Begin(clock);
    for (const auto& [device, name] : devices_) {
      DecodedRecord record = device;
      record.name = name.c_str();
      window->Take(record, Decoded::kWhole);
    }
    windows_.push_back(std::move(window));
  });
}

bool Collector::Drain(Deadline deadline) {
  const uint64_t wanted = filled_.load(std::memory_order_acquire);
  const MutexLock lock(done_mutex_);
  while (collected_ < wanted) {
    if (!done_.wait_until(done_mutex_, deadline)) return collected_ >= wanted;
  }
  return true;
}

void Collector::Forget(const DeviceWindow* window, Deadline deadline) {
  Visit(deadline, [&] {
    windows_mutex_.AssertHeld();
    std::erase_if(windows_, [&](const auto& each) { return each.get() == window; });
  });
}

}  // namespace opscope::cuda
