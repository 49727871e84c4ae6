// One recording that takes records of devices: its track, its interval of time, and its losses.
//
// Thread rule: guarded by the collector's mutex.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "opscope/recorder.h"
#include "sources/cuda/cupti_decode.h"
#include "sources/cuda/graph_recorder.h"
#include "sources/cuda/node_times.h"
#include "sources/cuda/track_writer.h"

namespace opscope::cuda {

struct DeviceProblems {
  uint64_t dropped = 0, late = 0, incomplete = 0, unknown = 0;
  uint64_t timeouts = 0;
  std::map<std::string, uint64_t> failed_calls;  // "cuptiActivityDisable: CUPTI_ERROR_UNKNOWN"
  bool lost_by_failed_calls = false;
  std::string not_recorded;  // the reason; "" if the device is recorded

  // The value of kDeviceProblemsKey; "" when there are none.
  std::string Json() const;
};

class DeviceWindow {
 public:
  // Null track: the device is not recorded.
  DeviceWindow(Window* window, Stream* track, uint32_t flags, ClockPair (*read_clock)())
      : window_(window), flags_(flags), writer_(track, read_clock) {}

  // A timer, which has no track.
  explicit DeviceWindow(uint32_t flags)
      : window_(nullptr), flags_(flags), writer_(nullptr, nullptr), times_(std::make_unique<NodeTimes>(flags)) {}

  Window* window() const { return window_; }
  Stream* track() const { return writer_.track(); }
  uint32_t flags() const { return flags_; }
  DeviceProblems& problems() { return problems_; }

  void Begin(const ClockPair& clock);
  // Records that arrive after this call are counted as late.
  void End(const ClockPair& clock);
  bool is_open() const { return is_open_; }
  // Work launched between Pause and Resume does not belong to the window; CUPTI still delivers it if another window is
  // open.
  void Pause(const ClockPair& clock);
  void Resume(const ClockPair& clock);
  bool is_paused() const { return paused_since_ns_ != 0; }

  // Writes the known edges and event nodes of graphs, if requested. REQUIRES: the window is open.
  void WriteGraphs(const KnownGraphs& known);

  bool is_timer() const { return times_ != nullptr; }
  // The times since the last call. REQUIRES: is_timer().
  NodeTimes TakeTimes();

  // Writes the record if it belongs to this window.
  void Take(const DecodedRecord& record, Decoded decoded);

 private:
  enum class Position : uint8_t { kInside, kOutside, kUntimed };
  Position PositionOf(const DecodedRecord& record) const;
  bool IsRequested(CudaEvent event) const;
  void WriteSpanOfTime(CudaEvent event, uint64_t begin_ns, uint64_t end_ns);

  Window* window_;
  uint32_t flags_;
  TrackWriter writer_;
  DeviceProblems problems_;
  uint64_t begin_ns_ = 0, end_ns_ = UINT64_MAX;  // of CUPTI's clock
  uint64_t paused_since_ns_ = 0;                 // of CUPTI's clock; 0: not paused
  std::unique_ptr<NodeTimes> times_;             // the times that a timer collects; null: not a timer
  bool is_open_ = true;
};

}  // namespace opscope::cuda
