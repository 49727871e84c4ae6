// SPDX-License-Identifier: Apache-2.0
#include "export/megengine/span_members.h"

#include <iterator>

#include "base/json_members.h"

namespace opscope {
namespace {

using Of = MegEngineMembers::Of;

// Milliseconds with six decimals.
void PutLivingTime(int64_t lived, ChromeCursor* at) {
  const auto ns = static_cast<uint64_t>(lived);
  at->Put(",\"living_time\":\"");
  at->PutUint(ns / 1000000);
  at->Put(".");
  at->PutSixDigits(static_cast<uint32_t>(ns % 1000000));
  at->Put(" ms\"");
}

}  // namespace

void PutMembers(const MegEngineMembers& members, ChromeCursor* at) {
  if (members.of == Of::kOperator) {
    if (!members.device.empty()) {
      at->Put("\"__device__\":");
      at->Put(members.device);
      at->Put(",");
    }
    at->Put("\"__id__\":");
    at->PutUint(members.number);
  } else if (members.of == Of::kTensor) {
    at->Put("\"device\":");
    at->Put(members.device);
    at->Put(",");
    at->Put(members.type);
    at->Put(",\"id\":");
    at->PutUint(members.number);
    if (members.lived >= 0) PutLivingTime(members.lived, at);
    at->Put(",\"name\":\"");
    at->Put(members.name);
    at->Put("\",");
    at->Put(members.count);
    at->Put(",");
    at->Put(members.shape);
  } else if (members.of == Of::kLayout) {
    at->Put(members.type);
    if (members.lived >= 0) PutLivingTime(members.lived, at);
    at->Put(",");
    at->Put(members.shape);
  }
  if (members.of != Of::kNothing && !members.own.empty()) at->Put(",");
  at->Put(members.own);
}

MegEngineMemberFinder::MegEngineMemberFinder(const Trace& trace, const MegEngineFacts& facts)
    : trace_(trace), spans_(trace.spans()), facts_(facts), names_(trace) {
  checked_.fill(StringId::kNone);
}

MegEngineMembers MegEngineMemberFinder::Find(const MegEngineMark& event) {
  const MegEngineRole role = facts_.RoleOf(event.row);
  StringId extra = spans_.extra[event.row];
  MegEngineMembers members;
  if (role == MegEngineRole::kDispatch || role == MegEngineRole::kOperator || role == MegEngineRole::kKernel) {
    FindOperator(event.row, &members, &extra);
  } else if (role != MegEngineRole::kRange && !facts_.is_of_timeline()) {
    FindTensor(event, &members);
  }
  if (extra != StringId::kNone) {
    const std::string_view text = trace_.text(extra);
    StringId& checked = checked_[Row(extra) % std::size(checked_)];
    if (!text.empty() && (extra == checked || AreJsonMembers(text))) {
      checked = extra;
      members.own = text;
    }
  }
  if (!facts_.is_of_timeline()) return members;
  if (members.of == Of::kOperator) {
    if (!FindJsonMember(members.own, "__device__").empty()) members.device = {};
  } else if (role != MegEngineRole::kRange) {
    FindLayout(event, &members);
  }
  return members;
}

void MegEngineMemberFinder::FindOperator(uint32_t row, MegEngineMembers* members, StringId* extra) const {
  if (facts_.is_of_timeline() && spans_.external_id[row] == 0) return;
  const MegEngineCall* op = facts_.OperatorOf(row);
  members->of = Of::kOperator;
  members->device = facts_.DeviceText(op == nullptr ? TrackId::kNone : op->device);
  members->number = spans_.external_id[row];
  if (*extra == StringId::kNone && op != nullptr && op->dispatch != kNoRow) *extra = spans_.extra[op->dispatch];
}

void MegEngineMemberFinder::FindLayout(const MegEngineMark& event, MegEngineMembers* members) const {
  const ArgsId args = spans_.args[event.row];
  if (args == ArgsId::kNone) return;
  members->of = Of::kLayout;
  members->type = facts_.TypeText(args);
  members->shape = facts_.ShapeText(args);
  if (FindJsonMember(members->own, "living_time").empty()) members->lived = LivedBefore(event);
}

// How long a tensor had lived that was gone by then; -1: it was not, or it is not known.
int64_t MegEngineMemberFinder::LivedBefore(const MegEngineMark& event) const {
  const TensorLifeColumns& lives = trace_.tensor_lives();
  const uint32_t life = facts_.LifeOf(event.row);
  if (life == kNoRow || lives.duration[life].ns < 0) return -1;
  return (lives.produced[life] + lives.duration[life]).ns <= event.time ? lives.duration[life].ns : -1;
}

void MegEngineMemberFinder::FindTensor(const MegEngineMark& event, MegEngineMembers* members) {
  const TensorLifeColumns& lives = trace_.tensor_lives();
  const uint32_t life = facts_.LifeOf(event.row);
  const bool is_known = life != kNoRow;
  const ArgsId args = is_known ? lives.args[life] : ArgsId::kNone;
  members->of = Of::kTensor;
  members->number = spans_.external_id[event.row];
  members->device = facts_.DeviceText(is_known ? lives.track[life] : TrackId::kNone);
  members->type = facts_.TypeText(args);
  members->count = facts_.CountText(args);
  members->shape = facts_.ShapeText(args);
  members->lived = LivedBefore(event);
  if (!is_known) {
    members->name = "UnknownTensor";
  } else if (lives.name[life] != StringId::kNone) {
    members->name = names_.Of(lives.name[life]);
  }
}

}  // namespace opscope
