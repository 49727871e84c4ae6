// Reads the first bytes of a JSON document: the names of the outermost members, as far as they are present, and the
// kinds of their values. Formats are recognised by this, never by the name of a file. A file that is cut within its
// head is recognised by the members before the cut.
//
// Thread rule: plain values; slices are valid as long as the bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace opscope {

struct JsonHeadMember {
  std::string_view key;
  char first = '\0';           // first byte of the value: '{', '[', '"', a digit, ...; 0: the head ends before it
  std::string_view value;      // the part of it in the head; a string without its quotes
  std::string_view inner_key;  // the first key of an object, or of the first object of an array
};

struct JsonHead {
  char first = '\0';                    // '{' or '['; 0: not JSON
  std::vector<JsonHeadMember> members;  // of the object, or of the first object of the array
  std::string_view rest;                // the text from the first bracket on

  const JsonHeadMember* Find(std::string_view key) const;
  // A Chrome trace may have members of any other format as metadata before its events. Metadata by Kineto, Paddle or
  // opscope begins with its version.
  bool is_chrome_trace() const { return Find("traceEvents") != nullptr || Find("schemaVersion") != nullptr; }
};

// Reads up to 64 members, and nothing behind a member "traceEvents", which proves a Chrome trace.
JsonHead ReadJsonHead(std::span<const std::byte> head);

}  // namespace opscope
