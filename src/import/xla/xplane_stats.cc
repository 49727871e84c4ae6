// XLA stores most facts once per event name, in the metadata of the plane, and events refer to them by number. So the
// members that all events of a name share are made once, as text, and appended to those of each event. Long texts (an
// HLO module is megabytes) are cut, and an event has at most 64 members. Its keys are found by the offsets of the
// members: searching the text for each key would take 500 us for such an event.
// SPDX-License-Identifier: Apache-2.0
#include "import/xla/xplane_stats.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace opscope {
namespace {

constexpr size_t kLongestBytes = 4096;  // HLO modules and other messages are of no use in a table
constexpr size_t kLongestShared = 1024;
constexpr size_t kMaxShared = 4096;  // bytes of the members that all events of a name share

struct XStatValue {
  int64_t id = 0;
  enum class Kind : uint8_t { kNone, kDouble, kUnsigned, kSigned, kText, kBytes, kReference } kind = Kind::kNone;
  uint64_t bits = 0;
  std::string_view text;
};

bool ReadValue(ProtoReader* stat, XStatValue* value) {
  using Kind = XStatValue::Kind;
  while (stat->NextWhole()) {
    const uint32_t field = stat->field();
    if (field == 1 && stat->is_number()) {
      value->id = stat->signed_number();
    } else if (stat->is_number() && (field == 2 || field == 3 || field == 4 || field == 7)) {
      value->kind = field == 2   ? Kind::kDouble
                    : field == 3 ? Kind::kUnsigned
                    : field == 4 ? Kind::kSigned
                                 : Kind::kReference;
      value->bits = stat->number();
    } else if (stat->is_bytes() && (field == 5 || field == 6)) {
      value->kind = field == 5 ? Kind::kText : Kind::kBytes;
      value->text = stat->bytes();
    }
  }
  return !stat->failed();
}

void AppendText(std::string* out, std::string_view text, size_t longest) {
  if (text.size() <= longest) return AppendJsonString(out, text);
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xc0) == 0x80)
    --longest;  // do not cut within a character
  AppendJsonString(out, std::string(text.substr(0, longest)) + "... (" + std::to_string(text.size()) + " bytes)");
}

void AppendValue(std::string* out, const XStatValue& value, bool is_shared) {
  using Kind = XStatValue::Kind;
  switch (value.kind) {
    case Kind::kNone:
      out->append("null");
      break;
    case Kind::kDouble: {
      const double number = std::bit_cast<double>(value.bits);
      if (std::isfinite(number)) {
        AppendDouble(out, number);
      } else {
        out->append("null");
      }
      break;
    }
    case Kind::kUnsigned:
      AppendUint(out, value.bits);
      break;
    case Kind::kSigned:
      AppendInt(out, static_cast<int64_t>(value.bits));
      break;
    case Kind::kBytes:
      if (value.text.size() > kLongestBytes) {
        out->append("\"(").append(std::to_string(value.text.size())).append(" bytes)\"");
        break;
      }
      [[fallthrough]];
    case Kind::kText:
      AppendText(out, value.text, is_shared ? kLongestShared : SIZE_MAX);
      break;
    case Kind::kReference:
      AppendText(out, value.text, kLongestShared);
      break;
  }
}

bool IsWhole(const XStatValue& value) {
  return value.kind == XStatValue::Kind::kUnsigned || value.kind == XStatValue::Kind::kSigned;
}

// Reads the stats that are columns. False: the stat is not one of them.
bool TakeKnown(std::string_view name, const XStatValue& value, XEventFacts* facts) {
  if (!IsWhole(value)) return false;
  if (name == "correlation_id" && value.bits <= UINT32_MAX) {
    facts->correlation = static_cast<uint32_t>(value.bits);
  } else if (name == "step_num" && value.bits <= INT64_MAX) {
    facts->step = static_cast<int64_t>(value.bits);
  } else if (name == "_p") {
    facts->produces = value.bits;
  } else if (name == "_c") {
    facts->consumes = value.bits;
  } else if (name == "_pt") {
    facts->producer_type = value.bits;
  } else if (name == "_ct") {
    facts->consumer_type = value.bits;
  } else {
    return false;
  }
  return true;
}

void RecordKind(std::string_view name, XEventFacts* facts) {
  if (name == "hlo_op") facts->is_op = true;
  if (name == "memcpy_details") facts->is_copy = true;
  if (name == "memset_details") facts->is_set = true;
}

// The first value is used: events repeat some facts, from the inside out.
void AddMember(const XSharedFacts::Member& member, XEventFacts* facts) {
  if (facts->left_out) return;
  for (size_t i = 0; i < facts->member_count; ++i) {
    if (facts->members.compare(facts->key_begins[i], member.key.size(), member.key) == 0) return;
  }
  if (facts->member_count == XEventFacts::kMaxMembers) {
    facts->left_out = true;
    return;
  }
  if (!facts->members.empty()) facts->members += ", ";
  facts->key_begins[facts->member_count++] = facts->members.size();
  facts->members += member.text;
}

