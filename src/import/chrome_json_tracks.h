// The processes and tracks that a file names by "pid" and "tid", in numbers or text. A row of the Trace
// is made when the first event arrives; "M" events may come before or after and are applied at the end,
// and names of processes and threads without any event are left out (Kineto names 16 GPUs everywhere).
// gpu_user_annotation shares pid and tid with its stream and gets a track of its own.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/chrome_json_event.h"
#include "trace/builder.h"

namespace opscope {

class ChromeTracks {
 public:
  explicit ChromeTracks(TraceBuilder* builder) : builder_(builder) {}

  // What an event says about its track. kNothing: counters, flows, calls that wait for a device.
  enum class Role : uint8_t { kNothing, kHost, kDevice, kAnnotation };
  TrackId TrackOf(const ChromeEvent& event, Role role);
  // The number of the device that a device event names; kept on its track.
  void SetDevice(TrackId track, int32_t device) { builder_->track(track).device = device; }

  // False: not a kind of metadata that is known.
  bool AddMetadata(const ChromeEvent& event);
  // Gives names and kinds to the rows of the Trace. Call once, after the last event.
  void Finish();

 private:
  struct Names {
    StringId name = StringId::kNone;
    StringId labels = StringId::kNone;
    int64_t sort_index = INT64_MIN;
  };
  struct Process {
    ProcessId row = ProcessId::kNone;
    int64_t pid = 0;
    StringId pid_text = StringId::kNone;
    Names names;
  };
  struct Track {
    uint32_t process = 0;
    int64_t tid = 0;
    StringId tid_text = StringId::kNone;
    TrackId row = TrackId::kNone;
    TrackId annotation_row = TrackId::kNone;
    TrackKind kind = TrackKind::kOther;
    Names names;
  };

  uint32_t FindProcess(const JsonValue& pid);
  uint32_t FindTrack(const JsonValue& pid, const JsonValue& tid);
  TrackId AddRow(Track* track, TrackKind kind);
  StringId Text(const JsonValue& value);

  TraceBuilder* builder_;
  std::vector<Process> processes_;
  std::vector<Track> tracks_;
  std::unordered_map<std::string, uint32_t> process_of_key_, track_of_key_;
  // Neighbours in a file mostly share their track.
  std::string_view last_pid_, last_tid_;
  JsonValue::Kind last_pid_kind_ = JsonValue::Kind::kAbsent, last_tid_kind_ = JsonValue::Kind::kAbsent;
  uint32_t last_track_ = UINT32_MAX;
};

}  // namespace opscope
