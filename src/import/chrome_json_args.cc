// SPDX-License-Identifier: Apache-2.0
#include "import/chrome_json_args.h"

#include <algorithm>

#include "import/chrome_json_argument_lists.h"
#include "import/chrome_json_number.h"

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

// A positive number of 32 bits; 0 stands for "none" in these columns and so stays in extra.
bool ReadPositive(const JsonValue& value, uint32_t* out) {
  const auto number = value.is_number() ? ParseUnsigned(value.text) : std::nullopt;
  if (!number || *number == 0 || *number > UINT32_MAX) return false;
  *out = static_cast<uint32_t>(*number);
  return true;
}

bool IsPythonMember(std::string_view key) {
  return key == "Python id" || key == "Python parent id" || key == "Python module id" || key == "Python thread";
}

// Numbers from `low` on, which a column holds beside its "none".
template <typename T>
bool ReadNumber(const JsonValue& value, int64_t low, T* out) {
  const auto number = value.is_number() ? ParseInteger(value.text) : std::nullopt;
  if (!number || *number < low || *number > INT32_MAX) return false;
  *out = static_cast<T>(*number);
  return true;
}

// All of the members, or none: they are printed again as torch prints them, a caller that is none as null.
ChromePythonCall ReadPythonCall(const std::vector<JsonMember>& members) {
  ChromePythonCall call;
  bool is_known = true, has_caller = false;
  for (const JsonMember& member : members) {
    const std::string_view key = member.key.text;
    if (key == "Python id") {
      call.present = ReadNumber(member.value, 1, &call.row.id);
    } else if (key == "Python parent id") {
      has_caller = true;
      is_known &= member.value.kind == JsonValue::Kind::kNull || ReadNumber(member.value, 1, &call.row.caller);
    } else if (key == "Python module id") {
      is_known &= ReadNumber(member.value, 0, &call.row.module_id);
    } else if (key == "Python thread") {
      is_known &= ReadNumber(member.value, 0, &call.row.thread);
    }
  }
  return call.present && is_known && has_caller ? call : ChromePythonCall{};
}

}  // namespace

StringId ChromeArgs::Text(const JsonValue& value) {
  if (value.plain) return builder_->Intern(value.text);
  decoded_.clear();
  AppendDecoded(&decoded_, value.text);
  return builder_->Intern(decoded_);
}

void ChromeArgs::Keep(const JsonMember& member) {
  if (member.value.kind == JsonValue::Kind::kNotFinite) {
    ++dropped_values_;
    return;
  }
  if (!extra_.empty()) extra_ += ", ";
  AppendCleanJson(&extra_, member.key);
  extra_ += ": ";
  AppendCleanJson(&extra_, member.value);
}

StringId ChromeArgs::TakeExtra() {
  if (extra_.empty()) return StringId::kNone;
  const StringId id = builder_->Intern(extra_);
  extra_.clear();
  return id;
}

StringId ChromeArgs::ReadExtra(const std::vector<JsonMember>& members) {
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
    case 13: {
      if (key != "Fwd thread id" || !value.is_number()) return false;
      const auto number = ParseUnsigned(value.text);
      if (number) row->forward_thread = *number;
      return number.has_value();
    }
    case 15: {
      if (key != "Sequence number" || !value.is_number()) return false;
      const auto number = ParseInteger(value.text);
      if (!number || *number < 0) return false;
      row->sequence = *number;
      return true;
    }
    default:
      return false;
  }
}

void ChromeArgs::ReadSpan(const std::vector<JsonMember>& members, SpanRow* row, ChromePythonCall* call) {
  JsonValue lists[4];
  bool any_list = false;
  const bool is_python = call != nullptr && builder_->text(row->category) == "python_function";
  if (is_python) *call = ReadPythonCall(members);
  const JsonMember* forward_thread = nullptr;
  for (const JsonMember& member : members) {
    const int list = ListNumber(member.key.text);
    if (list >= 0) {
      lists[list] = member.value;
      any_list = true;
    } else if (member.key.text == "Fwd thread id") {
      forward_thread = &member;
    } else if (is_python && call->present && IsPythonMember(member.key.text)) {
      continue;
    } else if (!ReadKnown(member, row)) {
      Keep(member);
    }
  }
  // Printed only beside a sequence number.
  if (forward_thread != nullptr && (row->sequence < 0 || !ReadKnown(*forward_thread, row))) Keep(*forward_thread);
  if (any_list && !ReadLists(lists, &row->args)) {
    for (int i = 0; i < 4; ++i) {
      if (!lists[i].present()) continue;
      JsonMember member;
      member.key.kind = JsonValue::Kind::kString;
      member.key.text = kListNames[i];
      member.value = lists[i];
      Keep(member);
    }
  }
  row->extra = TakeExtra();
}

