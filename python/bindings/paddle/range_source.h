// The process-wide source that records the ranges of Paddle's Python code; null until one is loaded, never unloaded.
//
// Thread rule: with the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "opscope/paddle_source.h"

namespace opscope::python {

// Null until set_range_source.
inline const PaddleSource* range_source = nullptr;

// Opens a range and returns its handle; null, without anything to exit, if no recording runs.
inline void* EnterRange(std::string_view name, uint32_t event_type) {
  return range_source == nullptr ? nullptr : range_source->enter(name.data(), name.size(), event_type);
}
// REQUIRES: `range` was returned by EnterRange and has not been exited.
inline void ExitRange(void* range) {
  range_source->exit(range);
}

}  // namespace opscope::python
