// Goes through an object or array of a JSON text member by member, so that an importer keeps nothing of a document
// but what it wants. `visit` is called with the scanner before a value and must read it; false ends the walk, either
// because the scanner failed or because the importer has enough. Nesting is as deep as the importer's own calls.
// The scanner is a JsonScanner or a DocumentScanner. With the latter a slice lasts until the next item of an array:
// the key of a member whose value is an array that was walked is gone.
//
// Thread rule: one thread at a time per scanner.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "import/text/document_scanner.h"
#include "import/text/json_scan.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

// visit(const JsonValue& key). Fails where there is no '{'. A comma before the '}' is passed over.
template <typename Scanner, typename Visit>
bool WalkObject(Scanner* scanner, Visit visit) {
  if (!scanner->Expect('{', "'{' is missing")) return false;
  if (scanner->Peek() == '}') {
    scanner->Skip(1);
    return true;
  }
  while (true) {
    JsonValue key;
    if (scanner->Peek() != '"') return scanner->Fail("the name of a member is missing");
    if (!scanner->ReadString(&key) || !scanner->Expect(':', "':' is missing") || !visit(key)) return false;
    const char next = scanner->Peek();
    if (next != '}' && next != ',') return scanner->Fail("',' or '}' is missing");
    scanner->Skip(1);
    if (next == '}') return true;
    if (scanner->Peek() != '}') continue;
    scanner->Skip(1);
    return true;
  }
}

inline void ForgetItem(JsonScanner* /*its input stays*/) {
}
inline void ForgetItem(DocumentScanner* scanner) {
  scanner->Forget();
}

// visit(). Fails where there is no '['. A comma before the ']' or behind the '[' is passed over.
template <typename Scanner, typename Visit>
bool WalkArray(Scanner* scanner, Visit visit) {
  if (!scanner->Expect('[', "'[' is missing")) return false;
  if (scanner->Peek() == ',') scanner->Skip(1);
  while (scanner->Peek() != ']') {
    ForgetItem(scanner);
    if (!visit()) return false;
    const char next = scanner->Peek();
    if (next != ']' && next != ',') return scanner->Fail("',' or ']' is missing");
    if (next == ',') scanner->Skip(1);
  }
  scanner->Skip(1);
  return true;
}

inline std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The text of a value: a string without its escapes, anything else as it stands.
std::string DecodedText(const JsonValue& value);

// What an importer answers when its walk of the document has ended: damage before anything whole is an error, after it
// a problem row. REQUIRES: the scanner stands behind the document when `whole`.
Status EndOfDocument(DocumentScanner* scanner, bool whole, bool read_anything, std::string_view name,
                     TraceBuilder* builder);

}  // namespace opscope