bool ChromeArgs::ReadLists(const JsonValue (&lists)[4], ArgsId* args) {
  key_.clear();
  for (const JsonValue& list : lists) {
    if (list.present() && list.kind != JsonValue::Kind::kArray) return false;
    key_.append(list.text).append("\n");
  }
  const auto found = args_of_text_.find(std::string_view(key_));
  if (found != args_of_text_.end()) {
    *args = found->second;
    return *args != ArgsId::kNone;
  }
  ArgumentListTexts texts{lists[0].text, lists[1].text, lists[2].text, lists[3].text};
  *args = AddChromeArguments(texts, builder_);
  args_of_text_.emplace(key_, *args);
  return *args != ArgsId::kNone;
}

// "inner;outer;": innermost first, every frame closed by ';'. Other spellings cannot be printed again.
bool ChromeArgs::ReadCallStack(const JsonValue& value, StackId* stack) {
  const auto found = stack_of_text_.find(value.text);
  if (found != stack_of_text_.end()) {
    *stack = found->second;
    return *stack != StackId::kNone;
  }
  decoded_.clear();
  AppendDecoded(&decoded_, value.text);
  std::string_view rest = decoded_;
  StackId caller = StackId::kNone;
  const bool printable =
      rest.size() >= 2 && rest.back() == ';' && rest.front() != ';' && rest.find(";;") == std::string_view::npos;
  while (printable && !rest.empty()) {
    rest.remove_suffix(1);
    const size_t start = rest.rfind(';') == std::string_view::npos ? 0 : rest.rfind(';') + 1;
    caller = builder_->AddStack(builder_->AddFrame(builder_->Intern(rest.substr(start))), caller);
    rest = rest.substr(0, start);
  }
  stack_of_text_.emplace(value.text, caller);
  *stack = caller;
  return caller != StackId::kNone;
}

ChromeAllocation ChromeArgs::ReadAllocation(const std::vector<JsonMember>& members, StringId* extra) {
  ChromeAllocation allocation;
  bool has_address = false;
  bool has_bytes = false;
  const auto read_int = [](const JsonValue& value, int64_t low, int64_t high, auto* out) {
    const auto number = value.is_number() ? ParseInteger(value.text) : std::nullopt;
    if (!number || *number < low || *number > high) return false;
    *out = static_cast<std::remove_pointer_t<decltype(out)>>(*number);
    return true;
  };
  for (const JsonMember& member : members) {
    const std::string_view key = member.key.text;
    const JsonValue& value = member.value;
    bool known = false;
    if (key == "Addr" && value.is_number()) {
      const auto address = ParseUnsigned(value.text);
      if (address) allocation.row.address = *address;
      known = has_address = address.has_value();
    } else if (key == "Bytes") {
      known = has_bytes = read_int(value, INT64_MIN, INT64_MAX, &allocation.row.bytes);
    } else if (key == "Total Allocated") {
      known = read_int(value, 0, INT64_MAX, &allocation.row.total_allocated);
    } else if (key == "Total Reserved") {
      known = read_int(value, 0, INT64_MAX, &allocation.row.total_reserved);
    } else if (key == "Device Type") {
      known = read_int(value, INT32_MIN, INT32_MAX, &allocation.row.device_type);
    } else if (key == "Device Id") {
      known = read_int(value, INT32_MIN, INT32_MAX, &allocation.row.device);
    } else if (key == "Call stack") {
      known = value.is_string() && ReadCallStack(value, &allocation.row.stack);
    }
    if (!known) Keep(member);
  }
  allocation.whole = has_address && has_bytes;
  if (allocation.whole) {
    *extra = TakeExtra();
  } else {
    extra_.clear();
    *extra = ReadExtra(members);
  }
  return allocation;
}

StringId ChromeArgs::Merge(StringId earlier, StringId later) {
  if (earlier == StringId::kNone || later == StringId::kNone) return earlier == StringId::kNone ? later : earlier;
  std::string both = "{";
  both.append(builder_->text(earlier)).append(", ").append(builder_->text(later)).append("}");
  JsonScanner scanner(both);
  std::vector<JsonMember> members;
  if (!scanner.ReadMembers(&members)) return earlier;
  return ReadExtra(members);
}

}  // namespace opscope
