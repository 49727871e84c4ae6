// Chunks contain the records of MegEngine's recorder unchanged; only MegEngineReplay interprets them. Each window is
// read twice, because the replay needs it, the first time without payloads.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/native.h"

#include "opscope/megengine_event.h"

namespace opscope {

int64_t NativeStart(const RecordingChunk& chunk) {
  if (chunk.record_count() == 0) return 0;
  const Record first = chunk.record(0);
  const bool is_theirs = first.kind == RecordKind::kNative && first.source == RecordSource::kMegEngine;
  return is_theirs ? static_cast<int64_t>(first.start) : 0;
}

void RecordingNative::Add(ProcessId process, int64_t pid, std::span<RecordingPart> parts) {
  windows_.push_back({process, pid, parts});
}

// Members are few, and those of equal calls are mostly at the same place of a chunk.
uint64_t RecordingNative::MembersId(std::string_view members) {
  return members_.try_emplace(members, members_.size() + 1).first->second;
}

bool RecordingNative::Read(const RecordingPart& part, const PartEvent& event, bool with_payload,
                           MegEngineRecord* record) {
  const Record raw = part.chunk->record(event.row);
  if (raw.kind != RecordKind::kNative || raw.source != RecordSource::kMegEngine || raw.scope >= kMegEngineEvents) {
    return false;
  }
  *record = {.time = {static_cast<int64_t>(raw.start - static_cast<uint64_t>(clock_->epoch_ns()))},
             .value = raw.value,
             .event = static_cast<MegEngineEvent>(raw.scope),
             .finish = (raw.flags & record_flags::kFinish) != 0,
             .thread = raw.depth,
             .detail = raw.reserved,
             .name = part.name_ids[event.name]};
  if (raw.payload == 0 || !with_payload) return true;
  const std::optional<Payload> payload = part.chunk->payload(raw.payload);
  if (!payload) return false;
  if (payload->keywords != 0) {
    record->members = part.chunk->name(payload->keywords).value_or("");
    if (!record->members.empty()) record->members_id = MembersId(record->members);
  }
  if (payload->device > UINT16_MAX) return false;
  if (payload->device > 0) record->device = static_cast<uint32_t>(payload->device);
  record->address = payload->address;
  record->kernel = payload->correlation;
  record->arguments = payload->arguments;
  return true;
}

template <typename Visit>
void RecordingNative::ForEach(const Window& window, bool with_payloads, const Visit& visit) {
  MegEngineRecord record;
  for (RecordingPart& part : window.parts) {
    for (const PartEvent& event : part.events) {
      if (Read(part, event, with_payloads, &record)) {
        visit(record);
      } else if (with_payloads) {
        builder_->AddProblem("damaged_record", part.chunk->record_offset(event.row));
      }
    }
  }
}

void RecordingNative::Finish() {
  if (windows_.empty()) return;
  MegEngineReplay replay(builder_);
  for (const Window& window : windows_) {
    replay.Begin(window.process, window.pid);
    ForEach(window, false, [&](const MegEngineRecord& record) { replay.Scan(record); });
    replay.BeginReplay();
    ForEach(window, true, [&](const MegEngineRecord& record) { replay.Replay(record); });
    replay.End();
  }
  replay.Finish();
}

}  // namespace opscope
