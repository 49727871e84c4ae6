// Tracks are looked up in two steps. Within a part a hash table from the spelling of "pid" and "tid" gives the number
// without parsing, because every event needs it. Across parts a map from the parsed numbers makes 1, "1" and 1.0 the
// same process; it is used once for each track of a part. Names come as separate events, before or after, so kinds and
// names are set at the end.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/tracks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "import/chrome/dialect.h"
#include "import/text/json_number.h"
#include "import/text/json_walk.h"

namespace opscope {
namespace {

StringId TextIn(TextInterner* texts, const JsonValue& value) {
  if (value.plain) return static_cast<StringId>(texts->AddView(value.text));
  return static_cast<StringId>(texts->Add(DecodedText(value)));
}

// 1, 1.0, 1e0 and "1" are one process.
std::optional<int64_t> IdentityNumber(const JsonValue& value) {
  return value.is_string() ? ParseInteger(value.text) : ParseWholeNumber(value);
}

bool IsSpeltAlike(const JsonValue& a, const JsonValue& b) {
  return a.kind == b.kind && a.text == b.text;
}

ChromeIdentity InTrace(const ChromeIdentity& of_part, const std::vector<StringId>& string_of) {
  if (of_part.text == StringId::kNone) return of_part;
  return {.number = 0, .text = string_of[Row(of_part.text)]};
}

}  // namespace

ChromeIdentity ChromePartTracks::ReadIdentity(const JsonValue& value) {
  if (!value.is_number() && !value.is_string()) return {};
  if (const auto number = IdentityNumber(value)) return {.number = *number};
  return {.number = 0, .text = TextIn(texts_, value)};
}

uint32_t ChromePartTracks::AddTrack(const JsonValue& pid, const JsonValue& tid) {
  Track track{.pid_value = pid, .tid_value = tid, .pid = ReadIdentity(pid), .tid = {}};
  track.tid = ReadIdentity(tid);
  tracks_.push_back(track);
  return static_cast<uint32_t>(tracks_.size() - 1);
}

uint32_t ChromePartTracks::FindTrack(const JsonValue& pid, const JsonValue& tid) {
  if (tracks_.size() * 2 >= slots_.size()) GrowSlots();
  const size_t mask = slots_.size() - 1;
  size_t at = (TextInterner::HashOf(pid.text) * 31 + TextInterner::HashOf(tid.text)) & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    const Track& track = tracks_[slots_[at] - 1];
    if (IsSpeltAlike(track.tid_value, tid) && IsSpeltAlike(track.pid_value, pid)) return slots_[at] - 1;
  }
  const uint32_t added = AddTrack(pid, tid);
  slots_[at] = added + 1;
  return added;
}

void ChromePartTracks::GrowSlots() {
  const size_t count = std::max<size_t>(32, slots_.size() * 2);
  slots_.clear();
  slots_.resize(count, 0);
  for (uint32_t i = 0; i < tracks_.size(); ++i) {
    const Track& track = tracks_[i];
    size_t at = (TextInterner::HashOf(track.pid_value.text) * 31 + TextInterner::HashOf(track.tid_value.text));
    for (at &= count - 1; slots_[at] != 0; at = (at + 1) & (count - 1)) {
    }
    slots_[at] = i + 1;
  }
}

TrackId ChromePartTracks::TrackOf(const ChromeEvent& event, Role role) {
  const uint32_t number = FindTrack(event.pid, event.tid);
  Track& track = tracks_[number];
  const bool is_annotation = role == Role::kAnnotation;
  uint32_t& use = is_annotation ? track.annotation_use : track.use;
  if (use == UINT32_MAX) {
    use = static_cast<uint32_t>(uses_.size());
    uses_.push_back({.track = number, .is_annotation = is_annotation});
  }
  uses_[use].is_host |= role == Role::kHost;
  uses_[use].is_device |= role == Role::kDevice;
  return static_cast<TrackId>(use);
}

void ChromePartTracks::ExtendTo(TrackId track, int64_t ns) {
  int64_t& last = uses_[Row(track)].last_ns;
  last = std::max(last, ns);
}

