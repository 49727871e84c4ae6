// Paddle's dialect of Chrome JSON, as paddle.profiler exports it since 2.3:
//
//   {"schemaVersion": "1.0.2", "traceEvents": [
//     {"name": "matmul[3.817 us]", "cat": "Operator", "cname": "thread_state_runnable", "ph": "X", ...,
//      "args": {"input_shapes": {"X": [[2, 3]]}, "input_dtypes": {"X": ["FP32"]}, "start_time": "639.125 us"}},
//     {"name": "[memory]", "cat": "Allocate", "ph": "i", ..., "args": {"place": "Place(gpu:0)", "addr": "9407", ...}},
//     {}]}
//
// The version is a text (Kineto writes a number) and comes before the events.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/dialect.h"
#include "import/paddle/importer.h"
#include "import/paddle/json_times.h"
#include "import/paddle/place.h"
#include "import/text/json_number.h"
#include "import/text/json_walk.h"

namespace opscope {
namespace {

bool IsPaddleFile(const ChromeFile& file) {
  return file.builder->FindMetadata("schemaVersion").starts_with('"');
}

bool DeclaresPaddle(std::string_view key, const JsonValue& value) {
  return key == "schemaVersion" && value.is_string();
}

// {"X": [a, b], "Y": [c]}: appends the items of all input slots, separated by commas.
bool JoinInputSlots(const JsonValue& value, std::string* list) {
  JsonScanner scanner(value.text);
  if (value.kind != JsonValue::Kind::kObject) return false;
  return WalkObject(&scanner, [&](const JsonValue&) {
    return scanner.Peek() == '[' && WalkArray(&scanner, [&] {
             JsonValue item;
             if (!scanner.ReadValue(&item)) return false;
             std::string json;
             AppendCleanJson(&json, item);
             AppendListItem(list, json);
             return true;
           });
  });
}

bool ReadInputShapes(const JsonValue& value, const std::vector<JsonMember>& members, ChromeLists* lists) {
  const JsonMember* types = FindMember(members, "input_dtypes");
  return types != nullptr && JoinInputSlots(value, &lists->dims) && JoinInputSlots(types->value, &lists->types);
}

bool ReadPaddleAllocation(std::string_view category, const std::vector<JsonMember>& members, AllocationRow* row,
                          std::vector<JsonMember>* others) {
  if (category != "Allocate" && category != "Free") return false;
  bool has_address = false, has_bytes = false;
  for (const JsonMember& member : members) {
    const std::string_view key = member.key.text;
    const auto number = ParseInteger(member.value.text);
    if (key == "addr") {
      const auto address = ParseUnsigned(member.value.text);
      has_address = address.has_value();
      row->address = address.value_or(0);
    } else if (key == "increase_bytes" && number) {
      has_bytes = true;
      row->bytes = *number;
    } else if (key == "current_allocated" && number && *number >= 0) {
      row->total_allocated = *number;
    } else if (key == "current_reserved" && number && *number >= 0) {
      row->total_reserved = *number;
    } else {
      if (key == "place") ReadPaddlePlace(member.value.text, row);
      others->push_back(member);
    }
  }
  return has_address && has_bytes;
}

constexpr ChromeMember kMembers[] = {
    {.key = "correlation id", .meaning = ChromeMember::Meaning::kCorrelation},
    {.key = "input_shapes", .meaning = ChromeMember::Meaning::kLists, .read = ReadInputShapes},
};

}  // namespace

constinit const ChromeDialect kPaddleChromeDialect = {
    .format = "paddle-json",
    .is_writer = IsPaddleFile,
    .is_declared_by = DeclaresPaddle,
    .members = kMembers,
    .step_category = "ProfileStep",
    .step_prefix = "ProfileStep#",
    .names_end_in_duration = true,
    .keeps_categories = true,
    .derived_member = "cname",  // a color, determined by the category
    .read_allocation = ReadPaddleAllocation,
    .finish = GivePaddleTimes,
};

}  // namespace opscope
