// Replays the records of a MegEngine window: makes ranges, counters, flows and tensor lives from the same records as
// MegEngine's own writer (docs/reference/chrome_dialects.md).
//
//   Scan for each record, in their order: threads, devices, number of rows
//   Replay for each record, in the same order
//
// A window may have been recorded in pieces. MegEngine ends a piece by releasing all tensors and begins the next one by
// producing them again. Where two pieces meet, the Trace shows neither.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/megengine/open_spans.h"
#include "import/megengine/replay_record.h"
#include "import/megengine/replay_tracks.h"
#include "import/megengine/tensor_states.h"
#include "trace/builder.h"

namespace opscope {

class MegEngineReplay {
 public:
  explicit MegEngineReplay(TraceBuilder* builder);

  // Begins a window of this process.
  void Begin(ProcessId process, int64_t pid);
  void Scan(const MegEngineRecord& record);
  void BeginReplay();
  void Replay(const MegEngineRecord& record);
  void End();
  // After all windows: adds steps and the metadata of devices.
  void Finish();

 private:
  struct Operator {
    StringId name = StringId::kEmpty;
    StringId extra = StringId::kNone;
  };
  struct Kernel {
    uint64_t op = 0, number = 0;
    uint16_t device = 0;
    Timestamp start, end;
    bool has_start = false, has_end = false;
  };
  struct Thread {
    TrackId track = TrackId::kNone;
    // The profiler is starting or stopping; the window has only one of the two records of the start or stop.
    bool at_boundary = false;
    bool is_dtr = false;  // the running operator is a recomputation (DTR)
    Timestamp op_start, copy_start;
    std::optional<Timestamp> launched;  // in Scan: launch of a kernel whose first event has not come yet
    std::vector<Kernel> kernels;        // launched and not finished
    std::vector<ArgsId> inputs;         // of the running operator
  };
  struct Notice {
    Timestamp time;
    TrackId track = TrackId::kNone;
  };

  void ReplayBegin(const MegEngineRecord& record, Thread* thread);
  void ReplayEnd(const MegEngineRecord& record, Thread* thread);
  // Handles a record that lies between two pieces of a window. False: the record is an ordinary one.
  bool ReplayAtBoundary(const MegEngineRecord& record, Thread* thread);
  void ReplayTensor(const MegEngineRecord& record, TrackId track);
  void Dispatch(const MegEngineRecord& record, TrackId track);
  void Execute(const MegEngineRecord& record, Thread* thread);
  void FinishOperator(const MegEngineRecord& record, Thread* thread);
  void FinishKernel(const MegEngineRecord& record, Thread* thread);
  void Tick(const MegEngineRecord& record, Thread* thread);
  void CopyToDevice(const MegEngineRecord& record, const Thread& thread);
  void AddCopies(uint16_t device, std::optional<Timestamp> next);
  void FinishOnDevice(const MegEngineRecord& record, TrackId track);
  void FinishWait(const MegEngineRecord& record, TrackId track);
  void Count(std::string_view name, TrackId track, Timestamp time, double value);
  void AddUp(const char* name, TrackId track, Timestamp time, int64_t delta);
  StringId OperatorMembers(const MegEngineRecord& record);
  StringId ScopeCategory(uint16_t type) const;
  ArgsId JoinInputs(const std::vector<ArgsId>& inputs);
  Thread& Of(uint16_t thread);

  TraceBuilder* builder_;
  ReplayTracks tracks_;
  OpenSpans spans_;
  TensorStates tensors_;
  std::vector<Thread> threads_;
  std::map<uint16_t, std::vector<SpanRow>> copies_;  // by device, since its newest event
  tsl::robin_map<uint64_t, Operator> operators_;
  std::unordered_map<uint64_t, StringId> operator_members_;    // by name and members_id
  std::unordered_map<uint64_t, std::vector<Notice>> notices_;  // by tensor, since the last wait for it
  std::unordered_map<std::string, int64_t> totals_;            // of cumulative counters, by name
  std::map<std::vector<ArgsId>, ArgsId> joined_;
  size_t rows_ = 0;
  uint32_t shown_thread_ = UINT32_MAX;
  uint64_t pieces_ = 1, piece_ = 0;
  StringId pid_text_ = StringId::kEmpty, kernel_, tensor_prop_, value_, dispatch_;
  StringId property_members_[6], command_names_[6], scope_types_[5];
};

}  // namespace opscope
