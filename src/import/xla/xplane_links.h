// Joins the events of an XSpace after all were read: arrows from a call to the device work that it started (by
// correlation), arrows from an event to the one that continued its work on another thread (by producer and consumer
// numbers), and the steps of a device if the host has none.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/xla/xplane_stats.h"
#include "trace/builder.h"

namespace opscope {

class XPlaneLinks {
 public:
  explicit XPlaneLinks(TraceBuilder* builder) : builder_(builder) {}

  void Add(const SpanRow& row, const XEventFacts& facts, AddedSpan span, bool is_device, int64_t offset);
  void AddDeviceStep(const SpanRow& row, std::optional<int64_t> number, AddedSpan span);
  uint64_t memory_bytes() const {  // approximate
    return (calls_.size() + producers_.size()) * 80 + (device_events_.capacity() + consumers_.capacity()) * 48;
  }
  // Call once. `has_python_calls`: the spans of category python_function are a complete record of the calls.
  void Finish(bool has_python_calls);

 private:
  struct End {
    AddedSpan span = AddedSpan::kNone;
    Timestamp time;
    TrackId track = TrackId::kNone;
    int64_t offset = -1;
  };
  void AddArrow(const char* category, uint64_t id, StringId name, const End& from, const End& to);

  TraceBuilder* builder_;
  std::unordered_map<uint32_t, End> calls_;              // by correlation
  std::vector<std::pair<uint32_t, End>> device_events_;  // correlation, end of the arrow
  std::map<std::pair<uint64_t, uint64_t>, End> producers_;
  std::vector<std::pair<std::pair<uint64_t, uint64_t>, End>> consumers_;
  bool has_host_steps_ = false;
  TrackId step_track_ = TrackId::kNone;  // of the first device
  struct DeviceStep {
    int64_t number = 0;
    StringId name = StringId::kEmpty;
    AddedSpan span = AddedSpan::kNone;
  };
  std::vector<DeviceStep> device_steps_;
};

}  // namespace opscope
