// Reads Paddle's protobuf dump (Profiler.export(format="pb")). The tables are those of the JSON of the same run, with
// exact times (the JSON truncates starts to microseconds): two tracks per thread, one for Python calls and one for all
// others, a track per device and stream, memory events as allocations, and an arrow from each runtime call to the
// device work that it started.
//
// The tree in the file is not used: calls of a thread nest by time, and Paddle itself refuses to build a tree of calls
// that cross.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <string>

#include "base/json_object.h"
#include "base/text.h"
#include "import/paddle/importer.h"
#include "import/paddle/memory_members.h"
#include "import/paddle/place.h"
#include "import/paddle/protobuf_messages.h"
#include "import/paddle/protobuf_tracks.h"
#include "import/paddle/type_names.h"
#include "import/text/argument_lists.h"
#include "import/text/json_number.h"
#include "import/text/proto_damage.h"
#include "import/text/proto_reader.h"
#include "import/text/text_source.h"

namespace opscope {
namespace {

constexpr uint64_t kProfileStep = 2, kCudaRuntime = 3;

class PaddleDump {
 public:
  PaddleDump(std::string_view file, const ImportOptions& options, TraceBuilder* builder)
      : file_(file), options_(options), builder_(builder), tracks_(builder) {}

  Status Read(std::string_view name) {
    ProtoReader reader(file_);
    while (!stopped_ && reader.Next())
      ReadTopLevel(reader);
    RecordDamage(reader);
    if (builder_->empty() && damage_.found()) return damage_.FirstIn(name);
    if (builder_->HasProblem("missing_time")) builder_->FillMissingTimes();
    tracks_.Name(extra_info_);
    AddMetadata();
    builder_->info().format = "paddle-protobuf";
    return {};
  }

 private:
  void RecordDamage(const ProtoReader& reader) {
    if (!stopped_) damage_.Note(reader);
  }

  void ReadTopLevel(const ProtoReader& field) {
    if (field.field() == 3 && field.is_bytes()) return ReadThread(field.message());
    if (field.is_cut()) return;
    if (field.field() == 1 && field.is_bytes()) {
      builder_->info().format_version = std::string(field.bytes());
    } else if (field.field() == 2 && field.is_number()) {
      span_index_ = field.number();
    } else if (field.field() == 4 && field.is_bytes()) {
      ReadExtraInfo(field.message());
    } else if (field.field() == 5 && field.is_bytes()) {
      ReadDeviceProperties(field.message());
    }
  }

  void ReadExtraInfo(ProtoReader message) {
    std::string_view key, value;
    while (message.NextWhole()) {
      if (!message.is_bytes()) continue;
      if (message.field() == 1) key = message.bytes();
      if (message.field() == 2) value = message.bytes();
    }
    RecordDamage(message);
    extra_info_.emplace_back(key, value);
  }

  void ReadDeviceProperties(ProtoReader message) {
    std::string device;
    if (!ReadPaddleDeviceProperties(&message, &device)) RecordDamage(message);
    if (!devices_.empty()) devices_ += ", ";
    devices_ += device;
  }

  void ReadThread(ProtoReader message) {
    while (!stopped_ && message.Next()) {
      if (message.field() == 2 && message.is_bytes()) ReadHostNode(message.message());
    }
    RecordDamage(message);
  }

  void ReadHostNode(ProtoReader node) {
    SpanRow row;  // the facts about an operator come behind its call
    for (ProtoReader ahead = node; ahead.Next();) {
      if (ahead.field() == 6 && ahead.is_bytes()) ReadOperatorNode(ahead.message(), &row);
    }
    bool is_root = false;
    while (!stopped_ && node.Next()) {
      if (node.field() == 2 && node.is_number()) is_root = node.signed_number() < 0;
      if (!node.is_bytes()) continue;
      if (node.field() == 3 && !is_root) {
        AddHostCall(node.message(), row);
      } else if (node.field() == 4) {
        ReadRuntimeNode(node.message());
      } else if (node.field() == 5) {
        ReadMemoryNode(node.message());
      }
    }
    RecordDamage(node);
  }

  void AddHostCall(ProtoReader message, const SpanRow& known) {
    const size_t offset = message.offset();
    PaddleCall call;
    if (!ReadPaddleHostCall(&message, &call)) return RecordDamage(message);
    if (!HasFields(call.seen, 1, 6)) BadValue(offset);
    SpanRow row = RowOf(call, offset);
    row.extra = known.extra, row.args = known.args;
    row.track = tracks_.TrackOf(call.process, call.thread, IsPaddlePythonType(call.type));
    row.category = CategoryOf(call.type, offset);
    const int64_t step = call.type == kProfileStep ? StepNumber(call.name) : -1;
    if (step >= 0) row.flags |= span_flags::kStep;
    const AddedSpan span = Add(row, offset);
    if (step >= 0) builder_->AddStep(step, row.name, span);
  }

