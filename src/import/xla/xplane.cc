// Reads the profiles of XLA for JAX, TensorFlow and PyTorch/XLA (`HOST.xplane.pb`, an XSpace): a process per plane, a
// track per line.
//
//   XSpace { planes=1* errors=2* warnings=3* hostnames=4* }
//   XLine  { id=1 name=2 timestamp_ns=3 events=4* duration_ps=9 display_id=10 display_name=11 }
//   XEvent { metadata_id=1, offset_ps=2 or num_occurrences=5, duration_ps=3 stats=4* }
//
// Times are picoseconds after a line's nanosecond. Begin and end are rounded down separately: nested events stay
// nested, and a duration is less than a nanosecond off.
//
// A device's plane has the same work several times: in its streams, and summed up by step, module, operation and source
// line. Only one of these may be busy time: the streams of a GPU, or the line "XLA Ops" of a TPU.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "import/text/json_number.h"
#include "import/text/proto_damage.h"
#include "import/text/proto_reader.h"
#include "import/text/text_source.h"
#include "import/xla/importer.h"
#include "import/xla/xplane_links.h"
#include "import/xla/xplane_stats.h"

namespace opscope {
namespace {

int64_t FloorToNs(int64_t ps) {
  return ps / 1000 - (ps % 1000 < 0 ? 1 : 0);
}

// N of "/device:GPU:N (...)"; -1 for a plane of the host.
int32_t DeviceNumber(std::string_view plane) {
  const size_t start = plane.find("/device:");
  if (start == std::string_view::npos) return -1;
  const std::string_view rest = plane.substr(start + 8);
  const size_t colon = rest.find(':');
  int32_t number = 0;
  if (colon != std::string_view::npos) std::from_chars(rest.data() + colon + 1, rest.data() + rest.size(), number);
  return number < 0 ? 0 : number;
}

struct XLine {
  std::string_view name, display_name;
  int64_t id = 0, timestamp_ns = 0;
  std::string_view shown_name() const { return display_name.empty() ? name : display_name; }
};

struct XPlane {
  std::string_view name;
  int64_t process_id = 0;
  int32_t device = -1;
  bool has_streams = false;
};

class XSpaceFile {
 public:
  XSpaceFile(std::string_view file, const ImportOptions& options, TraceBuilder* builder)
      : file_(file), options_(options), builder_(builder), links_(builder) {}

  Status Read(std::string_view name) {
    FindEpoch();
    ProtoReader reader(file_);
    std::string texts[5];
    while (!stopped_ && reader.Next()) {
      if (reader.field() == 1 && reader.is_bytes()) {
        ReadPlane(reader.message());
      } else if (reader.is_bytes() && reader.field() <= 4 && !reader.is_cut()) {
        std::string& list = texts[reader.field()];
        list += list.empty() ? "" : ", ";
        AppendJsonString(&list, reader.bytes());
      }
    }
    RecordDamage(reader);
    if (builder_->empty() && damage_.found()) return damage_.FirstIn(name);
    for (const auto& [field, key] : {std::pair(2, "errors"), std::pair(3, "warnings"), std::pair(4, "hostnames")}) {
      if (!texts[field].empty()) builder_->AddMetadata(key, "[" + texts[field] + "]");
    }
    links_.Finish(calls_seen_);
    if (builder_->HasProblem("missing_time")) builder_->FillMissingTimes();
    builder_->info().format = "xplane";
    return {};
  }

 private:
  void RecordDamage(const ProtoReader& reader) {
    if (!stopped_) damage_.Note(reader);
  }

  // The last plane, "Task Environment", has the start of the profile, from which lines count.
  void FindEpoch() {
    ProtoReader reader(file_);
    while (reader.NextWhole()) {
      if (reader.field() != 1 || !reader.is_bytes()) continue;
      ProtoReader plane = reader.message();
      while (plane.NextWhole() && (plane.field() != 2 || !plane.is_bytes())) {
      }
      if (plane.failed() || !plane.is_bytes() || plane.field() != 2 || plane.bytes() != "Task Environment") continue;
      const XPlaneNames names = ReadNames(reader.message(), false);
      XEventFacts facts;
      ReadPlaneStats(reader.message(), names, &facts);
      const int64_t start = facts.IntegerMember("profile_start_time").value_or(0);
      if (start > 0 && start <= kLatestNs) {
        builder_->info().epoch_ns = start;
      } else if (start != 0) {
        BadValue(plane.offset());
      }
    }
  }

