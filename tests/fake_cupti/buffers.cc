// Activity buffers, as in the real library: a record is written into the open buffer of its owner (a thread, or the
// devices); a new buffer is requested from the tool when it is full, and full ones are returned inline, by a worker
// thread, or only by a flush, as the scenario says. Every pointer that the tool passes is checked: a buffer that is
// misaligned, too small, or lent a second time is a violation.
//
// The tool's callbacks run with the library's lock held. The worker's own mutex is taken after that lock, and never
// held during a callback.
// SPDX-License-Identifier: Apache-2.0
#include "buffers.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "records.h"

namespace fake {
namespace {

using Clock = std::chrono::steady_clock;

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  std::size_t most_records = 0;  // 0: as many as fit
  BufferUser user;
  std::map<std::uint32_t, std::uint64_t> records;  // by kind
  std::size_t count = 0;
  std::uint64_t owner = 0;
};

// A buffer that the worker thread will return to the tool, and when.
struct Delivery {
  Buffer buffer;
  Clock::time_point due;
  bool never = false;
};

constexpr std::size_t kKinds = 64;  // all higher kinds share one more row
struct Counts {
  std::atomic<std::uint64_t> issued[kKinds + 1]{};
  std::atomic<std::uint64_t> dropped[kKinds + 1]{};
  std::atomic<std::uint64_t> handed_back[kKinds + 1]{};
};
std::size_t RowOf(std::uint32_t kind) {
  return kind < kKinds ? kind : kKinds;
}

struct State {
  BufferUser user;
  std::map<std::uint64_t, Buffer> open;  // by owner
  std::set<const std::uint8_t*> held;
  Counts counts;
  std::uint64_t untaken_drops = 0;
  std::uint64_t written = 0;
  std::atomic<std::uint64_t> callback_ns{0};
  std::atomic<std::uint64_t> holder_records{0};

