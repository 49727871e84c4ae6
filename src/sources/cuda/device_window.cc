// Which records belong to a window, by their times: CUPTI delivers the records of all windows together, and late ones
// after a window has ended.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/device_window.h"

#include <utility>

#include "base/text.h"
#include "opscope/cuda_source.h"

namespace opscope::cuda {

std::string DeviceProblems::Json() const {
  std::string json;
  const auto add = [&](std::string_view kind, std::string_view severity, uint64_t count, std::string_view text) {
    if (count == 0) return;
    json.append(json.empty() ? "[[\"" : ",[\"").append(kind).append("\",\"").append(severity).append("\",");
    AppendUint(&json, count);
    json.append(",");
    AppendJsonString(&json, text);
    json.append("]");
  };
  add("device_not_recorded", "", not_recorded.empty() ? 0 : 1, not_recorded);
  add("device_dropped", "", dropped, "");
  add("device_late", "", late, "");
  add("device_incomplete", "", incomplete, "");
  add("device_unknown", "", unknown, "");
  add("device_flush_timeout", "", timeouts, "");
  for (const auto& [text, count] : failed_calls)
    add("device_call_failed", lost_by_failed_calls ? "" : "info", count, text);
  return json.empty() ? json : json + "]";
}

void DeviceWindow::Begin(const ClockPair& clock) {
  begin_ns_ = clock.cupti_ns;
  if (!is_timer()) writer_.WriteClock(clock);
}

void DeviceWindow::WriteSpanOfTime(CudaEvent event, uint64_t begin_ns, uint64_t end_ns) {
  DecodedRecord record;
  record.event = event;
  record.start = begin_ns;
  record.duration = end_ns - begin_ns;
  record.SetDetails(CudaClockDetails{});
  writer_.Write(record);
}

void DeviceWindow::End(const ClockPair& clock) {
  if (is_paused()) Resume(clock);
  end_ns_ = clock.cupti_ns;
  is_open_ = false;
  if (is_timer()) return;
  writer_.WriteClock(clock);
  WriteSpanOfTime(CudaEvent::kWindow, begin_ns_, end_ns_);
}

void DeviceWindow::Pause(const ClockPair& clock) {
  paused_since_ns_ = clock.cupti_ns;
}

void DeviceWindow::Resume(const ClockPair& clock) {
  WriteSpanOfTime(CudaEvent::kPaused, paused_since_ns_, clock.cupti_ns);
  paused_since_ns_ = 0;
}

bool DeviceWindow::IsRequested(CudaEvent event) const {
  switch (event) {
    case CudaEvent::kSynchronization:
      return (flags_ & cuda_source_flags::kSynchronization) != 0;
    case CudaEvent::kEventRecord:
      return (flags_ & (cuda_source_flags::kSynchronization | cuda_source_flags::kEventNodes)) != 0;
    case CudaEvent::kExternalId:  // only timers request it
      return false;
    case CudaEvent::kEnvironment:
      return (flags_ & cuda_source_flags::kEnvironment) != 0;
    case CudaEvent::kHostNode:
      return (flags_ & cuda_source_flags::kHostNodes) != 0;
    case CudaEvent::kMemory:
      return (flags_ & cuda_source_flags::kMemory) != 0;
    case CudaEvent::kGraph:
      return (flags_ & cuda_source_flags::kGraphs) != 0;
    default:
      return true;
  }
}

// A call belongs to the window in which it began, work of a device to each window in which it runs. The clock of a
// device may lag: an open window also takes work that ended just before it, and the import checks whether the call that
// launched it is in the window.
DeviceWindow::Position DeviceWindow::PositionOf(const DecodedRecord& record) const {
  constexpr uint64_t kBehindNs = 10'000'000;
  if (record.start == 0) return Position::kUntimed;
  const bool is_over_before = record.is_call() || record.event == CudaEvent::kEnvironment  // has no length
                                  ? record.start < begin_ns_
                                  : record.start + record.duration + (is_open_ ? kBehindNs : 0) < begin_ns_;
  return is_over_before || record.start > end_ns_ ? Position::kOutside : Position::kInside;
}

void DeviceWindow::Take(const DecodedRecord& record, Decoded decoded) {
  if (!is_open_) {
    // A record is missed only if it has a time inside the window and this window, not just another one, requested it.
    const bool is_missed =
        decoded == Decoded::kWhole && IsRequested(record.event) && PositionOf(record) == Position::kInside;
    problems_.late += is_missed ? 1 : 0;
    return;
  }
  if (decoded == Decoded::kUnknown) ++problems_.unknown;
  if (decoded == Decoded::kIncomplete && IsRequested(record.event)) ++problems_.incomplete;
  if (is_timer()) {
    if (decoded == Decoded::kWhole &&
        (record.event == CudaEvent::kExternalId || PositionOf(record) == Position::kInside))
      times_->Add(record);
    return;
  }
  if (decoded != Decoded::kWhole || !IsRequested(record.event) || PositionOf(record) == Position::kOutside) return;
  const bool is_only_for_graphs = record.event == CudaEvent::kEventRecord && !IsRequested(CudaEvent::kSynchronization);
  if (!is_only_for_graphs) {
    writer_.Write(record);
    return;
  }
  DecodedRecord of_graph = record;
  of_graph.event = CudaEvent::kEventOfGraph;
  writer_.Write(of_graph);
}

NodeTimes DeviceWindow::TakeTimes() {
  times_->dropped += std::exchange(problems_.dropped, 0);
  return std::exchange(*times_, NodeTimes(flags_));
}

void DeviceWindow::WriteGraphs(const KnownGraphs& known) {
  if (!is_open_ || is_timer()) return;
  DecodedRecord record;
  if ((flags_ & cuda_source_flags::kGraphEdges) != 0) {
    record.event = CudaEvent::kGraphEdge;
    for (const auto& [from, to] : known.edges) {
      record.SetDetails(CudaGraphEdgeDetails{.from = from, .to = to});
      writer_.Write(record);
    }
  }
  if ((flags_ & cuda_source_flags::kEventNodes) == 0) return;
  record.event = CudaEvent::kEventNode;
  for (const uint64_t node : known.event_nodes) {
    record.SetDetails(CudaGraphNodeDetails{.node = node});
    writer_.Write(record);
  }
}

}  // namespace opscope::cuda
