// The simulated devices: contexts, streams that run their work in order, events, memory.
//
// All functions need the library's lock; times are of CLOCK_REALTIME in ns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>

#include "calls.h"
#include "records.h"
#include "rules.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {

// A piece of work that the device has not finished, or whose record was not collected yet.
struct Pending {
  std::uint64_t start;
  std::uint64_t end;
  Record<cupti::Activity> record;
};

struct DeviceStream {
  std::uint32_t id = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint64_t idle_from = 0;
  std::deque<Pending> pending;
};

// The stream with this id; makes the context of its device if that is missing. Null: no such stream.
DeviceStream* StreamOfWork(std::uint32_t id);
void MakeContext(std::uint32_t device);
std::uint32_t CreateStream(std::uint32_t device, std::uint32_t priority, std::uint32_t correlation);

struct Interval {
  std::uint64_t start;
  std::uint64_t end;
};
// Appends work to the stream, and returns when it runs.
Interval Schedule(DeviceStream& stream, const ApiCall& call, std::uint64_t duration_ns);
// Queues the record of that work. Collect sets its times.
template <class T>
void Submit(DeviceStream& stream, Interval when, const T& record) {
  stream.pending.push_back({when.start, when.end, {}});
  std::memcpy(stream.pending.back().record.bytes, &record, sizeof(T));
}

// Waits without the lock while the queue of the stream is full (`queue` of the scenario).
void WaitForRoom(DeviceStream& stream, Locked& lock);
// Writes the records of finished work. `forced`: also those of unfinished work, without their ends.
void Collect(bool forced = false);
// Wait without the lock until the stream, or all streams of the device, are idle.
void WaitForStream(std::uint32_t stream, Locked& lock);
void WaitForDevice(std::uint32_t device, Locked& lock);

// Write records of all existing devices, contexts, streams: for ActivityEnableAndDump.
void DumpDevices();
void DumpContexts();
void DumpStreams();
bool HasContext();

// Writes records of `kernels` kernels into a separate buffer, which is returned later.
void RunAfterTheEnd(std::uint64_t kernels);

void ResetGpu();

}  // namespace fake
