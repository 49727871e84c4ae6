// Adds the parts (part.h) of threads to a TraceBuilder, thread by thread.
//
//   AddThread for each thread and window   names and arguments get their ids, events are added, scopes get rows
//   Fill                                   the rows are written, many parts at once
//   Finish                                 steps, flows and torch's links, which need all threads
//
// Thread rule: one thread at a time; Fill uses helper threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/thread_team.h"
#include "import/paddle/cuda_naming.h"
#include "import/recording/arguments.h"
#include "import/recording/calls.h"
#include "import/recording/chunk.h"
#include "import/recording/clock.h"
#include "import/recording/cuda.h"
#include "import/recording/flows.h"
#include "import/recording/memory.h"
#include "import/recording/native.h"
#include "import/recording/paddle_members.h"
#include "import/recording/part.h"
#include "import/recording/tensors.h"
#include "import/recording/tracks.h"
#include "import/recording/window.h"
#include "import/torch/links.h"
#include "trace/builder.h"

namespace opscope {

class RecordingTables {
 public:
  RecordingTables(TraceBuilder* builder, const TickClock* clock);

  void NameProcess(int64_t pid, std::string_view name) { tracks_.NameProcess(pid, name); }
  // Adds the chunks of one thread in one window, by sequence, and their parts. A chunk that occurs twice has one part.
  // `parts` outlives Finish. window_end: ticks; 0: unknown. Returns the number of records added.
  uint64_t AddThread(std::span<const RecordingChunk> chunks, std::span<RecordingPart> parts, const WindowThread* facts,
                     uint64_t window_end);
  void Fill(ThreadTeam* team);
  void AddHostMemory(const HostMemory& memory) { memory_.AddHostMemory(memory); }
  TorchLinks* links() { return &links_; }
  void NameGraphNodes(std::string_view json) { cuda_.NameNodes(json); }
  void UsePaddleNaming() { cuda_.UseNaming(kPaddleNaming); }
  // Moves the begins of steps as step_starts.h describes. Call before AddThread.
  void AdjustSteps() { calls_.CollectStarts(&step_starts_.emplace()); }
  void Finish();

 private:
  // A span whose completion needs the builder, which one thread at a time may use.
  struct DeferredSpan {
    uint32_t place = 0;
    bool is_negative = false;  // the recorded duration was negative
    const PartScope* scope = nullptr;
  };
  // Results of filling the rows of one part. Spans are counted from the thread's first row; the last one comes first.
  struct FilledPart {
    RecordingPart* part = nullptr;
    uint32_t thread = 0;  // row of threads_
    std::vector<DeferredSpan> deferred;
    std::vector<uint32_t> sequenced, backward;  // spans for TorchLinks
    std::vector<TensorRow> tensors;  // from the last tensor of the last span to the first tensor of the first span
  };
  struct AsyncSpan {
    AddedSpan span = AddedSpan::kNone;
    const RecordingPart* part = nullptr;
    const PartScope* scope = nullptr;
  };
  struct Thread {  // of one window
    TrackId track = TrackId::kNone;
    AddedSpan first = AddedSpan::kNone;
    size_t count = 0;
    size_t first_part = 0, part_count = 0;  // of parts_
    std::vector<AsyncSpan> async;
  };

  // Gives names and arguments their ids.
  void Identify(RecordingPart* part);

  // Adds the chunks of another recorder or of a device, which are not a thread. Returns the number of records added.
  uint64_t AddNative(int64_t pid, std::span<RecordingPart> parts);
  uint64_t CountKept(const RecordingPart& part);
  void AddEvents(RecordingPart* part, TrackId track);
  // False: damaged.
  bool AddEvent(const RecordingChunk& chunk, const Record& record, StringId name, TrackId track);
  StringId MembersOf(const RecordingChunk& chunk, const Record& record);
  bool AddPayloadEvent(const RecordingChunk& chunk, const Record& record, StringId name, TrackId track);
  void CloseOpenCalls(std::span<const RecordingPart> parts, uint64_t window_end);
  void AddScopes(std::span<RecordingPart> parts, Thread* thread);
  void AddAsync(const RecordingPart& part, const PartScope& scope, Thread* thread);

  SpanRow RowOf(const RecordingPart& part, const PartScope& scope, const Record& record, const TickClock& clock) const;
  void FillPart(const Thread& thread, const TickClock& clock, FilledPart* filled);
  static bool NeedsBuilder(const RecordingPart& part, const PartScope& scope, const Record& record, const SpanRow& row);
  void Complete(const RecordingPart& part, const PartScope& scope, AddedSpan span);
  std::string_view TakeFrames(std::string_view text, AddedSpan span);
  void CompleteThread(const Thread& thread);
  void LinkThread(const Thread& thread);

  StringId Category(const Record& record) const;
  void NameTypesOfPaddle();

  TraceBuilder* builder_;
  const TickClock* clock_;
  RecordingArguments arguments_;
  TorchLinks links_;
  RecordingTracks tracks_;
  RecordingTensors tensors_;
  RecordingFlows flows_;
  enum class TrackOrder : uint8_t { kUnknown, kOneWindow, kManyWindows, kCrossing };
  std::vector<TrackOrder> track_orders_;
  std::vector<Thread> threads_;
  std::vector<FilledPart> parts_;
  RecordingMemory memory_;
  RecordingNative native_;
  RecordingCuda cuda_;
  std::unordered_map<std::string, StackId> stacks_of_scripts_;  // by their text

  RecordingCalls calls_;  // of the thread that is being added
  // JSON members of calls, by the offset of their payload in the current chunk, because calls share payloads.
  tsl::robin_map<uint32_t, StringId> members_;
  std::optional<StepStarts> step_starts_;

  StringId cpu_op_, user_annotation_, python_function_, runtime_, kernel_, instant_;
  std::vector<StringId> paddle_types_;  // by number; empty: no event of Paddle was seen
  PaddleMembers paddle_members_;
};

}  // namespace opscope
