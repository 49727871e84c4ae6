// Where reading goes on behind a row of a list that is no valid JSON: panic-mode recovery, the next row being what is
// synchronised on. Writers break rows by a quote in a name, by None, by a hexadecimal number:
//
//   {"ph":"X","name":"ran"ge","ts":1,"dur":2}, {"ph":"X", ...
//   ^ text begins here                         ^ reading goes on here
//
// Behind a stray quote inside and outside of strings are exchanged, so quotes and brackets alone do not tell where the
// row ends. An object begins the next row when it is an item of a list and has the members by which the format knows
// its rows (an event of Chrome's: "ph" of one letter), or fails behind them (two faulty rows in a row), or begins with
// the bytes with which the faulty row begins. One within an array of the faulty row is a value of it rather than the
// next row, unless none comes soon that is not: then the row was cut off within the array.
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

// How far the next row is looked for. Before the first one the text may be something else altogether.
inline constexpr size_t kLongestFault = size_t{64} << 20, kLongestFirstFault = size_t{1} << 20;

struct ResyncPoint {
  enum class Kind : uint8_t {
    kRow,       // at `at` the next row begins
    kKey,       // at `at` stands the name of a member where another list of rows begins (RowTest::IsKey)
    kArrayEnd,  // at `at` stands the ']' behind the last row
    kNone,      // the text ends, or the limit is reached, without any of them
    kNeedsMore  // the answer depends on text that is not there yet
  };
  Kind kind = Kind::kNone;
  size_t at = 0;
  uint8_t row = 0;     // which kind of row, see RowTest; 0: as the faulty one
  uint64_t lists = 0;  // lists that begin between the two, where lists of rows are items of a list
};

// What a format knows its rows by.
class RowTest {
 public:
  struct Row {
    bool is_read = false;
    uint8_t kind = 0;  // as the format numbers them; 0: no row, as far as it was read
  };
  virtual ~RowTest() = default;
  // Reads the object at the cursor.
  virtual Row Read(JsonScanner* scanner) = 0;
  // `text` begins with a quote: with the name of a member that is a list of rows, up to the bracket of the list. Asked
  // only of formats that have several.
  virtual bool IsKey(std::string_view /*text*/) const { return false; }
  virtual bool has_keys() const { return false; }
  // The brackets that close the list of the faulty row and what it stands in. The end of a list that stands in another
  // row or list of rows is looked for before the end of the document.
  virtual std::string_view closers() const { return "]}"; }
  // Of such a list: whether the next one, or the row that it stands in, begins at the cursor.
  virtual bool IsNextOuter(JsonScanner* /*scanner*/) { return false; }
};

// `text` begins with a quote: the name of a member, and the first byte of its value. 0: it is none, or too long.
char FirstOfMember(std::string_view text, std::string_view* name);

// `text` begins with what could not be read. is_whole: it reaches the end of the document. most_bytes: how far to
// look. Time is linear in the bytes that are passed over.
ResyncPoint FindNextRow(std::string_view text, bool is_whole, size_t most_bytes, RowTest* test);

// Likewise of rows that are lists of numbers.
ResyncPoint FindNextNumbers(std::string_view text, bool is_whole, size_t most_bytes);
// Of the numbers of a list: to the comma behind the one that could not be read, or the bracket.
ResyncPoint FindNextNumber(std::string_view text, bool is_whole, size_t most_bytes);

}  // namespace opscope
