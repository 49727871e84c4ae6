// Visits the members of a JSON object or the items of an array one by one, so that an importer stores only what it
// needs. `visit` is called with the cursor before a value and must read it; it returns false to end the walk, because
// the scanner failed or the importer is done. Recursion is as deep as the importer's own calls. The scanner is a
// JsonScanner or a DocumentScanner. With a DocumentScanner a slice is valid until the next item of an array, so after
// walking a member whose value is an array its key is invalid.
//
// Thread rule: one thread at a time per scanner.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/text/document_scanner.h"
#include "import/text/json_scan.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

// The remaining members of an object; the cursor is behind the '{' or behind a member. visit(const JsonValue& key).
// Accepts a comma before the '}'.
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

// visit(const JsonValue& key). Fails if the cursor is not at a '{'.
template <typename Scanner, typename Visit>
bool WalkObject(Scanner* scanner, Visit visit) {
  if (!scanner->Expect('{', "'{' is missing")) return false;
  if (scanner->Peek() == '}') {
    scanner->Skip(1);
    return true;
  }
  return ContinueObject(scanner, visit);
}

// The same with the cursor behind a key and its value, or behind a member's comma.
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

// visit(). Fails if the cursor is not at a '['. Accepts a comma before the ']' or behind the '['.
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

// The remaining rows of a list. A fault in a row loses only that row (JsonImport::PassFault). A row begins with
// `opening`. Accepts surplus commas between rows.
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
    // The last row may have a fault that made it include all rows behind it; search within it.
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

// The same for rows that are members of an object. visit(const JsonValue& key).
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

// Appends the items of a list of whole numbers. False: the value is something else; `numbers` then has the numbers
// before the fault, and may have a 0 for the fault.
[[nodiscard]] bool ReadWholeNumbers(const JsonValue& list, std::vector<int64_t>* numbers);

// The text of a value: a string is decoded, anything else is as written.
std::string DecodedText(const JsonValue& value);

// An importer's result after walking the document. Damage is an error if nothing was read before it, else a problem
// row. REQUIRES: if `whole`, the cursor is behind the document.
Status EndOfDocument(DocumentScanner* scanner, bool whole, bool read_anything, std::string_view name,
                     TraceBuilder* builder);

}  // namespace opscope
