// The records that are not scopes: calls, allocations, counters, instants, flows, device spans.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "import/recording/thread.h"

namespace opscope {

void RecordingTables::AddEvents(RecordingPart* part, TrackId track) {
  for (const PartEvent& event : part->events) {
    if (!AddEvent(*part->chunk, part->chunk->record(event.row), part->name_ids[event.name], track)) {
      part->CountDamage(event.row);
    }
  }
}

bool RecordingTables::AddEvent(const RecordingChunk& chunk, const Record& record, StringId name, TrackId track) {
  const Timestamp time = clock_->At(record.start);
  switch (record.kind) {
    case RecordKind::kEnter:
      calls_.Enter(record, time, name, Category(record));
      return true;
    case RecordKind::kExit:
      calls_.Exit(record, time);
      return true;
    case RecordKind::kHostBlock:
      memory_.AddHostBlock(record, time, chunk.process(), track);
      return true;
    case RecordKind::kHeld:
      return AddHeldTensors(chunk, record, track);
    case RecordKind::kAllocation:
    case RecordKind::kDeviceSpan:
      return AddPayloadEvent(chunk, record, name, track);
    case RecordKind::kCounter:
      builder_->AddCounter({.time = time,
                            .name = name,
                            .series = builder_->Intern("value"),
                            .track = track,
                            .value = std::bit_cast<double>(record.value)});
      return true;
    case RecordKind::kInstant:
      builder_->AddInstant({.time = time, .name = name, .category = instant_, .track = track});
      return true;
    case RecordKind::kFlowBegin:
    case RecordKind::kFlowEnd:
      flow_ends_.push_back({record.value, time, record.kind == RecordKind::kFlowEnd, track, name});
      return true;
    default:
      return false;
  }
}

bool RecordingTables::AddPayloadEvent(const RecordingChunk& chunk, const Record& record, StringId name, TrackId track) {
  const std::optional<Payload> payload = record.side == 0 ? std::nullopt : chunk.payload(record.side);
  if (!payload) return false;
  const Timestamp time = clock_->At(record.start);
  if (record.kind == RecordKind::kAllocation) {
    if (!payload->has_address) return false;
    memory_.AddAllocation({.time = time,
                           .track = track,
                           .address = payload->address,
                           .bytes = static_cast<int64_t>(record.value),
                           .total_allocated = payload->total_allocated,
                           .total_reserved = payload->total_reserved,
                           .device_type = static_cast<int32_t>(payload->device_type),
                           .device = payload->device});
    return true;
  }
  if (!payload->has_device) return false;
  builder_->AddSpan({.start = time,
                     .duration = clock_->At(record.start + record.value) - time,
                     .name = name,
                     .category = kernel_,
                     .track = DeviceTrack(*payload),
                     .correlation = static_cast<uint32_t>(payload->correlation)});
  return true;
}

TrackId RecordingTables::DeviceTrack(const Payload& payload) {
  const auto [found, added] = device_tracks_.try_emplace({payload.device, payload.stream}, TrackId::kNone);
  if (added) {
    // As in Kineto's traces the device is a process of its own and the stream its thread.
    found->second = builder_->AddTrack({.process = Process(payload.device),
                                        .kind = TrackKind::kDeviceStream,
                                        .tid = payload.stream,
                                        .device = payload.device});
  }
  return found->second;
}

// When the window ended, or at the last that its thread recorded: whatever is later.
void RecordingTables::CloseOpenCalls(std::span<const RecordingPart> parts, uint64_t window_end) {
  if (calls_.empty()) return;
  Timestamp last = window_end != 0 ? clock_->At(window_end) : Timestamp{INT64_MIN};
  for (const RecordingPart& part : parts) {
    for (const PartEvent& event : part.events)
      last = std::max(last, clock_->At(part.chunk->start(event.row)));
    for (const auto scopes : {std::span<const PartScope>(part.scopes), std::span<const PartScope>(part.async)}) {
      for (const PartScope& scope : scopes) {
        const Record record = part.record(scope);
        last = std::max(last, clock_->At(record.start + record.value));
      }
    }
  }
  calls_.EndThread(last);
}

// A begin is joined to every end of its id that comes after it and before the next begin of that id.
void RecordingTables::JoinFlows() {
  std::stable_sort(flow_ends_.begin(), flow_ends_.end(), [](const FlowEnd& a, const FlowEnd& b) {
    if (a.id != b.id) return a.id < b.id;
    if (a.time != b.time) return a.time < b.time;
    return a.is_end < b.is_end;
  });
  const StringId category = builder_->Intern("flow");
  uint64_t unpaired = 0;
  const FlowEnd* begin = nullptr;
  bool begin_used = true;
  for (const FlowEnd& end : flow_ends_) {
    if (!end.is_end) {
      unpaired += begin_used ? 0 : 1;
      begin = &end;
      begin_used = false;
    } else if (begin == nullptr || begin->id != end.id) {
      ++unpaired;
    } else {
      begin_used = true;
      builder_->AddFlow({.id = end.id,
                         .category = category,
                         .name = begin->name,
                         .start_time = begin->time,
                         .start_track = begin->track,
                         .end_time = end.time,
                         .end_track = end.track});
    }
  }
  unpaired += begin_used ? 0 : 1;
  if (unpaired > 0) builder_->AddProblem("unpaired_flow", -1, unpaired);
}

}  // namespace opscope
