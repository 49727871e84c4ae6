// Measures memory copies by device, direction and kind of memory. The direction is parsed from the name, because each
// writer spells it its own way: "Memcpy HtoD (Pageable -> Device)" (CUPTI), "MEMCPY_HtoD" (Paddle), "MemcpyH2D" (XLA).
// exposed_ns is the part of the copies that no kernel hides: union(kernels and copies) - union(kernels). A copy counts
// as synchronous if its call is not Async, or if it touches pageable memory, for which CUDA's Async calls may wait too.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/device_copies.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/device_report.h"
#include "analysis/intervals.h"
#include "analysis/track_spans.h"
#include "base/json_members.h"
#include "base/parse_whole.h"
#include "base/saturating.h"

namespace opscope {
namespace {

// The kind of a copy, from its name or its members.
struct Kind {
  std::string kind, source, target;
  auto operator<=>(const Kind&) const = default;

  bool is_between_devices() const { return kind == "DtoD" || kind == "PtoP"; }
  bool is_on_host() const { return kind == "HtoH"; }
  bool is_pageable() const { return source == "Pageable" || target == "Pageable"; }
};

// Returns "HtoD" for "Memcpy HtoD (..)" (CUPTI), "MEMCPY_HtoD" (Paddle) and "MemcpyH2D" (XLA).
std::string DirectionIn(std::string_view name) {
  constexpr std::string_view kPlaces = "HDPA";
  for (size_t at = 0; at < name.size(); ++at) {
    if (kPlaces.find(name[at]) == kPlaces.npos) continue;
    const std::string_view rest = name.substr(at + 1);
    const size_t skip = rest.starts_with("to") ? 2 : rest.starts_with("2") ? 1 : 0;
    if (skip == 0 || rest.size() <= skip || kPlaces.find(rest[skip]) == kPlaces.npos) continue;
    return std::string(1, name[at]) + "to" + rest[skip];
  }
  return {};
}

Kind KindOf(std::string_view name, std::string_view members) {
  constexpr std::string_view kArrow = " -> ";
  Kind kind{.kind = DirectionIn(name), .source = {}, .target = {}};
  const size_t open = name.rfind('('), arrow = name.rfind(kArrow), close = name.rfind(')');
  if (open < arrow && arrow < close && close != name.npos) {
    kind.source = name.substr(open + 1, arrow - open - 1);
    kind.target = name.substr(arrow + kArrow.size(), close - arrow - kArrow.size());
  } else {  // Paddle writes members
    kind.source = Unquoted(FindJsonMember(members, "source kind"));
    kind.target = Unquoted(FindJsonMember(members, "destination kind"));
  }
  return kind;
}

std::optional<int64_t> BytesIn(std::string_view members) {
  const std::optional<int64_t> bytes = ParseWhole<int64_t>(FindJsonMember(members, "bytes"));
  return bytes && *bytes >= 0 ? bytes : std::nullopt;
}

// True if the call waits for the copy, or may wait ("API synchronization behavior" in CUDA's manuals).
bool IsSynchronous(std::string_view call, const Kind& kind) {
  if (call.find("Memcpy") == call.npos || kind.is_between_devices()) return false;
  const bool is_async = call.find("Async") != call.npos;
  return !is_async || kind.is_pageable() || kind.is_on_host();
}

struct Copies {
  DeviceCopyRow row;
  std::vector<Interval> intervals;
  int64_t timed_bytes = 0, timed_ns = 0;  // of copies with both
};

struct Copy {
  Interval time;
  std::optional<int64_t> bytes;
  std::string_view call;  // name of the launching call; "": unknown
};

void Add(const Copy& copy, const Kind& kind, uint64_t small_bytes, Copies* copies) {
  DeviceCopyRow& row = copies->row;
  const int64_t duration = SaturatingSubtract(copy.time.end, copy.time.begin);
  ++row.count;
  row.total_ns = SaturatingAdd(row.total_ns, duration);
  copies->intervals.push_back(copy.time);
  if (copy.bytes) {
    row.bytes = SaturatingAdd(row.bytes.value_or(0), *copy.bytes);
    if (static_cast<uint64_t>(*copy.bytes) <= small_bytes) {
      ++row.small;
      row.small_ns = SaturatingAdd(row.small_ns, duration);
    }
    if (duration > 0) {
      copies->timed_bytes = SaturatingAdd(copies->timed_bytes, *copy.bytes);
      copies->timed_ns = SaturatingAdd(copies->timed_ns, duration);
    }
  }
  if (copy.call.empty()) return;
  ++row.launched;
  if (!IsSynchronous(copy.call, kind)) return;
  ++row.synchronous;
  row.synchronous_ns = SaturatingAdd(row.synchronous_ns, duration);
}

// `kernels`: of the device. A file may name any number of kinds, so no kind may cost a pass over the kernels.
void Finish(const IntervalSet& kernels, Copies* copies) {
  const IntervalSet busy(std::move(copies->intervals));
  for (const Interval& copy : busy.intervals()) {
    const int64_t alone = SaturatingSubtract(copy.end, copy.begin) - kernels.LengthIn(copy.begin, copy.end);
    copies->row.exposed_ns = SaturatingAdd(copies->row.exposed_ns, alone);
  }
  if (copies->timed_ns == 0) return;
  const __int128 rate = static_cast<__int128>(copies->timed_bytes) * 1'000'000'000 / copies->timed_ns;
  copies->row.bytes_per_second = static_cast<int64_t>(std::min<__int128>(rate, INT64_MAX));
}

}  // namespace

std::vector<DeviceCopyRow> MeasureCopies(const DeviceCopyOptions& options, DeviceAnalysisState* works) {
  const Trace& trace = works->trace;
  const TrackColumns& tracks = trace.tracks();
  const SpanColumns& spans = trace.spans();
  struct Device {
    std::map<Kind, Copies> copies;
    std::vector<Interval> kernels;
  };
  std::map<std::pair<ProcessId, int32_t>, Device> devices;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kDeviceStream) continue;
    Device& device = devices[{tracks.process[track], tracks.device[track]}];
    works->finder.ForEach(track, options.selected, [&](uint32_t span, WorkClass) {
      const Interval time = TimeOfSpan(spans, span);
      if (spans.kind[span] == SpanKind::kKernel) device.kernels.push_back(time);
      if (spans.kind[span] != SpanKind::kCopy) return;
      const std::string_view members = trace.text(spans.extra[span]);
      const SpanId call = works->calls.LaunchOf(span);
      const Copy copy{time, BytesIn(members),
                      call == SpanId::kNone ? std::string_view() : trace.text(spans.name[Row(call)])};
      const Kind kind = KindOf(trace.text(spans.name[span]), members);
      Add(copy, kind, options.small_bytes, &device.copies[kind]);
    });
  }
  std::vector<DeviceCopyRow> rows;
  for (auto& [key, device] : devices) {
    const IntervalSet kernels(std::move(device.kernels));
    for (auto& [kind, copies] : device.copies) {
      Finish(kernels, &copies);
      DeviceCopyRow& row = rows.emplace_back(std::move(copies.row));
      std::tie(row.process, row.device) = key;
      row.kind = kind.kind, row.source = kind.source, row.target = kind.target;
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const DeviceCopyRow& a, const DeviceCopyRow& b) { return a.total_ns > b.total_ns; });
  return rows;
}

}  // namespace opscope