  void ReadRuntimeNode(ProtoReader node) {
    PaddleCall call;
    SpanRow row;
    AddedSpan span = AddedSpan::kNone;
    while (!stopped_ && node.Next()) {
      if (!node.is_bytes()) continue;
      if (node.field() == 1) {
        ProtoReader message = node.message();
        const size_t offset = message.offset();
        if (!ReadPaddleRuntimeCall(&message, &call)) {
          RecordDamage(message);
          continue;
        }
        if (!HasFields(call.seen, 1, 6)) BadValue(offset);
        row = RowOf(call, offset);
        row.track = tracks_.TrackOf(call.process, call.thread, false);
        row.category = CategoryOf(kCudaRuntime, offset);
        row.correlation = call.correlation;
        if (call.callback != 0) row.extra = builder_->Intern("\"callback id\": " + std::to_string(call.callback));
        span = Add(row, offset);
      } else if (node.field() == 2) {
        ReadDeviceNode(node.message(), row, span);
      }
    }
    RecordDamage(node);
  }

  void ReadDeviceNode(ProtoReader node, const SpanRow& call, AddedSpan call_span) {
    while (!stopped_ && node.Next()) {
      if (node.field() != 1 || !node.is_bytes()) continue;
      ProtoReader message = node.message();
      const size_t offset = message.offset();
      PaddleDeviceEvent event;
      if (!ReadPaddleDeviceEvent(&message, &event)) {
        // The damage may be in the details, whose reader is gone.
        if (message.failed()) RecordDamage(message);
        if (!message.failed()) builder_->AddProblem("damaged_record", static_cast<int64_t>(offset));
        continue;
      }
      if (!HasFields(event.seen, 1, 8)) BadValue(offset);
      AddDeviceEvent(event, offset, call, call_span);
    }
    RecordDamage(node);
  }

  void AddDeviceEvent(const PaddleDeviceEvent& event, size_t offset, const SpanRow& call, AddedSpan call_span) {
    SpanRow row = RowOf({.name = event.name, .start_ns = event.start_ns, .end_ns = event.end_ns}, offset);
    row.track = tracks_.DeviceTrackOf(event.device, event.stream);
    row.category = CategoryOf(event.type, offset);
    row.correlation = event.correlation;
    row.extra = builder_->Intern(event.detail);
    const AddedSpan span = Add(row, offset);
    if (call_span == AddedSpan::kNone) return;
    const auto middle = [](const SpanRow& of) { return of.start + Duration{of.duration.ns / 2}; };
    FlowRow flow;
    flow.id = event.correlation;
    flow.category = builder_->Intern("async");
    flow.name = builder_->Intern("launch");
    flow.start_time = middle(call);
    flow.start_track = call.track;
    flow.start_span = call_span;
    flow.end_time = row.duration.ns < 1000 ? row.start : middle(row);
    flow.end_track = row.track;
    flow.end_span = span;
    builder_->AddFlow(flow);
  }

  void ReadMemoryNode(ProtoReader node) {
    while (!stopped_ && node.Next()) {
      if (node.field() != 1 || !node.is_bytes()) continue;
      ProtoReader message = node.message();
      const size_t offset = message.offset();
      PaddleMemoryMessage event;
      if (!ReadPaddleMemoryMessage(&message, &event)) {
        RecordDamage(message);
        continue;
      }
      if (!HasFields(event.seen, 1, 11)) BadValue(offset);
      AddMemoryEvent(event, offset);
    }
    RecordDamage(node);
  }

  void AddMemoryEvent(const PaddleMemoryMessage& event, size_t offset) {
    InstantRow row;
    row.time = {TimeOf(event.time_ns, offset)};
    row.name = builder_->Intern("[memory]");
    const std::string_view type = PaddleMemoryTypeName(event.type);
    if (type.empty()) BadValue(offset);
    row.category = builder_->Intern(type);
    row.track = tracks_.TrackOf(event.process, event.thread, false);
    const bool is_allocation = type == "Allocate" || type == "Free";
    row.extra = builder_->Intern(
        is_allocation ? PaddleAllocationMembers(type, event.place, event.peak_allocated, event.peak_reserved)
                      : MemoryMembers(event));
    if (is_allocation) {
      row.category = builder_->Intern("cpu_instant_event");
      AddAllocation(event, row);
    }
    builder_->AddInstant(row);
    Count(offset);
  }

  void AddAllocation(const PaddleMemoryMessage& event, const InstantRow& instant) {
    AllocationRow row{.time = instant.time, .track = instant.track, .address = event.address};
    row.bytes = event.increase_bytes;
    const auto total = [&](uint32_t field, uint64_t bytes) -> int64_t {  // -1: not in the message
      return HasFields(event.seen, field, field) ? static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX)) : -1;
    };
    row.total_allocated = total(8, event.current_allocated);
    row.total_reserved = total(9, event.current_reserved);
    ReadPaddlePlace(event.place, &row);
    builder_->AddAllocation(row);
  }

