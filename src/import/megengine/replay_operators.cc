// Operators, their kernels, and waits for tensors: the parts of a replay that combine several records to one row.
// OpDispatch on the interpreter's thread has the name and members of an operator, OpExecute on the worker's thread its
// times; they share a number. A kernel has a launch and two ticks of its device:
//
//   worker   KernelLaunch   RecordDevice   RecordDevice   KernelLaunch finished
//   kernel                  start          end
//
// If the device gave no ticks, the thread's times are used, shifted by the device's last known delay.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/json_object.h"
#include "base/text.h"
#include "import/megengine/replay.h"

namespace opscope {
namespace {

// The position of a member named `key` among members sorted by name.
size_t PlaceOf(std::string_view key, std::string_view members) {
  size_t at = 0;
  while (at < members.size()) {
    const std::string_view rest = members.substr(at + 1);
    if (rest.substr(0, rest.find('"')) > key) return at;
    // Skip this member: names and values are strings, in which a backslash may escape.
    for (int quotes = 0; at < members.size() && quotes < 4; ++at) {
      if (members[at] == '\\') ++at;
      else if (members[at] == '"') ++quotes;
    }
    at = std::min(at + 2, members.size());
  }
  return members.size();
}

}  // namespace

// Operators with equal names and parameters share the text.
StringId MegEngineReplay::OperatorMembers(const MegEngineRecord& record) {
  const uint64_t key = record.members_id << 32 | static_cast<uint32_t>(record.name);
  if (record.members_id != 0 || record.members.empty()) {
    const auto known = operator_members_.find(key);
    if (known != operator_members_.end()) return known->second;
  }
  std::string name = "\"__name__\": ";
  AppendJsonString(&name, builder_->text(record.name));
  std::string text(record.members);
  const size_t place = PlaceOf("__name__", text);
  if (place == text.size()) {
    text += text.empty() ? name : ", " + name;
  } else {
    text.insert(place, name + ", ");
  }
  const StringId id = builder_->Intern(text);
  if (record.members_id != 0 || record.members.empty()) operator_members_[key] = id;
  return id;
}

void MegEngineReplay::Dispatch(const MegEngineRecord& record, TrackId track) {
  Operator& op = operators_[record.value];
  op.name = record.name;
  op.extra = OperatorMembers(record);
  tensors_.Dispatch(record.value, record.arguments);
  const RangeKey key{static_cast<uint32_t>(record.event), record.value};
  spans_.Begin(key, {.start = record.time,
                     .name = dispatch_,
                     .track = track,
                     .external_id = ShortNumber(record.value),
                     .extra = op.extra});
  spans_.End(track, key, record.time);
}

void MegEngineReplay::Execute(const MegEngineRecord& record, Thread* thread) {
  thread->inputs.clear();
  thread->op_start = record.time;
  thread->is_dtr = builder_->text(record.name) == "dtr";
  Operator op = operators_[record.value];
  if (op.name == StringId::kEmpty) op.name = builder_->Intern("UnknownOperator");
  spans_.Begin({static_cast<uint32_t>(record.event), record.value}, {.start = record.time,
                                                                     .name = op.name,
                                                                     .track = thread->track,
                                                                     .kind = SpanKind::kOperator,
                                                                     .external_id = ShortNumber(record.value),
                                                                     .extra = op.extra});
}

ArgsId MegEngineReplay::JoinInputs(const std::vector<ArgsId>& inputs) {
  if (inputs.empty()) return ArgsId::kNone;
  const auto [found, is_new] = joined_.try_emplace(inputs, ArgsId::kNone);
  if (!is_new) return found->second;
  std::vector<ArgumentRow> rows;
  for (const ArgsId input : inputs) {
    const bool is_known = input != ArgsId::kNone;
    rows.push_back(is_known ? ArgumentRow::Of(builder_->arguments(input)[0])
                            : ArgumentRow{.kind = ArgumentKind::kTensor});
  }
  return found->second = builder_->AddArguments(rows);
}

void MegEngineReplay::FinishOperator(const MegEngineRecord& record, Thread* thread) {
  SpanRow* row = spans_.Newest(thread->track, static_cast<uint32_t>(record.event));
  if (row != nullptr) row->args = JoinInputs(thread->inputs);
  if (!spans_.End(thread->track, {static_cast<uint32_t>(record.event), record.value}, record.time)) {
    builder_->AddProblem("stray_end", -1);
  }
}

// The events of the device are directly behind the launch and directly before its end.
void MegEngineReplay::Tick(const MegEngineRecord& record, Thread* thread) {
  const Timestamp time = tracks_.Tick(record.detail, record.time, {static_cast<int64_t>(record.value)});
  AddCopies(record.detail, time);
  for (Kernel& kernel : thread->kernels) {
    if (kernel.device != record.detail) continue;
    (kernel.has_start ? kernel.end : kernel.start) = time;
    kernel.has_end = kernel.has_start;
    kernel.has_start = true;
  }
}

void MegEngineReplay::FinishKernel(const MegEngineRecord& record, Thread* thread) {
  const auto found = std::find_if(thread->kernels.rbegin(), thread->kernels.rend(), [&](const Kernel& kernel) {
    return kernel.op == record.value && kernel.device == record.device;
  });
  if (found == thread->kernels.rend()) return builder_->AddProblem("stray_end", -1);
  Kernel kernel = *found;
  thread->kernels.erase(std::next(found).base());
  if (!kernel.has_start) kernel.start = tracks_.OnDevice(kernel.device, kernel.start);
  if (!kernel.has_end) kernel.end = tracks_.OnDevice(kernel.device, record.time);
  const Operator op = operators_[kernel.op];
  spans_.Add({.start = kernel.start,
              .duration = LengthOf(kernel.start, kernel.end),
              .name = op.name,
              .category = kernel_,
              .track = tracks_.OfDevice(kernel.device),
              .kind = SpanKind::kKernel,
              .correlation = ShortNumber(kernel.number),
              .external_id = ShortNumber(kernel.op),
              .extra = op.extra});
  if (thread->is_dtr) {
    const int64_t us = (record.time - thread->op_start).ns / 1000;
    AddUp("dtr_overhead_us", thread->track, record.time, us);
  }
}

void MegEngineReplay::CopyToDevice(const MegEngineRecord& record, const Thread& thread) {
  uint64_t bytes = 0;
  int64_t before = 0;
  const auto device = static_cast<uint16_t>(record.device);
  SpanRow row{.start = tracks_.OnDevice(device, thread.copy_start),
              .duration = LengthOf(thread.copy_start, record.time),
              .name = builder_->Intern("HostToDevice"),
              .track = tracks_.OfDevice(device),
              .kind = SpanKind::kCopy,
              .args = tensors_.Layout(record.arguments, record.name, &bytes, &before)};
  uint64_t elements = row.args == ArgsId::kNone ? 0 : 1;
  std::string shape = "{";
  if (row.args != ArgsId::kNone) {
    for (const int64_t size : builder_->arguments(row.args)[0].sizes) {
      if (shape.size() > 1) shape += ',';
      AppendInt(&shape, size);
      elements *= static_cast<uint64_t>(size);
    }
  }
  std::string extra;
  JsonMemberWriter(&extra, JsonMemberWriter::kSpaced)
      .Text("device", tracks_.NodeText(device))
      .Text("dtype", builder_->text(record.name))
      .Uint("nr_elements", elements)
      .Text("shape", shape + "}");
  row.extra = builder_->Intern(extra);
  copies_[device].push_back(row);
}

// A device runs one thing after the other, but gives times for kernels only: a copy was finished before the device's
// next event.
void MegEngineReplay::AddCopies(uint16_t device, std::optional<Timestamp> next) {
  const auto copies = copies_.find(device);
  if (copies == copies_.end()) return;
  for (SpanRow& row : copies->second) {
    if (next) {
      const Timestamp end = std::min(row.start + row.duration, *next);
      row.start = std::min(row.start, end);
      row.duration = end - row.start;
    }
    spans_.Add(row);
  }
  copies_.erase(copies);
}

// A program's range that named a device is shown on that device, too.
void MegEngineReplay::FinishOnDevice(const MegEngineRecord& record, TrackId track) {
  const SpanRow* host = spans_.Newest(track, static_cast<uint32_t>(record.event));
  if (host == nullptr || host->name != record.name) return;
  const auto device = static_cast<uint16_t>(record.detail - 1);
  const Timestamp start = tracks_.OnDevice(device, host->start);
  spans_.Add({.start = start,
              .duration = LengthOf(start, tracks_.OnDevice(device, record.time)),
              .name = record.name,
              .track = tracks_.OfDevice(device)});
}

void MegEngineReplay::FinishWait(const MegEngineRecord& record, TrackId track) {
  const RangeKey key{static_cast<uint32_t>(record.event), record.value};
  SpanRow* row = spans_.Newest(track, key.event);
  if (row != nullptr && !record.members.empty()) row->extra = builder_->Intern(record.members);
  if (!spans_.End(track, key, record.time)) builder_->AddProblem("stray_end", -1);
  const auto notices = notices_.find(record.value);
  if (notices == notices_.end()) return;
  for (const Notice& notice : notices->second) {
    builder_->AddFlow({.id = record.value,
                       .category = tensor_prop_,
                       .name = pid_text_,
                       .start_time = notice.time,
                       .start_track = notice.track,
                       .end_time = record.time,
                       .end_track = track});
  }
  notices_.erase(notices);
}

}  // namespace opscope
