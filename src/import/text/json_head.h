// What the first bytes of a JSON document say about it: the names of the outermost members, as far as they are there,
// and the kind of the values behind them. Formats are distinguished by this, never by the name of a file, and a file
// that was cut within its head is still what it began as.
//
// Thread rule: plain values; slices live as long as the bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace opscope {

struct JsonHeadMember {
  std::string_view key;
  char first = '\0';           // of the value: '{', '[', '"', a digit, ...; 0: the head ends before it
  std::string_view value;      // as far as it is there; a string without its quotes
  std::string_view inner_key;  // of the first member of an object, or of the first object of an array
};

struct JsonHead {
  char first = '\0';                    // '{' or '[', 0: no JSON
  std::vector<JsonHeadMember> members;  // of '{'; of '[' of objects: those of the first object
  std::string_view rest;                // the text from the first bracket on

  const JsonHeadMember* Find(std::string_view key) const;
  // A Chrome trace may hold members of any other format as its metadata, before the events. Kineto's, Paddle's and ours
  // begin with their version.
  bool is_chrome_trace() const { return Find("traceEvents") != nullptr || Find("schemaVersion") != nullptr; }
};

// Reads up to 64 members. Does not look behind a member "traceEvents": that is a Chrome trace.
JsonHead ReadJsonHead(std::span<const std::byte> head);

}  // namespace opscope