bool ChromePartTracks::AddMetadata(const ChromeEvent& event) {
  if (!event.name.is_string()) return false;
  const std::string_view what = event.name.text;
  Metadata metadata;
  metadata.of_process = what.starts_with("process_");
  if (!metadata.of_process && !what.starts_with("thread_")) return false;
  const std::string_view field = what.substr(what.find('_') + 1);
  if (field != "name" && field != "sort_index" && (field != "labels" || !metadata.of_process)) return false;
  metadata.pid = ReadIdentity(event.pid);
  if (!metadata.of_process) metadata.tid = ReadIdentity(event.tid);
  if (const JsonMember* value = FindMember(event.args, field)) {
    if (field == "sort_index") {
      const auto number = ParseInteger(value->value.text);
      if (number) metadata.field = Field::kSortIndex;
      metadata.number = number.value_or(0);
    } else if (value->value.is_string() || value->value.is_number()) {
      metadata.field = field == "name" ? Field::kName : Field::kLabels;
      metadata.text = TextIn(texts_, value->value);
    }
  }
  if (metadata.field != Field::kNothing) metadata_.push_back(metadata);
  return true;
}

void ChromePartTracks::Clear() {
  tracks_.clear();
  uses_.clear();
  metadata_.clear();
  std::fill_n(slots_.data(), slots_.size(), 0u);
}

uint32_t ChromeTracks::FindProcess(const ChromeIdentity& pid) {
  const bool is_text = pid.text != StringId::kNone;
  const Key key{0, is_text, is_text ? int64_t{Row(pid.text)} : pid.number};
  const auto [found, added] = process_of_key_.try_emplace(key, static_cast<uint32_t>(processes_.size()));
  if (added) processes_.push_back({.pid = pid, .names = {}});
  return found->second;
}

uint32_t ChromeTracks::FindTrack(const ChromeIdentity& pid, const ChromeIdentity& tid) {
  const uint32_t process = FindProcess(pid);
  const bool is_text = tid.text != StringId::kNone;
  const Key key{process, is_text, is_text ? int64_t{Row(tid.text)} : tid.number};
  const auto [found, added] = track_of_key_.try_emplace(key, static_cast<uint32_t>(tracks_.size()));
  if (added) tracks_.push_back({.process = process, .tid = tid, .names = {}});
  return found->second;
}

TrackId ChromeTracks::AddRow(Track* track, TrackKind kind) {
  Process& process = processes_[track->process];
  if (process.row == ProcessId::kNone) {
    process.row = builder_->AddProcess({.pid = process.pid.number, .pid_text = process.pid.text});
  }
  last_ns_.push_back(INT64_MIN);
  return builder_->AddTrack(
      {.process = process.row, .kind = kind, .tid = track->tid.number, .tid_text = track->tid.text});
}

// The process of the span that Kineto writes for its recording window.
bool ChromeTracks::IsKinetos(const Process& process) const {
  return process.pid.text != StringId::kNone && builder_->text(process.pid.text) == "Spans";
}

TrackId ChromeTracks::RowOf(Track* track, const ChromePartTracks::Use& use) {
  if (use.is_annotation) {
    if (track->annotation_row == TrackId::kNone) track->annotation_row = AddRow(track, TrackKind::kDeviceAnnotation);
    return track->annotation_row;
  }
  if (track->row == TrackId::kNone) track->row = AddRow(track, TrackKind::kOther);
  if (use.is_device) {
    track->kind = TrackKind::kDeviceStream;
  } else if (use.is_host && track->kind == TrackKind::kOther && !IsKinetos(processes_[track->process])) {
    track->kind = TrackKind::kThread;
  }
  return track->row;
}

void ChromeTracks::Apply(const ChromePartTracks::Metadata& metadata, const std::vector<StringId>& string_of) {
  const ChromeIdentity pid = InTrace(metadata.pid, string_of);
  const ChromeIdentity tid = InTrace(metadata.tid, string_of);
  if (!metadata.of_process && ThreadOf(pid, tid) != tid) return;  // the thread's own name wins
  Names& names = metadata.of_process ? processes_[FindProcess(pid)].names : tracks_[FindTrack(pid, tid)].names;
  switch (metadata.field) {
    case ChromePartTracks::Field::kNothing:
      break;
    case ChromePartTracks::Field::kName:
      names.name = string_of[Row(metadata.text)];
      break;
    case ChromePartTracks::Field::kLabels:
      names.labels = string_of[Row(metadata.text)];
      break;
    case ChromePartTracks::Field::kSortIndex:
      names.sort_index = metadata.number;
      break;
  }
}

void ChromeTracks::Join(const ChromePartTracks& part, const std::vector<StringId>& string_of,
                        std::vector<TrackId>* track_of) {
  for (const ChromePartTracks::Use& use : part.uses_) {
    const ChromePartTracks::Track& track = part.tracks_[use.track];
    const ChromeIdentity pid = InTrace(track.pid, string_of);
    const uint32_t number = FindTrack(pid, ThreadOf(pid, InTrace(track.tid, string_of)));
    const TrackId row = RowOf(&tracks_[number], use);
    last_ns_[Row(row)] = std::max(last_ns_[Row(row)], use.last_ns);
    track_of->push_back(row);
  }
  for (const ChromePartTracks::Metadata& metadata : part.metadata_)
    Apply(metadata, string_of);
}

