// One decoded record of MegEngine's profiler (opscope/megengine_event.h).
//
// Thread rule: plain values; views live as long as the recording's bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "opscope/megengine_event.h"
#include "trace/builder.h"

namespace opscope {

struct MegEngineRecord {
  Timestamp time;
  uint64_t value = 0;
  MegEngineEvent event = MegEngineEvent::kNone;
  bool finish = false;
  uint16_t thread = 0;
  uint16_t detail = 0;
  StringId name = StringId::kEmpty;
  // From the payload of the record.
  std::string_view members = {};  // JSON members
  uint64_t members_id = 0;        // equal ids mean equal members; 0: no id
  uint32_t device = 0;
  uint64_t address = 0;
  uint64_t kernel = 0;
  std::span<const std::byte> arguments = {};  // encoded
};

// 0 if the end is before the start, which happens in damaged recordings.
[[nodiscard]] inline Duration LengthOf(Timestamp start, Timestamp end) {
  return {std::max<int64_t>((end - start).ns, 0)};
}

// A number of MegEngine's as a column of spans; 0 if it is too large.
[[nodiscard]] inline uint32_t ShortNumber(uint64_t number) {
  return number <= UINT32_MAX ? static_cast<uint32_t>(number) : 0;
}

// True if the record begins a range or is a complete one.
[[nodiscard]] inline bool MakesSpan(MegEngineEvent event, bool finish) {
  switch (event) {
    case MegEngineEvent::kOpDispatch:
    case MegEngineEvent::kOpExecute:
    case MegEngineEvent::kOpInput:
    case MegEngineEvent::kOpOutput:
    case MegEngineEvent::kTensorGetProp:
    case MegEngineEvent::kTensorWaitProp:
    case MegEngineEvent::kTensorCommand:
    case MegEngineEvent::kScope:
    case MegEngineEvent::kStartProfile:
    case MegEngineEvent::kStopProfile:
    case MegEngineEvent::kAutoEvict:
    case MegEngineEvent::kCustom:
      return !finish;
    case MegEngineEvent::kKernelLaunch:
    case MegEngineEvent::kHostToDevice:
      return finish;
    default:
      return false;
  }
}

}  // namespace opscope
