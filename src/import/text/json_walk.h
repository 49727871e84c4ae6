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

// The members from the cursor on, which stands behind the '{' or behind a member.
// visit(const JsonValue& key). A comma before the '}' is passed over.
template <typename Scanner, typename Visit>
bool ContinueObject(Scanner* scanner, Visit visit) {
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

// visit(const JsonValue& key). Fails where there is no '{'.
template <typename Scanner, typename Visit>
bool WalkObject(Scanner* scanner, Visit visit) {
  if (!scanner->Expect('{', "'{' is missing")) return false;
  if (scanner->Peek() == '}') {
    scanner->Skip(1);
    return true;
  }
  return ContinueObject(scanner, visit);
}

// Likewise behind a value that was read, or was not.
template <typename Scanner, typename Visit>
bool ContinueBehindMember(Scanner* scanner, Visit visit) {
  if (scanner->Peek() == ',') scanner->Skip(1);
  if (scanner->Peek() != '}') return ContinueObject(scanner, visit);
  scanner->Skip(1);
  return true;
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

// The rows of a list from the cursor on, to its end: a fault in one of them costs that row alone
// (JsonImport::PassFault). A row begins with `opening`. Commas too many or missing between rows are passed over.
template <typename Visit>
bool ContinueRows(DocumentScanner* scanner, char opening, Visit visit) {
  const uint64_t outer_row = scanner->row();
  bool comma_due = false;
  while (true) {
    const char next = scanner->Peek();
    if (next == ']') break;
    if (next == ',') {
      scanner->Skip(1);
      comma_due = false;
      continue;
    }
    // A row may have taken in all that follow: it is the one that is looked into.
    if (next == '\0' && scanner->at_end()) return scanner->Fail("a value is missing");
    scanner->BeginRow();
    if (comma_due && next != opening) return scanner->Fail("',' or ']' is missing");
    if (!visit()) return false;
    comma_due = true;
  }
  scanner->Skip(1);
  scanner->EndRows(outer_row);
  return true;
}

// Likewise where rows are the members of an object. visit(const JsonValue& key).
template <typename Visit>
bool ContinueRowMembers(DocumentScanner* scanner, Visit visit) {
  const uint64_t outer_row = scanner->row();
  while (true) {
    const char next = scanner->Peek();
    if (next == '}') break;
    if (next == ',') {
      scanner->Skip(1);
      continue;
    }
    if (next == '\0' && scanner->at_end()) return scanner->Fail("a value is missing");
    scanner->BeginRow();
    JsonValue key;
    if (next != '"') return scanner->Fail("the name of a member is missing");
    if (!scanner->ReadString(&key) || !scanner->Expect(':', "':' is missing") || !visit(key)) return false;
  }
  scanner->Skip(1);
  scanner->EndRows(outer_row);
  return true;
}

template <typename Visit>
bool WalkRows(DocumentScanner* scanner, char opening, Visit visit) {
  return scanner->Expect('[', "'[' is missing") && ContinueRows(scanner, opening, visit);
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