  // Names are behind the lines that refer to them.
  XPlaneNames ReadNames(ProtoReader plane, bool note_damage) {
    XPlaneNames names(file_);
    while (plane.NextWhole()) {
      if (!plane.is_bytes() || (plane.field() != 4 && plane.field() != 5)) continue;
      ProtoReader entry = plane.message();
      const bool whole = plane.field() == 4 ? names.AddEventName(&entry) : names.AddStatName(&entry);
      if (!whole && note_damage) CountDamaged(entry, plane);
      if (names.count() % 1024 == 0 && StopOverLimit(names.memory_bytes(), plane.offset())) break;
    }
    names_bytes_ = names.memory_bytes();
    return names;
  }

  // The damage may be deeper than `message`.
  void CountDamaged(const ProtoReader& message, const ProtoReader& around) {
    if (message.failed()) return RecordDamage(message);
    builder_->AddProblem("damaged_record", static_cast<int64_t>(around.offset()) - 1, 1, "stats of an event");
  }

  void ReadPlaneStats(ProtoReader plane, const XPlaneNames& names, XEventFacts* facts) {
    while (plane.NextWhole()) {
      if (plane.field() != 6 || !plane.is_bytes()) continue;
      ProtoReader stat = plane.message();
      (void)names.ReadStat(&stat, facts);
    }
  }

  void ReadPlane(ProtoReader message) {
    XPlaneNames names = ReadNames(message, true);
    XPlane plane = ReadPlaneHead(message);
    XEventFacts facts;
    ReadPlaneStats(message, names, &facts);
    if (!facts.members.empty()) builder_->AddMetadata(plane.name, "{" + facts.members + "}");
    plane.process_id = facts.IntegerMember("process_id").value_or(plane.process_id);
    ProcessId process = ProcessId::kNone;
    while (!stopped_ && message.Next()) {
      if (message.field() == 3 && message.is_bytes()) ReadLine(message.message(), plane, &names, &process);
    }
    RecordDamage(message);
  }

  XPlane ReadPlaneHead(ProtoReader message) {
    XPlane plane;
    while (message.Next()) {
      if (message.field() == 2 && message.is_bytes() && !message.is_cut()) {
        plane.name = message.bytes();
      } else if (message.field() == 3 && message.is_bytes() && !plane.has_streams) {
        plane.has_streams = ReadLineHead(message.message()).name.starts_with("Stream #");
      }
    }
    plane.device = DeviceNumber(plane.name);
    return plane;
  }

  // The display name comes behind the events.
  static XLine ReadLineHead(ProtoReader message) {
    XLine line;
    while (message.NextWhole()) {
      if (message.field() == 1 && message.is_number()) line.id = message.signed_number();
      if (message.field() == 2 && message.is_bytes()) line.name = message.bytes();
      if (message.field() == 3 && message.is_number()) line.timestamp_ns = message.signed_number();
      if (message.field() == 11 && message.is_bytes()) line.display_name = message.bytes();
    }
    return line;
  }

  void ReadLine(ProtoReader message, const XPlane& plane, XPlaneNames* names, ProcessId* process) {
    XLine line = ReadLineHead(message);
    const int64_t epoch = builder_->info().epoch_ns;
    if (epoch != 0 && line.timestamp_ns >= epoch) line.timestamp_ns -= epoch;
    track_ = TrackId::kNone;
    while (!stopped_ && message.Next()) {
      if (message.field() != 4 || !message.is_bytes() || message.is_cut()) continue;
      AddEvent(message.message(), line, plane, names, process);
    }
    RecordDamage(message);
  }

