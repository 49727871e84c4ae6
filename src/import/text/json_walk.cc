// The end of a document decides what damage means: before anything whole was read the file is refused, after it the
// damage is a problem of the Trace.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/json_walk.h"

#include "base/json_decode.h"
#include "import/text/json_number.h"
#include "import/text/malformed.h"

namespace opscope {

bool ReadWholeNumbers(const JsonValue& list, std::vector<int64_t>* numbers) {
  JsonScanner scanner(list.text);
  return list.kind == JsonValue::Kind::kArray && WalkArray(&scanner, [&] {
           JsonValue value;
           if (!scanner.ReadValue(&value)) return false;
           const auto number = value.is_number() ? ParseInteger(value.text) : std::nullopt;
           numbers->push_back(number.value_or(0));
           return number.has_value();
         });
}

std::string DecodedText(const JsonValue& value) {
  if (value.plain || !value.is_string()) return std::string(value.text);
  std::string text;
  AppendDecoded(&text, value.text);
  return text;
}

Status EndOfDocument(DocumentScanner* scanner, bool whole, bool read_anything, std::string_view name,
                     TraceBuilder* builder) {
  if (whole && (scanner->Peek() != '\0' || !scanner->at_end()))
    whole = scanner->Fail("bytes after the end of the document");
  if (whole) return {};
  if (!read_anything) {
    const std::string cut = scanner->truncated() ? "the file ends: " : "";
    return MalformedAt(name, scanner->failed_offset(), cut + scanner->complaint());
  }
  builder->AddProblem(scanner->truncated() ? "truncated" : "syntax_error",
                      static_cast<int64_t>(scanner->failed_offset()), 1, scanner->complaint());
  return {};
}

}  // namespace opscope