  std::mutex worker_mutex;  // taken after the library's lock
  std::condition_variable worker_wakes;
  std::condition_variable worker_rests;
  std::deque<Delivery> deliveries;
  bool at_work = false;
  bool ends = false;
  std::thread worker;
};

State& TheState() {
  static State& state = *new State;
  return state;
}

std::uint64_t Sum(const std::atomic<std::uint64_t> (&rows)[kKinds + 1], std::uint32_t kind) {
  if (kind != 0) return rows[RowOf(kind)];
  std::uint64_t sum = 0;
  for (const auto& row : rows)
    sum += row;
  return sum;
}

// Returns the buffer to the tool through its callback `completed`.
void ReturnBuffer(Buffer& buffer) {
  State& state = TheState();
  state.held.erase(buffer.data);
  if (buffer.user.is_holder) {
    state.holder_records += buffer.count;
  } else {
    for (const auto& [kind, count] : buffer.records)
      state.counts.handed_back[RowOf(kind)] += count;
  }
  const InCallback inside;
  const Clock::time_point begin = Clock::now();
  buffer.user.completed(nullptr, 0, buffer.data, buffer.size, buffer.used);
  if (!buffer.user.is_holder) {
    state.callback_ns +=
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
  }
}

void Work() {
  State& state = TheState();
  std::unique_lock lock(state.worker_mutex);
  while (!state.ends) {
    Clock::time_point next = Clock::now() + std::chrono::hours(1);
    auto due = state.deliveries.end();
    for (auto it = state.deliveries.begin(); it != state.deliveries.end(); ++it) {
      if (it->never) continue;
      if (it->due <= Clock::now()) {
        due = it;
        break;
      }
      next = std::min(next, it->due);
    }
    if (due == state.deliveries.end()) {
      state.at_work = false;
      state.worker_rests.notify_all();
      state.worker_wakes.wait_until(lock, next);
      continue;
    }
    Buffer buffer = std::move(due->buffer);
    state.deliveries.erase(due);
    state.at_work = true;
    lock.unlock();
    {
      const Locked library("CUPTI's thread");
      ReturnBuffer(buffer);
    }
    lock.lock();
  }
}

void ToWorker(Buffer buffer, Clock::duration after, bool never) {
  State& state = TheState();
  const std::lock_guard lock(state.worker_mutex);
  state.deliveries.push_back({std::move(buffer), Clock::now() + after, never});
  if (!state.worker.joinable()) state.worker = std::thread(Work);
  state.worker_wakes.notify_all();
}

// Waits until the worker is idle. REQUIRES: the library's lock is not held. Deliveries that are not yet due stay queued
// unless `all`.
void WaitForWorker(bool all) {
  State& state = TheState();
  std::unique_lock lock(state.worker_mutex);
  if (!state.worker.joinable()) return;
  if (all) {
    for (Delivery& delivery : state.deliveries) {
      delivery.due = Clock::now();
      delivery.never = false;
    }
  }
  state.at_work = true;
  state.worker_wakes.notify_all();
  state.worker_rests.wait(lock, [&] { return !state.at_work || state.ends; });
}

// A new buffer from the tool; `data` is null if the tool returned none or an invalid one.
Buffer Request() {
  State& state = TheState();
  Buffer buffer;
  buffer.user = state.user;
  if (buffer.user.requested == nullptr) {
    Violation("records_before_callbacks", "buffer requested");
    return buffer;
  }
  {
    const InCallback inside;
    buffer.user.requested(&buffer.data, &buffer.size, &buffer.most_records);
  }
  if (buffer.data == nullptr) {
    if (Now().api < cupti::kDeclinesBuffersSince) Violation("null_buffer", "buffer requested");
    return buffer;
  }
  if (reinterpret_cast<std::uintptr_t>(buffer.data) % 8 != 0) {
    Violation("buffer_not_aligned", "buffer requested");
    buffer.data = nullptr;
  } else if (buffer.size < kLargestRecord) {
    Violation("buffer_too_small", "buffer requested");
    buffer.data = nullptr;
  } else if (!state.held.insert(buffer.data).second) {
    Violation("buffer_lent_twice", "buffer requested");
    buffer.data = nullptr;
  }
  return buffer;
}

void Drop(cupti::ActivityKind kind) {
  State& state = TheState();
  ++state.counts.dropped[RowOf(static_cast<std::uint32_t>(kind))];
  ++state.untaken_drops;
}

void Full(Buffer buffer) {
  switch (Now().deliver) {
    case Deliver::kInline:
      ReturnBuffer(buffer);
      break;
    case Deliver::kThread:
      ToWorker(std::move(buffer), {}, false);
      break;
    case Deliver::kFlush:
      ToWorker(std::move(buffer), {}, true);
      break;  // stays there until a flush
  }
}

void Write(std::uint64_t owner, cupti::ActivityKind kind, const std::uint8_t* bytes) {
  State& state = TheState();
  const std::size_t size = SizeOfRecord(Now(), kind);
  Buffer& open = state.open[owner];
  const bool has_room = open.data != nullptr && open.used + size <= open.size &&
                        (open.most_records == 0 || open.count < open.most_records);
  if (!has_room) {
    if (open.data != nullptr) Full(std::move(open));
    open = Request();
    open.owner = owner;
    if (open.data == nullptr) return Drop(kind);
  }
  // Fills the part beyond the known struct with a pattern, so that a profiler that reads it fails a test.
  const std::size_t known = size - Now().longer;
  std::memcpy(open.data + open.used, bytes, known);
  std::memset(open.data + open.used + known, 0xAB, Now().longer);
  open.used += size;
  ++open.count;
  ++open.records[static_cast<std::uint32_t>(kind)];
}

}  // namespace

void SetBufferUser(const BufferUser& user) {
  TheState().user = user;
}
const BufferUser& TheBufferUser() {
  return TheState().user;
}