  // The parts of a device, or of a host, become separate processes with the pids 3, 1003, 2003, ... If many of these
  // are taken, any free pid is used, so that planes with equal numbers cost no quadratic time.
  int64_t UnusedPid(int64_t pid) {
    constexpr int kMaxTries = 64;
    uint64_t& later = later_with_pid_[pid];
    for (int tries = 0; tries < kMaxTries; ++tries, ++later) {
      const auto next = static_cast<int64_t>(static_cast<uint64_t>(pid) + 1000 * later);
      if (pids_.insert(next).second) return next;
    }
    while (!pids_.insert(any_pid_).second)
      ++any_pid_;
    return any_pid_;
  }

  void AddTrack(const XLine& line, const XPlane& plane, ProcessId* process) {
    if (*process == ProcessId::kNone) {
      const int64_t pid = UnusedPid(plane.device >= 0 ? plane.device : plane.process_id);
      *process = builder_->AddProcess({.pid = pid, .name = builder_->Intern(plane.name)});
    }
    TrackRow row;
    row.process = *process;
    row.tid = line.id;
    row.name = builder_->Intern(line.shown_name());
    if (plane.device >= 0) {
      const bool is_work = plane.has_streams ? line.name.starts_with("Stream #") : line.name == "XLA Ops";
      row.kind = is_work ? TrackKind::kDeviceStream : TrackKind::kDeviceAnnotation;
      row.device = plane.device;
    }
    kind_ = row.kind;
    track_ = builder_->AddTrack(row);
  }

  void AddEvent(ProtoReader message, const XLine& line, const XPlane& plane, XPlaneNames* names, ProcessId* process) {
    const size_t offset = message.offset();
    int64_t metadata_id = 0, offset_ps = 0, duration_ps = 0;
    bool is_sum = false;
    XEventFacts facts;
    while (message.NextWhole()) {
      if (message.field() == 4 && message.is_bytes()) {
        ProtoReader stat = message.message();
        if (!names->ReadStat(&stat, &facts)) return RecordDamage(stat);
      } else if (message.is_number()) {
        if (message.field() == 1) metadata_id = message.signed_number();
        if (message.field() == 2) offset_ps = message.signed_number();
        if (message.field() == 3) duration_ps = message.signed_number();
        is_sum = is_sum || message.field() == 5;
      }
    }
    if (message.failed()) return RecordDamage(message);
    if (is_sum)
      return builder_->AddProblem("unknown_event",
                                  static_cast<int64_t>(offset));  // a sum over many events, without a time
    if (track_ == TrackId::kNone) AddTrack(line, plane, process);
    SpanRow row;
    row.start = Timestamp{line.timestamp_ns} + Duration{FloorToNs(offset_ps)};
    row.duration =
        Timestamp{FloorToNs((Timestamp{offset_ps} + Duration{duration_ps}).ns)} - Timestamp{FloorToNs(offset_ps)};
    row.track = track_;
    Name(names, metadata_id, offset, &facts, &row);
    row.category = builder_->Intern(CategoryOf(line, plane, builder_->text(row.name), facts));
    AddSpan(row, facts, offset);
  }

  void Name(XPlaneNames* names, int64_t id, size_t offset, XEventFacts* facts, SpanRow* row) {
    XEventName* name = names->FindEvent(id);
    if (name == nullptr) {
      row->name = builder_->Intern("event " + std::to_string(id));
      BadValue(offset);
    } else {
      row->name = builder_->Intern(name->display_name.empty() ? name->name : name->display_name);
      if (!names->AddShared(name, facts)) BadValue(offset);
      if (!name->display_name.empty() && name->name != name->display_name) AddLongName(name->name, facts);
    }
    if (facts->left_out) BadValue(offset);
    if (!facts->members.empty()) row->extra = builder_->Intern(facts->members);
    row->correlation = facts->correlation;
  }

  static void AddLongName(std::string_view name, XEventFacts* facts) {
    facts->members += facts->members.empty() ? "\"long_name\": " : ", \"long_name\": ";
    AppendSharedText(&facts->members, name);
  }