// The key and the message of a map entry.
bool ReadEntry(ProtoReader* entry, int64_t* key, std::string_view* value) {
  while (entry->NextWhole()) {
    if (entry->field() == 1 && entry->is_number()) *key = entry->signed_number();
    if (entry->field() == 2 && entry->is_bytes()) *value = entry->bytes();
  }
  return !entry->failed();
}

}  // namespace

std::optional<int64_t> XEventFacts::IntegerMember(std::string_view key) const {
  std::string begin;
  AppendJsonString(&begin, key);
  begin += ": ";
  for (size_t i = 0; i < member_count; ++i) {
    if (members.compare(key_begins[i], begin.size(), begin) != 0) continue;
    int64_t value = 0;
    const char* const first = members.data() + key_begins[i] + begin.size();
    if (std::from_chars(first, members.data() + members.size(), value).ec != std::errc()) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

void AppendSharedText(std::string* out, std::string_view text) {
  AppendText(out, text, kLongestShared);
}

bool XPlaneNames::AddEventName(ProtoReader* entry) {
  int64_t id = 0;
  XEventName name;
  if (!ReadEntry(entry, &id, &name.stats)) return false;
  if (name.stats.empty()) return true;
  ProtoReader metadata(name.stats, file_);
  while (metadata.NextWhole()) {
    if (!metadata.is_bytes()) continue;
    if (metadata.field() == 2) name.name = metadata.bytes();
    if (metadata.field() == 4) name.display_name = metadata.bytes();
  }
  events_.insert_or_assign(id, name);
  return !metadata.failed();
}

bool XPlaneNames::AddStatName(ProtoReader* entry) {
  int64_t id = 0;
  std::string_view message, name;
  if (!ReadEntry(entry, &id, &message)) return false;
  if (message.empty()) return true;
  ProtoReader metadata(message, file_);
  while (metadata.NextWhole()) {
    if (metadata.field() == 2 && metadata.is_bytes()) name = metadata.bytes();
  }
  stats_.insert_or_assign(id, name);
  return !metadata.failed();
}

XEventName* XPlaneNames::FindEvent(int64_t id) {
  const auto found = events_.find(id);
  return found == events_.end() ? nullptr : &found->second;
}

std::string_view XPlaneNames::StatName(int64_t id) const {
  const auto found = stats_.find(id);
  return found == stats_.end() ? std::string_view() : found->second;
}

// A fact that is a column is set there; any other becomes `member`.
bool XPlaneNames::ReadFact(ProtoReader* stat, bool is_shared, XEventFacts* facts, XSharedFacts::Member* member) const {
  XStatValue value;
  if (!ReadValue(stat, &value)) return false;
  if (value.kind == XStatValue::Kind::kReference) value.text = StatName(static_cast<int64_t>(value.bits));
  const std::string_view name = StatName(value.id);
  if (TakeKnown(name, value, facts)) return true;
  RecordKind(name, facts);
  AppendJsonString(&member->key, name.empty() ? "stat " + std::to_string(value.id) : std::string(name));
  member->key += ": ";
  member->text = member->key;
  AppendValue(&member->text, value, is_shared);
  return true;
}

bool XPlaneNames::ReadStat(ProtoReader* stat, XEventFacts* facts) const {
  XSharedFacts::Member member;
  if (!ReadFact(stat, false, facts, &member)) return false;
  if (!member.key.empty()) AddMember(member, facts);
  return true;
}

XSharedFacts XPlaneNames::ReadShared(std::string_view metadata) const {
  XSharedFacts shared;
  size_t size = 0;
  ProtoReader reader(metadata, file_);
  while (reader.NextWhole()) {
    if (reader.field() != 5 || !reader.is_bytes()) continue;
    ProtoReader stat = reader.message();
    XSharedFacts::Member member;
    if (!ReadFact(&stat, true, &shared.columns, &member)) {
      shared.whole = false;
      break;
    }
    if (member.key.empty()) continue;
    size += member.text.size();
    if (size > kMaxShared) {
      shared.columns.left_out = true;
      break;
    }
    shared.members.push_back(std::move(member));
  }
  shared.whole = shared.whole && !reader.failed();
  return shared;
}

bool XPlaneNames::AddShared(XEventName* name, XEventFacts* facts) const {
  if (!name->shared) name->shared = ReadShared(name->stats);
  const XEventFacts& columns = name->shared->columns;
  if (facts->correlation == 0) facts->correlation = columns.correlation;
  if (!facts->step) facts->step = columns.step;
  facts->is_op |= columns.is_op;
  facts->is_copy |= columns.is_copy;
  facts->is_set |= columns.is_set;
  for (const XSharedFacts::Member& member : name->shared->members)
    AddMember(member, facts);
  facts->left_out |= columns.left_out;
  return name->shared->whole;
}

}  // namespace opscope
