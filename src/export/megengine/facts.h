// Look-ups for writing MegEngine's files: the operator or tensor behind an id, a tensor's type and shape, a device's
// name.
//
// Construction costs O(rows), a look-up O(1). Thread rule: immutable after construction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "opscope/trace.h"

namespace opscope {

inline constexpr uint32_t kNoRow = UINT32_MAX;

enum class MegEngineRole : uint8_t {
  kRange,
  kDispatch,
  kOperator,
  kKernel,
  kInput,
  kOutput,
  kCommand,
  kProperty,
  kWait
};

struct MegEngineCall {
  uint32_t dispatch = kNoRow, execute = kNoRow;    // rows of spans
  uint32_t kernel = kNoRow, last_kernel = kNoRow;  // the first and the last of several
  TrackId device = TrackId::kNone;
  int32_t pending_at_dispatch = 0, pending_at_execute = 0;
};

class MegEngineFacts {
 public:
  explicit MegEngineFacts(const Trace& trace);

  MegEngineRole RoleOf(uint32_t span) const { return roles_[span]; }
  // Null if no operator has the span's id.
  const MegEngineCall* OperatorOf(uint32_t span) const;
  // The operator with this id in the track's process; null if none.
  const MegEngineCall* OperatorNumbered(TrackId track, uint64_t number) const;
  uint32_t LifeOf(uint32_t span) const;  // row of tensor_lives; kNoRow: unknown tensor
  // The next kernel of the same operator; kNoRow after the last.
  uint32_t NextKernel(uint32_t kernel) const;
  // The time at which an operator launched its first kernel: the end of its inputs.
  Timestamp LaunchTime(uint32_t span) const;
  // The time at which it had launched all kernels: the begin of its outputs.
  Timestamp OutputTime(uint32_t span) const;
  int64_t Pid(TrackId track) const { return trace_.processes().pid[Row(trace_.tracks().process[Row(track)])]; }
  // The device's name as a JSON string.
  const std::string& DeviceText(TrackId track) const;
  // JSON members for the tensor of a one-element argument list: `"dtype":"Float32"`, `"nr_elements":6`,
  // `"shape":"{2,3}"`.
  const std::string& TypeText(ArgsId args) const { return args == ArgsId::kNone ? no_type_ : types_[Row(args)]; }
  const std::string& CountText(ArgsId args) const { return args == ArgsId::kNone ? no_count_ : counts_[Row(args)]; }
  const std::string& ShapeText(ArgsId args) const { return args == ArgsId::kNone ? no_shape_ : shapes_[Row(args)]; }
  // True if the Trace is a recording with tensor lifetimes.
  bool is_of_recording() const { return !is_of_timeline_ && trace_.tensor_lives().size() != 0; }
  // True if the Trace was imported from a timeline of MegEngine or opscope: all members of its events are in `extra`.
  bool is_of_timeline() const { return is_of_timeline_; }
  // True for a thread named "worker", one that runs operators, or one on which a window began or ended.
  bool IsWorker(TrackId track) const { return is_worker_[Row(track)] != 0; }
  // True for threads and devices, except tracks that only CUPTI recorded.
  bool IsShown(TrackId track) const {
    const TrackKind kind = trace_.tracks().kind[Row(track)];
    return (kind == TrackKind::kThread || kind == TrackKind::kDeviceStream) && is_cuda_track_[Row(track)] == 0;
  }
  // False for a process of which only CUPTI recorded.
  bool IsShown(ProcessId process) const { return is_process_shown_[Row(process)] != 0; }
  uint64_t spans_of_cuda() const { return spans_of_cuda_; }  // on tracks that are not shown
  // True if MegEngine read device clocks: at kernels, at uploads and at the start.
  bool is_timed() const { return is_timed_; }
  const std::vector<MegEngineCall>& operators() const { return operators_; }

 private:
  static uint64_t Key(ProcessId process, uint64_t number) { return (uint64_t{Row(process)} << 48) ^ number; }
  uint64_t KeyOf(uint32_t span) const;
  void FindWords();
  void FindShown();
  bool DetectCudaTrack(TrackId track) const;
  MegEngineRole FindRole(uint32_t span) const;
  bool HasTensorIdZero(uint32_t span) const;  // its extra members have "id": 0
  void FindRoles();
  void FindDevices();
  void FindOperators();
  void CountPending();
  void DescribeTensors();
  void Describe(ArgsId args);

  const Trace& trace_;
  std::vector<MegEngineRole> role_of_name_;  // by StringId, for spans on threads
  std::vector<MegEngineRole> roles_;         // by span
  std::vector<MegEngineCall> operators_;
  tsl::robin_map<uint64_t, uint32_t, MixedHash> operator_of_, life_of_;
  tsl::robin_map<uint32_t, uint32_t> next_kernel_;
  std::vector<std::string> devices_, types_, counts_, shapes_;
  std::vector<uint8_t> is_worker_, is_cuda_track_, is_process_shown_;
  uint64_t spans_of_cuda_ = 0;
  bool is_timed_ = false, is_of_timeline_ = false;
  std::string no_device_ = "\"invalid\"", no_type_ = R"("dtype":"invalid")", no_count_ = R"("nr_elements":0)",
              no_shape_ = R"("shape":"{}")";
};

}  // namespace opscope