  std::string MemoryMembers(const PaddleMemoryMessage& event) {
    std::string members;
    JsonMemberWriter(&members, JsonMemberWriter::kSpaced)
        .Text("place", event.place)
        .Text("addr", std::to_string(event.address))
        .Int("increase_bytes", event.increase_bytes)
        .Uint("current_allocated", event.current_allocated)
        .Uint("current_reserved", event.current_reserved)
        .Uint("peak_allocated", event.peak_allocated)
        .Uint("peak_reserved", event.peak_reserved);
    return members;
  }

  void ReadOperatorNode(ProtoReader node, SpanRow* row) {
    while (!stopped_ && node.Next()) {
      if (node.field() != 1 || !node.is_bytes()) continue;
      ProtoReader message = node.message();
      const size_t offset = message.offset();
      PaddleOperator op;
      if (ReadPaddleOperator(&message, &op)) {  // the last one is used
        row->extra = builder_->Intern(op.members);
        row->args = ArgsId::kNone;
        if (op.dims.size() > 2) row->args = AddChromeArguments({op.dims, {}, op.types, {}}, builder_);
      } else if (message.failed()) {
        RecordDamage(message);
      } else {
        builder_->AddProblem("damaged_record", static_cast<int64_t>(offset));
      }
    }
    RecordDamage(node);
  }

  SpanRow RowOf(const PaddleCall& call, size_t offset) {
    SpanRow row;
    row.name = builder_->Intern(call.name);
    row.start = {TimeOf(call.start_ns, offset)};
    const Timestamp end = {TimeOf(call.end_ns, offset)};
    if (row.start != kNoTime && end != kNoTime) row.duration = end - row.start;
    if (row.duration.ns < 0) {
      builder_->AddProblem("negative_duration", static_cast<int64_t>(offset));
      row.duration.ns = 0;
    }
    return row;
  }

  AddedSpan Add(const SpanRow& row, size_t offset) {
    const AddedSpan span = builder_->AddSpan(row);
    Count(offset);
    return span;
  }

  void Count(size_t offset) {
    if (++builder_->info().recorded % 1024 != 0 || options_.max_memory == 0) return;
    if (file_.size() + builder_->memory_bytes() <= options_.max_memory) return;
    builder_->AddProblem("over_memory_limit", static_cast<int64_t>(offset));
    stopped_ = true;
  }

  int64_t TimeOf(uint64_t ns, size_t offset) {
    if (ns <= static_cast<uint64_t>(kLatestNs)) return static_cast<int64_t>(ns);
    builder_->AddProblem("missing_time", static_cast<int64_t>(offset));
    return kNoTime.ns;
  }

  StringId CategoryOf(uint64_t type, size_t offset) {
    const std::string_view name = PaddleTypeName(type);
    if (name.empty()) BadValue(offset);
    return builder_->Intern(name);
  }

  void BadValue(size_t offset) { builder_->AddProblem("bad_value", static_cast<int64_t>(offset)); }

  static int64_t StepNumber(std::string_view name) {
    static constexpr std::string_view kStepPrefix = "ProfileStep#";
    int64_t number = -1;
    if (name.starts_with(kStepPrefix))
      std::from_chars(name.data() + kStepPrefix.size(), name.data() + name.size(), number);
    return number;
  }

  void AddMetadata() {
    std::string text;
    AppendJsonString(&text, builder_->info().format_version);
    builder_->AddMetadata("schemaVersion", text);
    builder_->AddMetadata("span_index", "\"" + std::to_string(span_index_) + "\"");
    text.clear();
    JsonObject object(&text, JsonObject::kSpaced);
    for (const auto& [key, value] : extra_info_)
      AppendJsonString(&object.EscapedKey(key), value);
    object.Close();
    builder_->AddMetadata("ExtraInfo", text);
    if (!devices_.empty()) builder_->AddMetadata("deviceProperties", "[" + devices_ + "]");
  }

  std::string_view file_;
  const ImportOptions& options_;
  TraceBuilder* builder_;
  bool stopped_ = false;
  ProtoDamage damage_{builder_};
  uint64_t span_index_ = 0;
  PaddleExtraInfo extra_info_;
  std::string devices_;  // JSON objects
  PaddleTracks tracks_;
};

}  // namespace

// A dump begins with the version and the tag of the next field.
bool LooksLikePaddleProtobuf(std::span<const std::byte> bytes) {
  const std::string_view file = AsText(bytes);
  if (file.size() < 3 || file[0] != '\n' || file[1] < 3 || file[1] > 32) return false;
  const std::string_view version = file.substr(2, static_cast<size_t>(file[1]));
  if (version[0] < '0' || version[0] > '9') return false;
  if (version.find_first_not_of("0123456789.") != std::string_view::npos) return false;
  const size_t end = 2 + version.size();
  return end == file.size() || file[end] == '\x10' || file[end] == '\x1a';
}

Status ImportPaddleProtobuf(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                            TraceBuilder* builder) {
  return PaddleDump(AsText(bytes), options, builder).Read(name);
}

}  // namespace opscope
