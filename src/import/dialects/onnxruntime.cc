// ONNX Runtime's dialect of Chrome JSON: an array of events of the categories "Session" (the first one) and "Node".
// Each input of a node is an object with one member:
//
//   "args": {"input_type_shape": [{"float": [1, 3, 8, 8]}, {"int64": [2]}], ...}
// SPDX-License-Identifier: Apache-2.0
#include "import/dialects/importer.h"
#include "import/text/json_walk.h"

namespace opscope {
namespace {

bool IsOnnxRuntimeFile(const ChromeFile& file) {
  return file.FirstCategoryIs("Session");
}

bool ReadTypedShapes(const JsonValue& value, const std::vector<JsonMember>& /*members*/, ChromeLists* lists) {
  JsonScanner scanner(value.text);
  std::vector<JsonMember> input;
  if (value.kind != JsonValue::Kind::kArray) return false;
  return WalkArray(&scanner, [&] {
    if (scanner.Peek() != '{' || !scanner.ReadMembers(&input) || input.size() != 1) return false;
    if (input[0].value.kind != JsonValue::Kind::kArray) return false;
    AppendListItem(&lists->dims, input[0].value.text);
    std::string type;
    AppendCleanJson(&type, input[0].key);
    AppendListItem(&lists->types, type);
    return true;
  });
}

constexpr ChromeMember kMembers[] = {
    {.key = "input_type_shape", .meaning = ChromeMember::Meaning::kListsAlone, .read = ReadTypedShapes},
};

}  // namespace

constinit const ChromeDialect kOnnxRuntimeChromeDialect = {
    .format = "onnxruntime-json",
    .is_writer = IsOnnxRuntimeFile,
    .members = kMembers,
};

}  // namespace opscope
