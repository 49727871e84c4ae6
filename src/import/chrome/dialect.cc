// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/dialect.h"

#include <algorithm>

#include "import/text/json_number.h"
#include "import/text/json_walk.h"

namespace opscope {
namespace {

constexpr std::string_view kOnnxList = "input_type_shape";

const JsonMember* Find(const std::vector<JsonMember>& members, std::string_view key) {
  for (const JsonMember& member : members) {
    if (member.key.text == key) return &member;
  }
  return nullptr;
}

void AppendItem(std::string* list, std::string_view item) {
  list->append(list->size() > 1 ? ", " : "").append(item);
}

// [{"float": [1, 3]}, ...]: an object of one member per input.
bool ReadOnnxLists(const JsonValue& value, DialectLists* lists) {
  JsonScanner scanner(value.text);
  std::vector<JsonMember> members;
  if (value.kind != JsonValue::Kind::kArray) return false;
  return WalkArray(&scanner, [&] {
    if (scanner.Peek() != '{' || !scanner.ReadMembers(&members) || members.size() != 1) return false;
    if (members[0].value.kind != JsonValue::Kind::kArray) return false;
    AppendItem(&lists->dims, members[0].value.text);
    std::string type;
    AppendCleanJson(&type, members[0].key);
    AppendItem(&lists->types, type);
    return true;
  });
}

// {"X": [a, b], "Y": [c]}: the items of all slots, a comma between them.
bool JoinSlots(const JsonValue& value, std::string* list) {
  JsonScanner scanner(value.text);
  if (value.kind != JsonValue::Kind::kObject) return false;
  return WalkObject(&scanner, [&](const JsonValue&) {
    return scanner.Peek() == '[' && WalkArray(&scanner, [&] {
             JsonValue item;
             if (!scanner.ReadValue(&item)) return false;
             std::string json;
             AppendCleanJson(&json, item);
             AppendItem(list, json);
             return true;
           });
  });
}

// "{64,3}"
bool ReadMegEngineShape(std::string_view shape, std::string* dims) {
  if (shape.size() < 2 || shape.front() != '{' || shape.back() != '}') return false;
  shape = shape.substr(1, shape.size() - 2);
  for (std::string_view rest = shape; !rest.empty();) {
    const std::string_view size = rest.substr(0, rest.find(','));
    const bool is_number = !size.empty() && size.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_number || (size.front() == '0' && size.size() > 1) || size.size() == rest.size() - 1) return false;
    rest.remove_prefix(std::min(size.size() + 1, rest.size()));
  }
  dims->append("[").append(shape).append("]");
  return true;
}

bool HasMember(std::string_view json, std::string_view key) {
  JsonScanner scanner(json);
  std::vector<JsonMember> members;
  return scanner.Peek() == '{' && scanner.ReadMembers(&members) && Find(members, key) != nullptr;
}

bool BeginsWithCategory(const TraceBuilder& builder, std::string_view text) {
  const SpanColumns spans = builder.added_spans();
  return !spans.category.empty() && builder.text(spans.category[0]) == text;
}

}  // namespace

bool ReadDialectLists(const std::vector<JsonMember>& members, DialectLists* lists) {
  lists->dims = lists->types = "[";
  bool found = false;
  for (const JsonMember& member : members) {
    const std::string_view key = member.key.text;
    if (key == kOnnxList) found = ReadOnnxLists(member.value, lists);
    const JsonMember* types = Find(members, key == "shape" ? "dtype" : "input_dtypes");
    if (key == "shape" && types != nullptr && types->value.is_string()) {
      found = ReadMegEngineShape(member.value.text, &lists->dims);
      AppendCleanJson(&lists->types, types->value);
    }
    if (key != "input_shapes" || member.value.text == "{}") continue;
    found = JoinSlots(member.value, &lists->dims) && types != nullptr && JoinSlots(types->value, &lists->types);
  }
  lists->dims += "]", lists->types += "]";
  return found && lists->dims.size() > 2;
}

bool IsOnlyDialectList(const JsonMember& member) {
  return member.key.text == kOnnxList;
}

std::optional<int64_t> ReadStepNumber(std::string_view key, const std::vector<JsonMember>& members) {
  const JsonMember* step = Find(members, key);
  const auto number = step == nullptr ? std::nullopt : ParseInteger(step->value.text);
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<int64_t> ReadBaseTime(std::string_view key, const JsonValue& metadata) {
  const bool is_viztracer = key == "viztracer_metadata";
  if (!is_viztracer && key != "metadata") return std::nullopt;
  JsonScanner scanner(metadata.text);
  std::vector<JsonMember> members;
  if (scanner.Peek() != '{' || !scanner.ReadMembers(&members)) return std::nullopt;
  const JsonMember* time = Find(members, is_viztracer ? "baseTimeNanoseconds" : "localTime");
  const auto number = time == nullptr ? std::nullopt : ParseInteger(time->value.text);
  return number && *number > 0 && *number <= kLatestNs ? number : std::nullopt;
}

std::string_view DetectChromeFormat(TraceBuilder* builder, bool is_megengine) {
  const std::string_view schema = builder->FindMetadata("schemaVersion");
  if (schema.starts_with('"')) return "paddle-json";  // Kineto writes a number
  if (!builder->FindMetadata("viztracer_metadata").empty() || BeginsWithCategory(*builder, "FEE"))
    return "viztracer-json";
  const std::string_view metadata = builder->FindMetadata("metadata");
  if (HasMember(metadata, "localTime") || is_megengine) return "megengine-json";
  if (HasMember(metadata, "highres-ticks") && builder->process_count() != 0) {
    for (size_t i = 0; i < builder->process_count(); ++i) {
      const StringId name = builder->process(static_cast<ProcessId>(i)).name;
      const std::string_view text = name == StringId::kNone ? std::string_view() : builder->text(name);
      if (text.starts_with("/host:") || text.starts_with("/device:")) return "xla-json";
    }
  }
  return BeginsWithCategory(*builder, "Session") ? "onnxruntime-json" : "chrome-json";
}

}  // namespace opscope
