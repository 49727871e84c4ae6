// The payload of a kTraceInfo block: facts about a Trace and its input. New fields are added at the end
// only; a reader stops where the payload ends.
//
//   varint recorded | varint dropped | zigzag varint epoch_ns | text options | text format | text version
//   | varint texts of the dictionary (since 1.2)
//   (text: varint size, bytes)
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace opscope {

struct WireTraceInfo {
  uint64_t recorded = 0;
  uint64_t dropped = 0;
  int64_t epoch_ns = 0;
  std::string options_json;
  std::string source_format;  // of the input from which the exported Trace was read
  std::string source_version;
  uint64_t texts = 0;  // in all kStrings blocks; 0: unknown
};

[[nodiscard]] std::string EncodeTraceInfo(const WireTraceInfo& info);
[[nodiscard]] bool DecodeTraceInfo(std::span<const std::byte> payload, WireTraceInfo* info);

}  // namespace opscope
