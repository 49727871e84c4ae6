// Writes what precedes the events: clock snapshot, track descriptors, interned texts. All texts come first, under
// numbers of PerfettoPlan, because the event blocks are made in parallel and cannot intern while they write.
// A process with a numeric pid becomes a ProcessDescriptor, which Perfetto groups by; a device, or a process whose pid
// is a text, becomes a named track. A pid or tid that occurs twice is a named track too, since Perfetto would merge the
// two.
// SPDX-License-Identifier: Apache-2.0
#include "export/perfetto_head.h"

#include <limits>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <utility>

#include "base/json_members.h"
#include "export/argument_text.h"
#include "export/perfetto_fields.h"
#include "export/plain_text.h"

namespace opscope {
namespace {

using namespace perfetto;  // NOLINT: names of fields alone
using protozero::pbf_writer;

constexpr size_t kHeadPieceBytes = size_t{1} << 20;

bool IsId(int64_t id) {
  return id > 0 && id <= std::numeric_limits<int32_t>::max();
}

class HeadWriter {
 public:
  HeadWriter(const Trace& trace, const PerfettoPlan& plan, ExportOutput* out) : trace_(trace), plan_(plan), out_(out) {}

  void Write() {
    WriteClocks();
    FindRealProcesses();
    for (uint32_t i = 0; i < trace_.processes().size(); ++i)
      WriteProcess(i);
    for (uint32_t i = 0; i < trace_.tracks().size(); ++i)
      WriteTrack(i);
    WriteLanes();
    WriteCounters();
    WriteTexts();
    Flush(0);
  }

 private:
  void Flush(size_t at_least) {
    if (bytes_.size() < at_least) return;
    out_->Write(bytes_);
    bytes_.clear();
  }

  // Packets count in boottime. If the time of day is known, a snapshot relates the two clocks at the first time.
  void WriteClocks() {
    if (trace_.info().epoch_ns == 0) return;
    pbf_writer file(bytes_);
    pbf_writer packet(file, TraceFile::kPacket);
    packet.add_uint32(TracePacket::kSequenceId, kPerfettoSequence);
    pbf_writer snapshot(packet, TracePacket::kClockSnapshot);
    const uint64_t base = static_cast<uint64_t>(plan_.times().base.ns);
    for (const auto& [id, time] :
         {std::pair<uint32_t, uint64_t>(Clock::kBoottime, 0),
          std::pair<uint32_t, uint64_t>(Clock::kRealtime, static_cast<uint64_t>(trace_.info().epoch_ns) + base)}) {
      pbf_writer clock(snapshot, ClockSnapshot::kClocks);
      clock.add_uint32(Clock::kId, id);
      clock.add_uint64(Clock::kTimestamp, time);
    }
  }

  // A process is real if it has threads and a numeric pid that no earlier process has. Devices and processes with a
  // text as pid become named tracks.
  void FindRealProcesses() {
    is_real_.assign(trace_.processes().size(), false);
    const TrackColumns& tracks = trace_.tracks();
    for (size_t i = 0; i < tracks.size(); ++i) {
      if (tracks.kind[i] == TrackKind::kThread) is_real_[Row(tracks.process[i])] = true;
    }
    std::set<int64_t> taken;
    for (size_t i = 0; i < is_real_.size(); ++i) {
      const bool has_number = trace_.processes().pid_text[i] == StringId::kNone && IsId(trace_.processes().pid[i]);
      is_real_[i] = is_real_[i] && has_number && taken.insert(trace_.processes().pid[i]).second;
    }
  }

  template <typename Fill>
  void AddTrackDescriptor(uint64_t uuid, const Fill& fill) {
    {
      pbf_writer file(bytes_);
      pbf_writer packet(file, TraceFile::kPacket);
      packet.add_uint32(TracePacket::kSequenceId, kPerfettoSequence);
      pbf_writer track(packet, TracePacket::kTrackDescriptor);
      track.add_uint64(TrackDescriptor::kUuid, uuid);
      fill(&track);
    }
    Flush(kHeadPieceBytes);
  }
  void AddNamedTrack(uint64_t uuid, uint64_t parent, std::string_view name) {
    AddTrackDescriptor(uuid, [&](pbf_writer* track) {
      if (parent != 0) track->add_uint64(TrackDescriptor::kParentUuid, parent);
      track->add_string(TrackDescriptor::kName, PlainText(name));
    });
  }