  std::string_view CategoryOf(const XLine& line, const XPlane& plane, std::string_view name, const XEventFacts& facts) {
    if (plane.device >= 0) {
      if (kind_ != TrackKind::kDeviceStream || !plane.has_streams) return line.name;
      return facts.is_copy ? "gpu_memcpy" : facts.is_set ? "gpu_memset" : "kernel";
    }
    if (plane.name.find("CUPTI") != std::string_view::npos) return "cuda_runtime";
    if (name.starts_with('$')) {  // "$file.py:12 function", from XLA's Python tracer
      calls_seen_ = true;
      builder_->SetCrossing(track_);  // a `with` block opens ranges in one call and closes them in another
      return "python_function";
    }
    return facts.is_op ? "cpu_op" : "trace_me";
  }

  void AddSpan(SpanRow row, const XEventFacts& facts, size_t offset) {
    const auto at = static_cast<int64_t>(offset);
    if (row.start.ns > kLatestNs || row.start.ns < -kLatestNs) {
      builder_->AddProblem("missing_time", at);
      row.start = kNoTime;
    }
    if (row.duration.ns < 0 || row.duration.ns > kLatestNs) {
      builder_->AddProblem(row.duration.ns < 0 ? "negative_duration" : "missing_duration", at);
      row.duration.ns = 0;
    }
    const bool is_device = kind_ != TrackKind::kThread;
    const bool is_step = facts.step && !is_device;
    if (is_step) row.flags |= span_flags::kStep;
    const AddedSpan span = builder_->AddSpan(row);
    if (is_step) builder_->AddStep(*facts.step, row.name, span);
    if (is_device && builder_->text(row.category) == "Steps") links_.AddDeviceStep(row, facts.step, span);
    links_.Add(row, facts, span, is_device, static_cast<int64_t>(offset));
    if (++builder_->info().recorded % 1024 == 0) StopOverLimit(names_bytes_, offset);
  }

  bool StopOverLimit(uint64_t names_bytes, size_t offset) {
    if (stopped_ || options_.max_memory == 0) return stopped_;
    const uint64_t held = file_.size() + builder_->memory_bytes() + links_.memory_bytes() + names_bytes;
    if (held <= options_.max_memory) return false;
    builder_->AddProblem("over_memory_limit", static_cast<int64_t>(offset));
    return stopped_ = true;
  }

  void BadValue(size_t offset) { builder_->AddProblem("bad_value", static_cast<int64_t>(offset)); }

  std::string_view file_;
  const ImportOptions& options_;
  TraceBuilder* builder_;
  XPlaneLinks links_;
  TrackId track_ = TrackId::kNone;  // of the current line, once it has an event
  TrackKind kind_ = TrackKind::kThread;
  std::unordered_set<int64_t> pids_;
  std::unordered_map<int64_t, uint64_t> later_with_pid_;  // by number: how many multiples of 1000 above it are taken
  int64_t any_pid_ = int64_t{1} << 32;
  uint64_t names_bytes_ = 0;  // of the current plane
  bool calls_seen_ = false;
  bool stopped_ = false;
  ProtoDamage damage_{builder_};
};

}  // namespace

// The first message must be a plane that has a number, if any, and a name. JSON behind a line break fails at the name.
bool LooksLikeXPlane(std::span<const std::byte> head) {
  const std::string_view text = AsText(head);
  if (!text.starts_with('\n')) return false;
  ProtoReader space(text);
  if (!space.Next() || space.field() != 1 || !space.is_bytes()) return false;
  ProtoReader plane = space.message();
  if (!plane.Next()) return false;
  if (plane.field() == 1 && plane.is_number() && !plane.Next()) return false;
  if (plane.field() != 2 || !plane.is_bytes() || plane.is_cut() || plane.bytes().empty()) return false;
  const std::string_view name = plane.bytes();
  return name.starts_with('/') || name == "Task Environment" || name.find("/device:") != std::string_view::npos ||
         name.find("/host:") != std::string_view::npos;
}

Status ImportXPlane(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                    TraceBuilder* builder) {
  return XSpaceFile(AsText(bytes), options, builder).Read(name);
}

}  // namespace opscope
