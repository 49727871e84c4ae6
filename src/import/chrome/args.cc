// Each member of "args" is read once, in the order of the file: a switch on the size of its name finds the few that are
// columns; all others are copied to `extra`. Argument lists are not parsed here: their four texts, with the sizes
// before them, are a key that is numbered per part:
//
//   "[[2, 4]]", "", "[\"float\"]", ""   ->   list 17 of this part
//
// A file repeats few lists very often, so each distinct key is parsed once per file (join.cc).
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/args.h"

#include <cstring>

#include "base/json_decode.h"
#include "base/json_object.h"
#include "import/text/json_number.h"
#include "import/text/member_index.h"

namespace opscope {
namespace {

constexpr std::string_view kListNames[] = {"Input Dims", "Input Strides", "Input type", "Concrete Inputs"};

int ListNumber(std::string_view key) {
  if (key.size() < 10 || key.size() > 15) return -1;
  if (key == "Input Types") return 2;
  for (int i = 0; i < 4; ++i) {
    if (key == kListNames[i]) return i;
  }
  return -1;
}

bool IsPythonMember(std::string_view key) {
  return key == "Python id" || key == "Python parent id" || key == "Python module id" || key == "Python thread";
}

// An integer from `low` to `high`. False: the value is something else, and `out` unchanged.
template <typename T>
bool ReadInteger(const JsonValue& value, int64_t low, int64_t high, T* out) {
  const auto number = value.is_number() ? ParseInteger(value.text) : std::nullopt;
  if (!number || *number < low || *number > high) return false;
  *out = static_cast<T>(*number);
  return true;
}

// 0 means "none" in these columns, so a 0 in the file goes to `extra`.
bool ReadPositive(const JsonValue& value, uint32_t* out) {
  return ReadInteger(value, 1, UINT32_MAX, out);
}

// Reads all members or none, because they are exported together as torch prints them: a call without a caller has null
// or, in files of torch 2.14 and later, no member.
ChromePythonCall ReadPythonCall(const std::vector<JsonMember>& members) {
  ChromePythonCall call;
  bool is_known = true, has_caller = false, has_place = false;
  for (const JsonMember& member : members) {
    const std::string_view key = member.key.text;
    if (key == "Python id") {
      call.present = ReadInteger(member.value, 1, INT32_MAX, &call.row.id);
    } else if (key == "Python parent id") {
      has_caller = true;
      is_known &=
          member.value.kind == JsonValue::Kind::kNull || ReadInteger(member.value, 1, INT32_MAX, &call.row.caller);
    } else if (key == "Python module id") {
      is_known &= ReadInteger(member.value, 0, INT32_MAX, &call.row.module_id);
    } else if (key == "Python thread") {
      is_known &= ReadInteger(member.value, 0, INT32_MAX, &call.row.thread);
    } else if (key == "CallFrom") {
      has_place = true;
    }
  }
  return call.present && is_known && (has_caller || has_place) ? call : ChromePythonCall{};
}

// How an export by opscope marks a span outside of the nesting (docs/reference/chrome_json.md).
bool ReadAsyncReason(std::string_view reason, SpanRow* row) {
  if (reason != "crossing" && reason != "thread" && reason != "range") return false;
  row->flags |= span_flags::kAsync;
  if (reason == "crossing") row->flags |= span_flags::kCrossing;
  if (reason == "thread") row->flags |= span_flags::kOtherThread;
  return true;
}

JsonMember ListMember(int list, const JsonValue& value) {
  JsonMember member;
  member.key.kind = JsonValue::Kind::kString;
  member.key.text = kListNames[list];
  member.value = value;
  return member;
}

// "inner;outer;": the innermost first, each frame closed by ';'. Other spellings could not be exported unchanged.
bool IsPrintableStack(std::string_view text) {
  return text.size() >= 2 && text.back() == ';' && text.front() != ';' && text.find(";;") == std::string_view::npos;
}

}  // namespace

StringId ChromeArgs::Text(const JsonValue& value) {
  if (value.plain) return part_->InternView(value.text);
  decoded_.clear();
  AppendDecoded(&decoded_, value.text);
  return part_->Intern(decoded_);
}

void ChromeArgs::Keep(const JsonMember& member) {
  if (!AppendCleanMember(&extra_, member)) ++dropped_values_;
}

StringId ChromeArgs::TakeExtra() {
  if (extra_.empty()) return StringId::kNone;
  const StringId id = part_->Intern(extra_);
  extra_.clear();
  return id;
}

StringId ChromeArgs::ReadExtra(const std::vector<JsonMember>& members, std::string_view first) {
  extra_.assign(first);
  for (const JsonMember& member : members)
    Keep(member);
  return TakeExtra();
}

bool ChromeArgs::ReadKnown(const JsonMember& member, SpanRow* row) {
  const std::string_view key = member.key.text;
  const JsonValue& value = member.value;
  switch (key.size()) {
    case 8:
      if (key != "finished" || value.kind != JsonValue::Kind::kFalse) return false;
      row->flags |= span_flags::kUnfinished;
      return true;
    case 10:
      return key == "Call stack" && value.is_string() && ReadCallStack(value, &row->stack);
    case 11:
      if (key == "External id" || key == "External ID" || key == "external id") {
        return ReadPositive(value, &row->external_id);
      }
      return key == "correlation" && ReadPositive(value, &row->correlation);
    case 12: {  // written by opscope
      const auto number = key == "opscope.step" && value.is_number() ? ParseInteger(value.text) : std::nullopt;
      if (!number || *number < 0) return false;
      row->flags |= span_flags::kStep;
      step_number_ = number;
      return true;
    }
    case 13: {
      if (key == "opscope.async") return ReadAsyncReason(value.text, row);
      if (key != "Fwd thread id" || !value.is_number()) return false;
      const auto number = ParseUnsigned(value.text);
      if (number) row->forward_thread = *number;
      return number.has_value();
    }
    case 15:
      return key == "Sequence number" && ReadInteger(value, 0, INT64_MAX, &row->sequence);
    case 16:
      return key == "opscope.overload" && value.is_string() && ReadOverload(value, row);
    default:
      return false;
  }
}

// False: the member must go to `extra`.
bool ChromeArgs::ReadDialectMember(const ChromeMember& meaning, const JsonMember& member, SpanRow* row) {
  if (meaning.meaning == ChromeMember::Meaning::kCorrelation) return ReadPositive(member.value, &row->correlation);
  const bool is_step = meaning.meaning == ChromeMember::Meaning::kStep && row->category == StringId::kEmpty;
  if (!is_step || (row->flags & span_flags::kStep) != 0) return false;
  step_number_ = ParseInteger(member.value.text);
  if (step_number_ && *step_number_ < 0) step_number_.reset();
  return false;
}

// "aten::to.dtype" is the overload "dtype" of aten::to.
bool ChromeArgs::ReadOverload(const JsonValue& value, SpanRow* row) {
  const StringId overload = Text(value);
  const std::string_view name = part_->text(row->name), end = part_->text(overload);
  if (end.empty() || name.size() < end.size() + 2 || !name.ends_with(end)) return false;
  const std::string_view rest = name.substr(0, name.size() - end.size());
  if (rest.back() != '.') return false;
  row->overload = overload;
  row->name = part_->InternView(rest.substr(0, rest.size() - 1));
  return true;
}

void ChromeArgs::ReadSpan(const std::vector<JsonMember>& members, SpanRow* row, ChromePythonCall* call) {
  JsonValue lists[4];
  bool any_list = false;
  const bool is_python = call != nullptr && part_->text(row->category) == "python_function";
  if (is_python) *call = ReadPythonCall(members);
  const JsonMember* forward_thread = nullptr;
  const JsonMember* only_list = nullptr;
  bool has_dialect_list = false;
  step_number_.reset();
  for (const JsonMember& member : members) {
    const int list = ListNumber(member.key.text);
    if (list >= 0) {
      lists[list] = member.value;
      any_list = true;
    } else if (member.key.text == "Fwd thread id") {
      forward_thread = &member;
    } else if (is_python && call->present && IsPythonMember(member.key.text)) {
      continue;
    } else if (const ChromeMember* meaning = conventions_.dialects->MeaningOf(member.key.text)) {
      has_dialect_list |= meaning->read != nullptr;
      if (meaning->meaning == ChromeMember::Meaning::kListsAlone) {
        only_list = &member;
      } else if (!ReadDialectMember(*meaning, member, row)) {
        Keep(member);
      }
    } else if (!ReadKnown(member, row)) {
      Keep(member);
    }
  }
  ChromeLists dialect;
  if (has_dialect_list && !any_list && ReadChromeLists(*conventions_.dialects, members, &dialect)) {
    lists[0] = {JsonValue::Kind::kArray, true, dialect.dims};
    lists[2] = {JsonValue::Kind::kArray, true, dialect.types};
    any_list = true;
  } else if (only_list != nullptr) {
    Keep(*only_list);
  }
  // Exported only together with a sequence number.
  if (forward_thread != nullptr && (row->sequence < 0 || !ReadKnown(*forward_thread, row))) Keep(*forward_thread);
  if (any_list && !ReadLists(lists, &row->args)) {
    for (int i = 0; i < 4; ++i) {
      if (lists[i].present()) Keep(ListMember(i, lists[i]));
    }
  }
  row->extra = TakeExtra();
}

// False: a value is not an array.
bool ChromeArgs::ReadLists(const JsonValue (&lists)[4], ArgsId* args) {
  std::string_view texts[4];
  for (int i = 0; i < 4; ++i) {
    if (lists[i].present() && lists[i].kind != JsonValue::Kind::kArray) return false;
    texts[i] = lists[i].text;
  }
  key_.clear();
  AppendListTexts(texts, &key_);
  *args = static_cast<ArgsId>(part_->lists.Add(key_));
  return true;
}

bool ChromeArgs::ReadCallStack(const JsonValue& value, StackId* stack) {
  std::string_view text = value.text;
  if (!value.plain) {
    decoded_.clear();
    AppendDecoded(&decoded_, text);
    text = decoded_;
  }
  if (!IsPrintableStack(text)) return false;
  *stack = static_cast<StackId>(part_->stacks.AddView(value.text));
  return true;
}

ChromeAllocation ChromeArgs::ReadAllocation(const std::vector<JsonMember>& members, StringId* extra) {
  ChromeAllocation allocation;
  bool has_address = false;
  bool has_bytes = false;
  for (const JsonMember& member : members) {
    const std::string_view key = member.key.text;
    const JsonValue& value = member.value;
    bool known = false;
    if (key == "Addr" && value.is_number()) {
      const auto address = ParseUnsigned(value.text);
      if (address) allocation.row.address = *address;
      known = has_address = address.has_value();
    } else if (key == "Bytes") {
      known = has_bytes = ReadInteger(value, INT64_MIN, INT64_MAX, &allocation.row.bytes);
    } else if (key == "Total Allocated") {
      known = ReadInteger(value, 0, INT64_MAX, &allocation.row.total_allocated);
    } else if (key == "Total Reserved") {
      known = ReadInteger(value, 0, INT64_MAX, &allocation.row.total_reserved);
    } else if (key == "Device Type") {
      known = ReadInteger(value, INT32_MIN, INT32_MAX, &allocation.row.device_type);
    } else if (key == "Device Id") {
      known = ReadInteger(value, INT32_MIN, INT32_MAX, &allocation.row.device);
    } else if (key == "Call stack") {
      known = value.is_string() && ReadCallStack(value, &allocation.row.stack);
    }
    if (!known) Keep(member);
  }
  allocation.whole = has_address && has_bytes;
  if (allocation.whole) *extra = TakeExtra();
  return allocation;
}

ChromeAllocation ChromeArgs::ReadDialectAllocation(const std::vector<JsonMember>& members, std::string_view category,
                                                   StringId* extra) {
  ChromeAllocation allocation;
  others_.clear();
  allocation.whole = conventions_.declared->read_allocation(category, members, &allocation.row, &others_);
  if (!allocation.whole) return allocation;
  extra_.clear();
  JsonMemberWriter(&extra_, JsonMemberWriter::kSpaced).Text("type", category);
  for (const JsonMember& member : others_)
    Keep(member);
  *extra = TakeExtra();
  return allocation;
}

void AppendListTexts(const std::string_view (&texts)[4], std::string* key) {
  for (const std::string_view text : texts) {
    const uint64_t size = text.size();
    key->append(reinterpret_cast<const char*>(&size), sizeof(size));
  }
  for (const std::string_view text : texts)
    key->append(text);
}

void ReadListTexts(std::string_view key, std::string_view (&texts)[4]) {
  uint64_t sizes[4];
  std::memcpy(sizes, key.data(), sizeof(sizes));
  key.remove_prefix(sizeof(sizes));
  for (int i = 0; i < 4; ++i) {
    texts[i] = key.substr(0, static_cast<size_t>(sizes[i]));
    key.remove_prefix(texts[i].size());
  }
}

StringId ExtraWithLists(StringId extra, std::string_view key, TraceBuilder* builder) {
  std::string_view texts[4];
  ReadListTexts(key, texts);
  std::string members(builder->text(extra));
  for (int i = 0; i < 4; ++i) {
    if (texts[i].empty()) continue;
    JsonValue value;
    JsonScanner scanner(texts[i]);
    scanner.ReadValue(&value);  // known to be valid; read again for `plain`
    AppendCleanMember(&members, ListMember(i, value));
  }
  return builder->Intern(members);
}

StackId AddCallStack(std::string_view json_text, TraceBuilder* builder) {
  std::string decoded;
  AppendDecoded(&decoded, json_text);
  std::string_view rest = decoded;
  StackId caller = StackId::kNone;
  while (!rest.empty()) {
    rest.remove_suffix(1);
    const size_t start = rest.rfind(';') == std::string_view::npos ? 0 : rest.rfind(';') + 1;
    caller = builder->AddStack(builder->AddFrame(builder->Intern(rest.substr(start))), caller);
    rest = rest.substr(0, start);
  }
  return caller;
}

StringId MergeExtra(StringId earlier, StringId later, TraceBuilder* builder, uint64_t* replaced) {
  if (earlier == StringId::kNone || later == StringId::kNone) return earlier == StringId::kNone ? later : earlier;
  if (earlier == later) return later;
  const std::string texts[] = {"{" + std::string(builder->text(earlier)) + "}",
                               "{" + std::string(builder->text(later)) + "}"};
  JsonScanner first(texts[0]), second(texts[1]);
  std::vector<JsonMember> members, others;
  if (!first.ReadMembers(&members) || !second.ReadMembers(&others)) return earlier;
  MemberIndex index;
  for (const JsonMember& other : others) {
    const size_t at = index.Find(members, members.size(), other.key.text);
    if (at == members.size()) {
      members.push_back(other);
      continue;
    }
    JsonValue& value = members[at].value;
    *replaced += value.text != other.value.text || value.kind != other.value.kind ? 1 : 0;
    value = other.value;
  }
  std::string extra;
  for (const JsonMember& member : members)
    AppendCleanMember(&extra, member);
  return builder->Intern(extra);
}

}  // namespace opscope
