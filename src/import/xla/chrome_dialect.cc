// XLA's dialect of Chrome JSON, which TensorBoard and JAX make from an XSpace (*.trace.json.gz). Processes are devices
// and hosts. Events have no category, so their names and members determine the kind of a span:
//
//   on a stream of a device   kernel; with "memcpy_details" copy, with "memset_details" set
//   "$file.py:12 name"        a call of Python
//   with "hlo_op"             operator
//   with "step_num": "3"      a step
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/dialect.h"
#include "import/text/json_number.h"
#include "import/xla/importer.h"

namespace opscope {
namespace {

bool IsXlaFile(const ChromeFile& file) {
  if (!file.MetadataHas("metadata", "highres-ticks")) return false;
  for (size_t i = 0; i < file.builder->process_count(); ++i) {
    const StringId name = file.builder->process(static_cast<ProcessId>(i)).name;
    const std::string_view text = name == StringId::kNone ? std::string_view() : file.builder->text(name);
    if (text.starts_with("/host:") || text.starts_with("/device:")) return true;
  }
  return false;
}

// Only the streams of a device count as busy time, or its operators if it has no streams (as in xplane.cc).
void ClassifyDeviceLines(std::span<ChromeTrackFacts> tracks) {
  constexpr std::string_view kDevice = "/device:", kStream = "Stream #";
  std::vector<bool> has_streams;  // by process
  for (const ChromeTrackFacts& track : tracks) {
    if (track.process >= has_streams.size()) has_streams.resize(track.process + 1);
    if (track.name.starts_with(kStream)) has_streams[track.process] = true;
  }
  for (ChromeTrackFacts& track : tracks) {
    if (track.kind != TrackKind::kThread || !track.process_name.starts_with(kDevice)) continue;
    const bool is_work = has_streams[track.process] ? track.name.starts_with(kStream) : track.name == "XLA Ops";
    track.kind = is_work ? TrackKind::kDeviceStream : TrackKind::kDeviceAnnotation;
    // "/device:TPU:0 (...)"
    std::string_view device = track.process_name.substr(kDevice.size());
    device = device.substr(0, device.find(' '));
    const auto number = ParseInteger(device.substr(device.find(':') + 1));
    if (number && *number >= 0 && *number < 4096) track.device = static_cast<int32_t>(*number);
  }
}

bool HasMember(std::string_view members, std::string_view key) {
  for (size_t at = members.find(key); at != std::string_view::npos; at = members.find(key, at + 1)) {
    if (at > 0 && members[at - 1] == '"' && members.substr(at + key.size()).starts_with("\":")) return true;
  }
  return false;
}

SpanKind KindOfXlaSpan(TrackKind track, std::string_view name, std::string_view members) {
  if (track == TrackKind::kDeviceStream) {
    if (HasMember(members, "memcpy_details")) return SpanKind::kCopy;
    return HasMember(members, "memset_details") ? SpanKind::kSet : SpanKind::kKernel;
  }
  if (track != TrackKind::kThread) return kKindOfCategory;
  if (name.starts_with('$')) return KindOfPythonCall(name);
  return HasMember(members, "hlo_op") ? SpanKind::kOperator : kKindOfCategory;
}

constexpr ChromeMember kMembers[] = {{.key = "step_num", .meaning = ChromeMember::Meaning::kStep}};

}  // namespace

constinit const ChromeDialect kXlaChromeDialect = {
    .format = "xla-json",
    .is_writer = IsXlaFile,
    .members = kMembers,
    .classify_tracks = ClassifyDeviceLines,
    .kind_of = KindOfXlaSpan,
};

}  // namespace opscope
