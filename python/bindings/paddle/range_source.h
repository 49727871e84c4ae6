// Where the ranges of Paddle's Python go: a source that is never unloaded, or nowhere until there is one.
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

// Null: nobody records, and there is nothing to exit.
inline void* EnterRange(std::string_view name, uint32_t event_type) {
  return range_source == nullptr ? nullptr : range_source->enter(name.data(), name.size(), event_type);
}
// REQUIRES: EnterRange has returned it, once.
inline void ExitRange(void* range) {
  range_source->exit(range);
}

}  // namespace opscope::python