void WriteRecord(std::uint64_t owner, cupti::ActivityKind kind, const std::uint8_t* bytes) {
  State& state = TheState();
  const Scenario& scenario = Now();
  ++state.counts.issued[RowOf(static_cast<std::uint32_t>(kind))];
  ++state.written;
  if (scenario.drop_every != 0 && state.written % scenario.drop_every == 0) {
    Drop(kind);
  } else {
    Write(owner, kind, bytes);
  }
  if (scenario.unknown_every != 0 && state.written % scenario.unknown_every == 0) {
    Record<cupti::Activity> unknown;
    std::memset(unknown.bytes, 0xCD, sizeof(unknown.bytes));
    unknown->kind = kUnknownKind;
    ++state.counts.issued[kKinds];
    Write(owner, kUnknownKind, unknown.bytes);
  }
}

void FlushBuffers(Locked& lock) {
  State& state = TheState();
  const Scenario& scenario = Now();
  std::vector<Buffer> buffers;
  {
    const std::lock_guard worker(state.worker_mutex);
    if (scenario.deliver == Deliver::kFlush) {
      for (Delivery& delivery : state.deliveries)
        buffers.push_back(std::move(delivery.buffer));
      state.deliveries.clear();
    }
  }
  for (auto& [owner, buffer] : state.open) {
    if (buffer.data != nullptr && buffer.count > 0) buffers.push_back(std::move(buffer));
    if (buffer.data == nullptr || buffer.count > 0) buffer = Buffer{};
  }
  std::erase_if(state.open, [](const auto& entry) { return entry.second.data == nullptr; });
  const bool late = scenario.late_ms || scenario.never_delivers;
  for (Buffer& buffer : buffers) {
    if (late || scenario.flush_from_thread) {
      ToWorker(std::move(buffer), std::chrono::milliseconds(scenario.late_ms.value_or(0)), scenario.never_delivers);
    } else {
      ReturnBuffer(buffer);
    }
  }
  // A flush also waits for the full buffers that the worker is delivering.
  if (!late) lock.Without([] { WaitForWorker(false); });
}

void ReturnHolderBuffers() {
  for (auto& [owner, buffer] : TheState().open) {
    if (buffer.user.is_holder && buffer.data != nullptr) ReturnBuffer(buffer);
    if (buffer.user.is_holder) buffer = Buffer{};
  }
}

void ReturnBufferLater(std::uint64_t owner) {
  State& state = TheState();
  const auto found = state.open.find(owner);
  if (found == state.open.end()) return;
  if (found->second.data != nullptr) ToWorker(std::move(found->second), std::chrono::milliseconds(5), false);
  state.open.erase(found);
}

void ResetBuffers() {
  State& state = TheState();
  state.user = {};
  state.open.clear();
  state.held.clear();
  for (std::size_t row = 0; row <= kKinds; ++row) {
    state.counts.issued[row] = state.counts.dropped[row] = state.counts.handed_back[row] = 0;
  }
  state.untaken_drops = state.written = 0;
  state.callback_ns = state.holder_records = 0;
}

std::uint64_t Issued(std::uint32_t kind) {
  return Sum(TheState().counts.issued, kind);
}
std::uint64_t Dropped(std::uint32_t kind) {
  return Sum(TheState().counts.dropped, kind);
}
std::uint64_t ReturnedCount(std::uint32_t kind) {
  return Sum(TheState().counts.handed_back, kind);
}
std::uint64_t CallbackTime() {
  return TheState().callback_ns;
}
std::uint64_t HolderRecords() {
  return TheState().holder_records;
}

std::uint64_t TakeDropped() {
  return std::exchange(TheState().untaken_drops, 0);
}

std::uint32_t BuffersHeld() {
  State& state = TheState();
  return static_cast<std::uint32_t>(state.held.size());
}

void DeliverLate() {
  WaitForWorker(true);
}

void EndWorker() {
  State& state = TheState();
  {
    const std::lock_guard lock(state.worker_mutex);
    state.ends = true;
    state.deliveries.clear();
    state.worker_wakes.notify_all();
  }
  if (state.worker.joinable()) state.worker.join();
  const std::lock_guard lock(state.worker_mutex);
  state.ends = false;
  state.worker = std::thread();
}

}  // namespace fake
