// Finds the position to continue reading after a row of a list that is not valid JSON (panic-mode recovery,
// synchronised on the next row). Typical faults are an unescaped quote in a name, None, or a hexadecimal number:
//
//   {"ph":"X","name":"ran"ge","ts":1,"dur":2}, {"ph":"X", ...
//   ^ text begins here                         ^ reading goes on here
//
// After a stray quote, text inside and outside of strings is exchanged, so quotes and brackets alone do not show where
// the row ends. An object is taken for the next row if it is an item of a list and either has the members that identify
// a row (an event of a Chrome trace: "ph" of one letter), fails behind them (two faulty rows in a row), or begins with
// the same bytes as the faulty row. An object within an array of the faulty row is a value of that row, unless no
// object outside of an array follows soon: then the row was cut off within the array.
//
// Rows that are lists of numbers have no quotes and no names: the next bracket begins the next row.
//
// Thread rule: pure functions; a RowTest one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "import/text/json_scan.h"

namespace opscope {

// Limits of the search for the next row. Before the first row the text may be anything.
inline constexpr size_t kLongestFault = size_t{64} << 20, kLongestFirstFault = size_t{1} << 20;

struct ResyncPoint {
  enum class Kind : uint8_t {
    kRow,       // `at` is the begin of the next row
    kKey,       // `at` is the key of another list of rows (RowTest::IsKey)
    kArrayEnd,  // `at` is the ']' behind the last row
    kNone,      // not found before the end of the text or the limit
    kNeedsMore  // the result depends on text that is not yet in memory
  };
  Kind kind = Kind::kNone;
  size_t at = 0;
  uint8_t row = 0;     // the kind of row, see RowTest; 0: the same as the faulty one
  uint64_t lists = 0;  // if lists of rows are items of a list: lists that begin in the skipped text
};

// How a format's rows are recognised.
class RowTest {
 public:
  struct Row {
    bool is_read = false;
    uint8_t kind = 0;  // numbered by the format; 0: not a row, as far as it was read
  };
  virtual ~RowTest() = default;
  // Reads the object at the cursor.
  virtual Row Read(JsonScanner* scanner) = 0;
  // Whether `text`, which begins with a quote, is the key of a list of rows, up to the bracket of the list. Called only
  // for formats with several lists.
  virtual bool IsKey(std::string_view /*text*/) const { return false; }
  virtual bool has_keys() const { return false; }
  // The brackets that close the list of the faulty row and the values around it. The end of a list that is within
  // another row or list of rows is searched for before the end of the document.
  virtual std::string_view closers() const { return "]}"; }
  // For such a list: whether the next list, or the row that contains it, begins at the cursor.
  virtual bool IsNextOuter(JsonScanner* /*scanner*/) { return false; }
};

// `text` begins with a quote. The first byte of the value if it is a member's key, 0 if it is not or is too long.
char FirstOfMember(std::string_view text, std::string_view* name);

// `text` begins with the faulty row. is_whole: it reaches the end of the document. most_bytes: limit of the search.
// Time is linear in the bytes that are skipped.
ResyncPoint FindNextRow(std::string_view text, bool is_whole, size_t most_bytes, RowTest* test);

// The same for rows that are lists of numbers.
ResyncPoint FindNextNumbers(std::string_view text, bool is_whole, size_t most_bytes);
// For the numbers of a list: finds the comma behind the faulty number, or the bracket.
ResyncPoint FindNextNumber(std::string_view text, bool is_whole, size_t most_bytes);

}  // namespace opscope