  void WriteProcess(uint32_t row) {
    const ProcessColumns& processes = trace_.processes();
    AddTrackDescriptor(plan_.OfProcess(ProcessId{row}), [&](pbf_writer* track) {
      if (!is_real_[row]) {
        std::string title = ProcessTitle(trace_, ProcessId{row});
        const std::string_view labels = trace_.text(processes.labels[row]);
        if (!labels.empty()) title.append(" (").append(labels).append(")");
        track->add_string(TrackDescriptor::kName, PlainText(title));
        track->add_enum(TrackDescriptor::kChildOrdering, TrackDescriptor::kExplicit);
        return AddRank(processes.sort_index[row], TrackDescriptor::kSiblingRank, track);
      }
      pbf_writer process(*track, TrackDescriptor::kProcess);
      process.add_int32(ProcessDescriptor::kPid, static_cast<int32_t>(processes.pid[row]));
      AddRank(processes.sort_index[row], ProcessDescriptor::kSortIndex, &process);
      const std::string_view name = trace_.text(processes.name[row]);
      const std::string rank = processes.rank[row] < 0 ? "" : "rank " + std::to_string(processes.rank[row]);
      if (!name.empty()) process.add_string(ProcessDescriptor::kName, PlainText(name));
      if (!rank.empty()) process.add_string(ProcessDescriptor::kLabels, rank);
      const std::string_view labels = trace_.text(processes.labels[row]);
      if (!labels.empty()) process.add_string(ProcessDescriptor::kLabels, PlainText(labels));
    });
  }

  static void AddRank(int64_t sort_index, uint32_t field, pbf_writer* to) {
    if (sort_index >= std::numeric_limits<int32_t>::min() && sort_index <= std::numeric_limits<int32_t>::max()) {
      to->add_int32(field, static_cast<int32_t>(sort_index));
    }
  }

  void WriteTrack(uint32_t row) {
    const TrackColumns& tracks = trace_.tracks();
    const uint32_t process = Row(tracks.process[row]);
    const int64_t pid = trace_.processes().pid[process];
    const bool is_real = tracks.kind[row] == TrackKind::kThread && is_real_[process] && IsId(tracks.tid[row]) &&
                         tracks.tid_text[row] == StringId::kNone && threads_.emplace(pid, tracks.tid[row]).second;
    AddTrackDescriptor(plan_.OfTrack(TrackId{row}), [&](pbf_writer* track) {
      track->add_uint64(TrackDescriptor::kParentUuid, plan_.OfProcess(tracks.process[row]));
      if (!is_real) {
        track->add_string(TrackDescriptor::kName, PlainText(TrackTitle(trace_, TrackId{row}, false)));
        return AddRank(tracks.sort_index[row], TrackDescriptor::kSiblingRank, track);
      }
      pbf_writer thread(*track, TrackDescriptor::kThread);
      thread.add_int32(ThreadDescriptor::kPid, static_cast<int32_t>(pid));
      thread.add_int32(ThreadDescriptor::kTid, static_cast<int32_t>(tracks.tid[row]));
      AddRank(tracks.sort_index[row], ThreadDescriptor::kSortIndex, &thread);
      const std::string_view name = trace_.text(tracks.name[row]);
      if (!name.empty()) thread.add_string(ThreadDescriptor::kName, PlainText(name));
    });
  }

