// The processes and tracks that a file identifies by "pid" and "tid", as numbers or text. A row of the Trace is made
// for the first event; "M" events may come before or after and are applied at the end. Names of processes and threads
// without any event are left out (Kineto always names 16 GPUs). The annotations of a stream (gpu_user_annotation) have
// its pid and tid, but a separate track.
//
// Thread rule: one thread at a time per object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/column.h"
#include "base/text_interner.h"
#include "import/chrome/dialect.h"
#include "import/chrome/event.h"
#include "trace/builder.h"

namespace opscope {

// "pid" or "tid": a whole number in any spelling (1, 1.0, 1e0, "1"), or another text ("Main").
struct ChromeIdentity {
  int64_t number = 0;
  StringId text = StringId::kNone;
  auto operator<=>(const ChromeIdentity&) const = default;
};

// The tracks of one part.
class ChromePartTracks {
 public:
  explicit ChromePartTracks(TextInterner* texts) : texts_(texts) {}

  // The kind of track for such an event. kNothing means unknown: counters, flows, calls that wait for a device.
  enum class Role : uint8_t { kNothing, kHost, kDevice, kAnnotation };
  // Tracks are numbered in the order of first use. gpu_user_annotation has a separate track.
  TrackId TrackOf(const ChromeEvent& event, Role role);
  void ExtendTo(TrackId track, int64_t ns);  // moves the track's last time, at which ranges without an end are closed
  // False: an unknown kind of metadata.
  bool AddMetadata(const ChromeEvent& event);
  void Clear();

 private:
  friend class ChromeTracks;
  struct Track {
    JsonValue pid_value, tid_value;
    ChromeIdentity pid, tid;
    uint32_t use = UINT32_MAX, annotation_use = UINT32_MAX;
  };
  struct Use {
    uint32_t track = 0;
    bool is_annotation = false;
    bool is_host = false, is_device = false;
    int64_t last_ns = INT64_MIN;
  };
  enum class Field : uint8_t { kNothing, kName, kLabels, kSortIndex };
  struct Metadata {
    bool of_process = false;
    Field field = Field::kNothing;
    ChromeIdentity pid, tid;
    StringId text = StringId::kNone;
    int64_t number = 0;
  };

  ChromeIdentity ReadIdentity(const JsonValue& value);
  uint32_t FindTrack(const JsonValue& pid, const JsonValue& tid);
  uint32_t AddTrack(const JsonValue& pid, const JsonValue& tid);
  void GrowSlots();

  TextInterner* texts_;
  std::vector<Track> tracks_;
  std::vector<Use> uses_;
  std::vector<Metadata> metadata_;
  Column<uint32_t> slots_;  // by hash of the spelling: track + 1, 0 is free
};

// The tracks of the file.
class ChromeTracks {
 public:
  ChromeTracks(const ChromeDialects& dialects, TraceBuilder* builder) : dialects_(dialects), builder_(builder) {}

  // string_of: id of the part -> id of the Trace. Appends the Trace's track of each track of the part to `track_of`.
  void Join(const ChromePartTracks& part, const std::vector<StringId>& string_of, std::vector<TrackId>* track_of);
  int64_t last_ns(TrackId track) const { return last_ns_[Row(track)]; }
  // Reads which tracks of an opscope export hold spans of another thread (docs/reference/chrome_json.md). Call before
  // the first Join.
  void ReadRows(std::string_view own_members);
  // Gives names and kinds to the rows of the Trace. Call once, after the last event.
  // `own_members`: "opscope.tracks" of an opscope export (docs/reference/chrome_json.md), or "". False: opscope did not
  // write it.
  bool Finish(std::string_view own_members);

 private:
  struct Names {
    StringId name = StringId::kNone;
    StringId labels = StringId::kNone;
    int64_t sort_index = INT64_MIN;
  };
  struct Process {
    ProcessId row = ProcessId::kNone;
    ChromeIdentity pid;
    Names names;
  };
  struct Track {
    uint32_t process = 0;
    ChromeIdentity tid;
    TrackId row = TrackId::kNone;
    TrackId annotation_row = TrackId::kNone;
    TrackKind kind = TrackKind::kOther;
    Names names;
  };
  using Key = std::tuple<uint32_t, bool, int64_t>;

  // The thread whose spans the track holds; usually the track's own thread.
  ChromeIdentity ThreadOf(const ChromeIdentity& pid, const ChromeIdentity& tid) const;
  ChromeIdentity IdentityOf(const JsonValue& value);
  void ClassifyByNames();
  bool ReadOwnMembers(std::string_view json);
  bool ApplyOwnMembers(const std::vector<JsonMember>& members);
  uint32_t FindProcess(const ChromeIdentity& pid);
  uint32_t FindTrack(const ChromeIdentity& pid, const ChromeIdentity& tid);
  bool IsKinetos(const Process& process) const;
  TrackId AddRow(Track* track, TrackKind kind);
  TrackId RowOf(Track* track, const ChromePartTracks::Use& use);
  void Apply(const ChromePartTracks::Metadata& metadata, const std::vector<StringId>& string_of);

  const ChromeDialects& dialects_;
  TraceBuilder* builder_;
  std::vector<Process> processes_;
  std::vector<Track> tracks_;
  std::map<Key, uint32_t> process_of_key_, track_of_key_;
  // (pid, tid) of a track that holds spans of another thread of the process -> tid of that thread.
  std::map<std::pair<ChromeIdentity, ChromeIdentity>, ChromeIdentity> thread_of_row_;
  std::vector<int64_t> last_ns_;  // by track of the Trace
};

}  // namespace opscope
