// The activity buffers that the tool lends: requested when a record has no room, filled, and returned when full or
// flushed, by the thread and at the time that the scenario says.
//
// All functions but WaitForWorker need the library's lock; the callbacks run under it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rules.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {

// The receiver of the records: the callbacks of the tool or of the holder.
struct BufferUser {
  cupti::BufferRequested requested = nullptr;
  cupti::BufferCompleted completed = nullptr;
  bool is_holder = false;
};
void SetBufferUser(const BufferUser& user);
const BufferUser& TheBufferUser();

// Owners of buffers: a thread's id, or one of these.
inline constexpr std::uint64_t kDeviceBuffer = 0;
inline constexpr std::uint64_t kAfterDisable = 1;  // records after the last kind was disabled

// Counts a record and writes it into the owner's buffer; without room it is counted as dropped.
void WriteRecord(std::uint64_t owner, cupti::ActivityKind kind, const std::uint8_t* bytes);

// Returns all buffers that have records, as the scenario's `deliver`, `flush` and `late` say.
void FlushBuffers(Locked& lock);
void ReturnHolderBuffers();  // returns the holder's buffers to it
void ReturnBufferLater(std::uint64_t owner);
void ResetBuffers();

std::uint64_t Issued(std::uint32_t kind);
std::uint64_t Dropped(std::uint32_t kind);
std::uint64_t ReturnedCount(std::uint32_t kind);
std::uint64_t TakeDropped();  // records dropped since the previous call
std::uint32_t BuffersHeld();
std::uint64_t CallbackTime();
std::uint64_t HolderRecords();

// Without the lock: until the worker thread has nothing left to do; `late` things, too, at once.
void DeliverLate();
// Without the lock: the worker thread is gone afterwards.
void EndWorker();

}  // namespace fake
