// SPDX-License-Identifier: Apache-2.0
#include "import/chrome_json_tracks.h"

#include <optional>

#include "import/chrome_json_number.h"

namespace opscope {
namespace {

// "pid" or "tid": a number (also when it is spelt as text), or a text of its own.
struct Identity {
  int64_t number = 0;
  std::optional<std::string> text;

  std::string Key() const { return text ? "t" + *text : "n" + std::to_string(number); }
};

Identity ReadIdentity(const JsonValue& value) {
  if (!value.is_number() && !value.is_string()) return {};
  if (const auto number = ParseInteger(value.text)) return {.number = *number, .text = {}};
  std::string text;
  AppendDecoded(&text, value.text);
  return {.number = 0, .text = std::move(text)};
}

const JsonMember* FindArg(const ChromeEvent& event, std::string_view key) {
  for (const JsonMember& member : event.args) {
    if (member.key.text == key) return &member;
  }
  return nullptr;
}

}  // namespace

StringId ChromeTracks::Text(const JsonValue& value) {
  if (value.plain) return builder_->Intern(value.text);
  std::string text;
  AppendDecoded(&text, value.text);
  return builder_->Intern(text);
}

uint32_t ChromeTracks::FindProcess(const JsonValue& pid) {
  const Identity identity = ReadIdentity(pid);
  const auto [found, added] = process_of_key_.try_emplace(identity.Key(), static_cast<uint32_t>(processes_.size()));
  if (added) {
    Process process;
    process.pid = identity.number;
    if (identity.text) process.pid_text = builder_->Intern(*identity.text);
    processes_.push_back(process);
  }
  return found->second;
}

uint32_t ChromeTracks::FindTrack(const JsonValue& pid, const JsonValue& tid) {
  if (last_track_ != UINT32_MAX && pid.kind == last_pid_kind_ && tid.kind == last_tid_kind_ && pid.text == last_pid_ &&
      tid.text == last_tid_) {
    return last_track_;
  }
  const uint32_t process = FindProcess(pid);
  const Identity identity = ReadIdentity(tid);
  const auto [found, added] =
      track_of_key_.try_emplace(std::to_string(process) + " " + identity.Key(), static_cast<uint32_t>(tracks_.size()));
  if (added) {
    Track track;
    track.process = process;
    track.tid = identity.number;
    if (identity.text) track.tid_text = builder_->Intern(*identity.text);
    tracks_.push_back(track);
  }
  last_pid_ = pid.text;
  last_tid_ = tid.text;
  last_pid_kind_ = pid.kind;
  last_tid_kind_ = tid.kind;
  last_track_ = found->second;
  return last_track_;
}

TrackId ChromeTracks::AddRow(Track* track, TrackKind kind) {
  Process& process = processes_[track->process];
  if (process.row == ProcessId::kNone) {
    process.row = builder_->AddProcess({.pid = process.pid, .pid_text = process.pid_text});
  }
  return builder_->AddTrack({.process = process.row, .kind = kind, .tid = track->tid, .tid_text = track->tid_text});
}

TrackId ChromeTracks::TrackOf(const ChromeEvent& event, Role role) {
  Track& track = tracks_[FindTrack(event.pid, event.tid)];
  if (role == Role::kAnnotation) {
    if (track.annotation_row == TrackId::kNone) {
      track.annotation_row = AddRow(&track, TrackKind::kDeviceAnnotation);
    }
    return track.annotation_row;
  }
  if (track.row == TrackId::kNone) track.row = AddRow(&track, TrackKind::kOther);
  if (role == Role::kDevice) {
    track.kind = TrackKind::kDeviceStream;
  } else if (role == Role::kHost && track.kind == TrackKind::kOther &&
             processes_[track.process].pid_text == StringId::kNone) {
    track.kind = TrackKind::kThread;
  }
  return track.row;
}

bool ChromeTracks::AddMetadata(const ChromeEvent& event) {
  if (!event.name.is_string()) return false;
  const std::string_view what = event.name.text;
  const bool of_process = what.starts_with("process_");
  if (!of_process && !what.starts_with("thread_")) return false;
  const std::string_view field = what.substr(what.find('_') + 1);
  if (field != "name" && field != "sort_index" && (field != "labels" || !of_process)) return false;
  Names& names = of_process ? processes_[FindProcess(event.pid)].names : tracks_[FindTrack(event.pid, event.tid)].names;
  const JsonMember* value = FindArg(event, field);
  if (value == nullptr) return true;
  if (field == "sort_index") {
    if (const auto number = ParseInteger(value->value.text)) names.sort_index = *number;
  } else if (value->value.is_string() || value->value.is_number()) {
    (field == "name" ? names.name : names.labels) = Text(value->value);
  }
  return true;
}

void ChromeTracks::Finish() {
  for (const Process& process : processes_) {
    if (process.row == ProcessId::kNone) continue;
    ProcessRow& row = builder_->process(process.row);
    row.name = process.names.name;
    row.labels = process.names.labels;
    row.sort_index = process.names.sort_index;
  }
  for (const Track& track : tracks_) {
    for (const TrackId id : {track.row, track.annotation_row}) {
      if (id == TrackId::kNone) continue;
      TrackRow& row = builder_->track(id);
      row.name = track.names.name;
      row.sort_index = track.names.sort_index;
      if (id == track.row) row.kind = track.kind;
      const bool on_device = row.kind == TrackKind::kDeviceStream || row.kind == TrackKind::kDeviceAnnotation;
      const int64_t pid = processes_[track.process].pid;
      if (on_device && row.device < 0 && pid >= 0 && pid < 4096) row.device = static_cast<int32_t>(pid);
      if (!on_device) row.device = -1;
    }
  }
}

}  // namespace opscope
