// Where reading goes on behind an event that is no valid JSON: panic-mode recovery, the next event being what is
// synchronised on. Writers break events by a quote in a name, by None, by a hexadecimal number:
//
//   {"ph":"X","name":"ran"ge","ts":1,"dur":2}, {"ph":"X", ...
//   ^ text begins here                         ^ reading goes on here
//
// Behind a stray quote inside and outside of strings are exchanged, so quotes and brackets alone do not tell where the
// event ends. An object begins the next event when it is an item of a list and has a member "ph" of one letter, or
// fails behind one (two faulty events in a row), or begins with the bytes with which the faulty event begins. One
// within an array of the faulty event is an argument rather than the next event, unless none comes soon that is not:
// then the event was cut off within the array.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace opscope {

struct ResyncPoint {
  enum class Kind : uint8_t {
    kEvent,     // at `at` the next event begins
    kArrayEnd,  // at `at` stands the ']' behind the last event
    kNone,      // the text ends, or the limit is reached, without either
    kNeedsMore  // the text must be longer to tell
  };
  Kind kind = Kind::kNone;
  size_t at = 0;
};

// `text` begins with what could not be read. is_whole: it reaches the end of the document. most_bytes: how far to
// look. Time is linear in the bytes that are passed over.
ResyncPoint FindNextEvent(std::string_view text, bool is_whole, size_t most_bytes);

}  // namespace opscope