  void WriteLanes() {
    const std::vector<Lane>& lanes = plan_.lanes().lanes();
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].kind == LaneKind::kNested) continue;
      AddNamedTrack(plan_.OfLane(i), plan_.OfTrack(lanes[i].track),
                    lanes[i].kind == LaneKind::kCrossing ? "crossing" : "asynchronous");
    }
    for (size_t i = 0; i < plan_.async_lanes().size(); ++i) {
      const AsyncLane& lane = plan_.async_lanes()[i];
      AddNamedTrack(plan_.OfAsyncLane(i), ParentOf(lane.track), trace_.text(lane.name));
    }
    if (trace_.instants().size() != 0) AddNamedTrack(plan_.GlobalTrack(), 0, "global");
  }

  uint64_t ParentOf(TrackId track) const { return track == TrackId::kNone ? 0 : plan_.OfTrack(track); }

  void WriteCounters() {
    for (size_t i = 0; i < plan_.counter_tracks().size(); ++i) {
      const CounterTrack& counter = plan_.counter_tracks()[i];
      std::string name(trace_.text(counter.name));
      const std::string_view series = trace_.text(counter.series);
      if (!series.empty()) name.append(name.empty() ? "" : " ").append(series);
      AddTrackDescriptor(plan_.OfCounter(i), [&](pbf_writer* track) {
        if (counter.track != TrackId::kNone) {
          track->add_uint64(TrackDescriptor::kParentUuid, plan_.OfProcess(trace_.tracks().process[Row(counter.track)]));
        }
        track->add_string(TrackDescriptor::kName, PlainText(name));
        track->add_message(TrackDescriptor::kCounter, std::string());
      });
    }
  }

  void AddText(uint32_t field, uint64_t iid, std::string_view text) {
    {
      pbf_writer file(bytes_);
      pbf_writer packet(file, TraceFile::kPacket);
      packet.add_uint32(TracePacket::kSequenceId, kPerfettoSequence);
      packet.add_uint32(TracePacket::kSequenceFlags,
                        has_texts_ ? TracePacket::kNeedsState : TracePacket::kStateCleared);
      has_texts_ = true;
      pbf_writer interned_data(packet, TracePacket::kInternedData);
      pbf_writer interned(interned_data, field);
      interned.add_uint64(Interned::kIid, iid);
      interned.add_string(Interned::kText, PlainText(text));
    }
    Flush(kHeadPieceBytes);
  }

  // The first text packet resets the state of the sequence; annotation names guarantee that there is one.
  void WriteTexts() {
    for (size_t i = 0; i < std::size(kAnnotationNames); ++i)
      AddText(InternedData::kAnnotationNames, i + 1, kAnnotationNames[i]);
    for (const std::string_view key : plan_.members())
      AddText(InternedData::kAnnotationNames, plan_.MemberName(key), key);
    for (const uint32_t id : plan_.names().ids())
      AddText(InternedData::kEventNames, plan_.names().Of(id), trace_.text(StringId{id}));
    for (const uint32_t id : plan_.categories().ids())
      AddText(InternedData::kCategories, plan_.categories().Of(id), trace_.text(StringId{id}));
    const SpanColumns& spans = trace_.spans();
    for (const uint32_t span : plan_.overloads()) {
      std::string name(trace_.text(spans.name[span]));
      name.append(".").append(trace_.text(spans.overload[span]));
      AddText(InternedData::kEventNames, plan_.NameOf(span), name);
    }
    if (trace_.allocations().size() != 0) AddText(InternedData::kEventNames, plan_.MemoryName(), "[memory]");
    WriteArguments();
    WriteStacks();
  }

  void WriteArguments() {
    const ArgumentTexts texts(trace_);
    for (const uint32_t id : plan_.arguments().ids()) {
      const ArgsId args{id};
      const auto add = [&](KnownAnnotation which, const std::string& members) {
        AddText(InternedData::kAnnotationStrings, plan_.ArgumentText(args, which),
                FindJsonMember(members, kAnnotationNames[static_cast<size_t>(which)]));
      };
      add(KnownAnnotation::kConcreteInputs, texts.values_types_strides(args));
      add(KnownAnnotation::kInputTypes, texts.values_types_strides(args));
      add(KnownAnnotation::kInputStrides, texts.values_types_strides(args));
      add(KnownAnnotation::kInputDims, texts.dims(args));
    }
  }

  void WriteStacks() {
    const StackColumns& stacks = trace_.stacks();
    std::string text;
    for (const uint32_t id : plan_.stacks().ids()) {
      text.clear();
      for (StackId at{id}; at != StackId::kNone; at = stacks.caller[Row(at)]) {
        if (!text.empty()) text += '\n';
        text.append(trace_.text(trace_.frames().text[Row(stacks.frame[Row(at)])]));
      }
      AddText(InternedData::kAnnotationStrings, plan_.StackText(StackId{id}), text);
    }
  }

  const Trace& trace_;
  const PerfettoPlan& plan_;
  ExportOutput* out_;
  std::string bytes_;
  std::vector<bool> is_real_;
  std::set<std::pair<int64_t, int64_t>> threads_;
  bool has_texts_ = false;
};

}  // namespace

void WritePerfettoHead(const Trace& trace, const PerfettoPlan& plan, ExportOutput* out) {
  HeadWriter(trace, plan, out).Write();
}

}  // namespace opscope