// Lets the dialects correct tracks by their names.
void ChromeTracks::ClassifyByNames() {
  const auto text = [&](StringId id) { return id == StringId::kNone ? std::string_view() : builder_->text(id); };
  std::vector<ChromeTrackFacts> facts;
  facts.reserve(tracks_.size());
  for (const Track& track : tracks_) {
    facts.push_back({.process_name = text(processes_[track.process].names.name),
                     .name = text(track.names.name),
                     .process = track.process,
                     .kind = track.kind});
  }
  dialects_.ClassifyTracks(facts);
  for (size_t i = 0; i < tracks_.size(); ++i) {
    tracks_[i].kind = facts[i].kind;
    if (facts[i].device >= 0 && tracks_[i].row != TrackId::kNone)
      builder_->track(tracks_[i].row).device = facts[i].device;
  }
}

bool ChromeTracks::ApplyOwnMembers(const std::vector<JsonMember>& members) {
  constexpr std::string_view kKinds[] = {"thread", "stream", "annotation", "other"};
  const auto find = [&](std::string_view key) {
    const JsonMember* const member = FindMember(members, key);
    return member == nullptr ? JsonValue{} : member->value;
  };
  if (!find("row_of").text.empty()) return true;  // applied by ReadRows
  const auto kind = std::find(std::begin(kKinds), std::end(kKinds), find("kind").text);
  const auto device = ParseInteger(find("device").text);
  if (kind == std::end(kKinds) || !device || *device < -1 || *device > INT32_MAX) return false;
  const Track& track = tracks_[FindTrack(IdentityOf(find("pid")), IdentityOf(find("tid")))];
  const auto of_row = static_cast<TrackKind>(kind - std::begin(kKinds));
  // A stream and its annotations share pid and tid: the kind determines which of the two rows is meant, if both exist.
  const bool is_annotation = of_row == TrackKind::kDeviceAnnotation;
  TrackId id = is_annotation ? track.annotation_row : track.row;
  if (id == TrackId::kNone) id = is_annotation ? track.row : track.annotation_row;
  if (id == TrackId::kNone) return true;  // all its events were left out
  TrackRow& row = builder_->track(id);
  row.kind = of_row;
  row.device = static_cast<int32_t>(*device);
  if (find("crossing").kind == JsonValue::Kind::kTrue) builder_->SetCrossing(id);
  return true;
}

ChromeIdentity ChromeTracks::IdentityOf(const JsonValue& value) {
  if (const auto number = IdentityNumber(value)) return {.number = *number};
  return {.text = builder_->Intern(DecodedText(value))};
}

ChromeIdentity ChromeTracks::ThreadOf(const ChromeIdentity& pid, const ChromeIdentity& tid) const {
  const auto row = thread_of_row_.find({pid, tid});
  return row == thread_of_row_.end() ? tid : row->second;
}

void ChromeTracks::ReadRows(std::string_view own_members) {
  JsonScanner scanner(own_members);
  std::vector<JsonMember> members;
  WalkArray(&scanner, [&] {
    if (scanner.Peek() != '{' || !scanner.ReadMembers(&members)) return false;
    std::pair<ChromeIdentity, ChromeIdentity> row;
    std::optional<ChromeIdentity> thread;
    for (const JsonMember& member : members) {
      if (member.key.text == "pid") row.first = IdentityOf(member.value);
      if (member.key.text == "tid") row.second = IdentityOf(member.value);
      if (member.key.text == "row_of") thread = IdentityOf(member.value);
    }
    if (thread) thread_of_row_.try_emplace(row, *thread);
    return true;
  });
}

bool ChromeTracks::ReadOwnMembers(std::string_view json) {
  JsonScanner scanner(json);
  std::vector<JsonMember> members;
  return WalkArray(&scanner,
                   [&] { return scanner.Peek() == '{' && scanner.ReadMembers(&members) && ApplyOwnMembers(members); });
}

bool ChromeTracks::Finish(std::string_view own_members) {
  ClassifyByNames();
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
      const int64_t pid = processes_[track.process].pid.number;
      if (on_device && row.device < 0 && pid >= 0 && pid < 4096) row.device = static_cast<int32_t>(pid);
      if (!on_device) row.device = -1;
    }
  }
  return own_members.empty() || ReadOwnMembers(own_members);
}

}  // namespace opscope
