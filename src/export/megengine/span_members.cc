// Finds and writes the "args" of a span in MegEngine's timeline (cases: span_members.h). Views into the Trace and into
// MegEngineFacts are written straight into the output, because members are two thirds of a file. Whether a text is
// valid JSON is checked once per text and block: the check for every span cost 12 % of all instructions.
// SPDX-License-Identifier: Apache-2.0
#include "export/megengine/span_members.h"

#include <iterator>
#include <memory>
#include <string>

#include "base/json_members.h"
#include "export/framework_members.h"

namespace opscope {
namespace {

using Of = MegEngineMembers::Of;

// Writes the lifetime in milliseconds with six decimals.
void PutLifetime(int64_t lived, ChromeCursor* at) {
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
    if (members.lived >= 0) PutLifetime(members.lived, at);
    at->Put(",\"name\":\"");
    at->Put(members.name);
    at->Put("\",");
    at->Put(members.count);
    at->Put(",");
    at->Put(members.shape);
  } else if (members.of == Of::kOwnTensor) {
    at->Put(members.type);
    if (members.number != 0) {
      at->Put(members.type.empty() ? "\"id\":" : ",\"id\":");
      at->PutUint(members.number);
    }
    if (!members.shape.empty()) at->Put(",");
    at->Put(members.shape);
  } else if (members.of == Of::kLayout) {
    at->Put(members.type);
    if (members.lived >= 0) PutLifetime(members.lived, at);
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
  const auto has_own = [&](std::string_view key) { return !FindJsonMember(members.own, key).empty(); };
  if (members.of == Of::kOperator && has_own("__device__")) members.device = {};
  // A Kineto file that opscope exported: the event has these members already.
  if (members.of == Of::kTensor && has_own("nr_elements")) {
    const ArgsId args = has_own("dtype") ? ArgsId::kNone : spans_.args[event.row];
    members.of = members.number == 0 && args == ArgsId::kNone ? Of::kNothing : Of::kOwnTensor;
    members.type = args == ArgsId::kNone ? std::string_view() : facts_.TypeText(args);
    members.shape = args == ArgsId::kNone ? std::string_view() : facts_.ShapeText(args);
  }
  if (!facts_.is_of_timeline()) return members;
  if (members.of != Of::kOperator && role != MegEngineRole::kRange) {
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
  if (FindJsonMember(members->own, "living_time").empty()) members->lived = LifetimeUntil(event);
}

// Lifetime in ns of a tensor that was released by the event's time; -1: not released, or unknown.
int64_t MegEngineMemberFinder::LifetimeUntil(const MegEngineMark& event) const {
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
  members->lived = LifetimeUntil(event);
  members->is_known = is_known;
  if (!is_known) {
    members->name = "UnknownTensor";
  } else if (lives.name[life] != StringId::kNone) {
    members->name = names_.Of(lives.name[life]);
  }
}

namespace {

// Appends the members that Kineto's format lacks. It has the id of an operator or tensor ("External id") and, if the
// span has an argument list, type and shape. Spaced as the importer spaces the members that it keeps.
void AppendBesideKineto(const MegEngineMembers& members, bool has_list, std::string* out) {
  const auto add = [out](std::string_view member) {
    const size_t colon = member.find("\":") + 2;
    out->append(out->empty() ? "" : ", ").append(member.substr(0, colon)).append(" ").append(member.substr(colon));
  };
  if (members.of == Of::kOperator) {
    if (!members.device.empty() && members.device != "\"invalid\"")
      add(std::string("\"__device__\":").append(members.device));
    return;
  }
  if (members.of != Of::kTensor || !members.is_known) return;
  add(std::string("\"device\":").append(members.device));
  if (!has_list) add(members.type);
  if (members.number == 0) add("\"id\":0");  // a column value of 0 means no tensor
  if (members.lived >= 0) {
    char text[64];
    ChromeCursor at(text);
    PutLifetime(members.lived, &at);
    add(std::string_view(text + 1, static_cast<size_t>(at.at() - text) - 1));
  }
  add(std::string("\"name\":\"").append(members.name).append("\""));
  add(members.count);
  if (!has_list) add(members.shape);
}

}  // namespace

FrameworkMembers MegEngineMembersBesideKineto(const Trace& trace) {
  if (trace.tensor_lives().size() == 0) return nullptr;
  const auto facts = std::make_shared<const MegEngineFacts>(trace);
  if (!facts->is_of_recording()) return nullptr;
  return [&trace, facts]() -> AppendSpanMembers {
    const auto finder = std::make_shared<MegEngineMemberFinder>(trace, *facts);
    return [&trace, facts, finder](uint32_t span, std::string* out) {
      AppendBesideKineto(finder->FindAtEnd(span), trace.spans().args[span] != ArgsId::kNone, out);
    };
  };
}

}  // namespace opscope
