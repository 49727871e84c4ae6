// The records of threads, thread by thread, into a TraceBuilder.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/column.h"
#include "import/recording_arguments.h"
#include "import/recording_chunk.h"
#include "import/recording_clock.h"
#include "import/recording_tree.h"
#include "import/recording_window.h"
#include "import/torch_links.h"
#include "trace/builder.h"

namespace opscope {

class RecordingTables {
 public:
  RecordingTables(TraceBuilder* builder, const TickClock* clock);

  void Reserve(size_t records) {  // of all threads
    builder_->ReserveSpans(records);
    links_.Reserve(records);
  }
  void NameProcess(int64_t pid, std::string_view name);
  // Chunks of one thread in one window, by sequence. Returns how many records were kept.
  uint64_t AddThread(std::span<const RecordingChunk> chunks, const WindowThread* facts);
  // What needs all threads: flows, spans that ended elsewhere, torch's links.
  void Finish();

 private:
  // A scope that waits for its place: where its record is, and what was looked up while its chunk was near.
  struct Scope {
    uint32_t chunk = 0;
    uint32_t row : 31 = 0;
    uint32_t has_fields : 1 = 0;  // the payload has more than arguments
    StringId name = StringId::kEmpty;
    ArgsId args = ArgsId::kNone;
  };
  struct OpenCall {  // kEnter without its kExit
    Timestamp start;
    StringId name = StringId::kEmpty;
    RecordSource source = RecordSource::kPython;
  };
  struct FlowEnd {
    uint64_t id = 0;
    Timestamp time;
    bool is_end = false;
    TrackId track = TrackId::kNone;
    StringId name = StringId::kEmpty;
  };

  ProcessId Process(int64_t pid);
  TrackId ThreadTrack(int64_t pid, uint32_t thread_index);
  TrackId DeviceTrack(const Payload& payload);

  void ReadChunk(const RecordingChunk& chunk, uint32_t index, TrackId track);
  // False: damaged.
  bool ReadRecord(const RecordingChunk& chunk, uint32_t index, uint32_t row, TrackId track);
  bool AddOther(const RecordingChunk& chunk, const Record& record, StringId name, TrackId track);
  bool AddPayloadEvent(const RecordingChunk& chunk, const Record& record, StringId name, TrackId track);
  void AddAsync(const RecordingChunk& chunk, const Scope& scope, TrackId track);
  void AddCall(const Record& record, StringId name, TrackId track);
  void CloseOpenCalls(TrackId track);
  void AddScopes(std::span<const RecordingChunk> chunks, TrackId track);
  AddedSpan AddSpan(const RecordingChunk& chunk, const Scope& scope, const Record& record, SpanRow row);
  void CountUnfinished(const RecordingChunk& chunk, uint32_t row, uint8_t flags);
  void JoinFlows();

  std::optional<StringId> NameAt(const RecordingChunk& chunk, uint32_t offset);
  StringId Category(const Record& record) const;

  TraceBuilder* builder_;
  const TickClock* clock_;
  RecordingArguments arguments_;
  TorchLinks links_;
  std::map<int64_t, ProcessId> processes_;
  std::map<std::pair<int64_t, uint32_t>, TrackId> thread_tracks_;
  std::map<std::pair<int32_t, int32_t>, TrackId> device_tracks_;
  std::vector<uint8_t> groups_of_track_;  // how many windows gave it scopes
  std::vector<FlowEnd> flow_ends_;

  // Of the thread that is being read.
  Column<Scope> scopes_;
  Column<uint16_t> depths_;
  std::vector<OpenCall> calls_;
  Timestamp last_time_;
  uint64_t kept_ = 0;
  bool has_calls_ = false;

  const RecordingChunk* chunk_of_names_ = nullptr;
  std::vector<StringId> names_of_chunk_;  // by offset / 8; kNone: not looked up yet
  StringId cpu_op_, user_annotation_, python_function_, runtime_, kernel_, instant_;
};

}  // namespace opscope
