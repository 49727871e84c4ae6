// SPDX-License-Identifier: Apache-2.0
#include "import/recording/cuda.h"

#include <algorithm>
#include <optional>
#include <string>

#include "opscope/cuda_event.h"
#include "opscope/window_facts.h"

namespace opscope {
namespace {

CudaEvent EventOf(const Record& record) {
  return static_cast<CudaEvent>(record.scope);
}

bool IsOfCuda(const Record& record) {
  return record.kind == RecordKind::kNative && record.source == RecordSource::kCuda && record.scope < kCudaEvents;
}

bool IsCall(CudaEvent event) {
  return event == CudaEvent::kRuntimeCall || event == CudaEvent::kDriverCall;
}

bool IsOwnNote(CudaEvent event) {
  return event == CudaEvent::kClock || event == CudaEvent::kDevice || event == CudaEvent::kWindow;
}

}  // namespace

uint64_t RecordingCuda::Add(ProcessId process, int64_t pid, std::span<RecordingPart> parts) {
  uint64_t notes = 0;
  size_t calls = 0;
  for (const RecordingPart& part : parts) {
    for (const PartEvent& row : part.events) {
      const CudaEvent event = EventOf(part.chunk->record(row.row));
      notes += IsOwnNote(event) ? 1 : 0;
      calls += IsCall(event) ? 1 : 0;
    }
  }
  windows_.push_back({.process = process, .pid = pid, .parts = parts, .calls = calls});
  return notes;
}

void RecordingCuda::ReadClock(Window& window, CudaClock* clock) {
  for (const RecordingPart& part : window.parts) {
    for (const PartEvent& event : part.events) {
      const Record record = part.chunk->record(event.row);
      if (!IsOfCuda(record)) continue;
      if (EventOf(record) == CudaEvent::kWindow) window.begin = record.start, window.end = record.start + record.value;
      if (EventOf(record) != CudaEvent::kClock) continue;
      const auto extent = record.side == 0 ? std::nullopt : part.chunk->payload_extent(record.side);
      const CudaRecord read{.details = extent ? extent->body : std::span<const std::byte>()};
      const Timestamp time = clock_->At(record.value);
      clock->Add(record.start, time, clock_->At(record.value + read.As<CudaClockDetails>().bound_ticks) - time);
    }
  }
  clock->Order();
  if (!clock->empty()) builder_->AddMetadata(kCudaClockBoundKey, std::to_string(clock->bound().ns));
}

template <typename Visit>
void RecordingCuda::ForEach(const Window& window, const CudaClock& clock, bool counts_damage, const Visit& visit) {
  std::vector<CudaShared> shared;  // by place in the chunk; few of them are used
  std::vector<uint32_t> used;
  for (RecordingPart& part : window.parts) {
    for (const uint32_t place : used)
      shared[place] = CudaShared();
    used.clear();
    shared.resize(std::max(shared.size(), part.chunk->byte_size() / 8 + 1));
    for (const PartEvent& event : part.events) {
      const Record raw = part.chunk->record(event.row);
      const auto extent = raw.side == 0 ? std::nullopt : part.chunk->payload_extent(raw.side);
      if (!IsOfCuda(raw) || !extent) {
        if (counts_damage) builder_->AddProblem("damaged_record", part.chunk->record_offset(event.row));
        continue;
      }
      if (IsOwnNote(EventOf(raw)) && EventOf(raw) != CudaEvent::kDevice) continue;
      // A call is of the window in which it begins; what a device does, of those in which it runs.
      const uint64_t last = raw.start + (IsCall(EventOf(raw)) ? 0 : raw.value);
      const CudaRecord record{.event = EventOf(raw),
                              .is_outside = raw.start != 0 && (last < window.begin || raw.start > window.end),
                              .correlation = CudaCorrelation(raw),
                              .start = clock.At(raw.start),
                              .duration = {static_cast<int64_t>(raw.value)},
                              .name = part.name_ids[event.name],
                              .details = extent->body};
      const uint32_t place = raw.side / 8;
      if (!shared[place].is_known) used.push_back(place);
      visit(record, &shared[place]);
    }
  }
}

std::set<TrackId> RecordingCuda::Finish() {
  if (windows_.empty()) return {};
  CudaImport import(builder_, *words_);
  for (Window& window : windows_) {
    CudaClock clock;
    ReadClock(window, &clock);
    if (clock.empty()) continue;  // its first chunk is missing, or nothing is in it
    import.Begin(window.process, window.pid, window.calls);
    ForEach(window, clock, true, [&](const CudaRecord& record, CudaShared* shared) { import.Look(record, shared); });
    ForEach(window, clock, false, [&](const CudaRecord& record, CudaShared* shared) { import.Add(record, shared); });
    import.End();
  }
  import.Finish();
  return import.call_tracks();
}

}  // namespace opscope
