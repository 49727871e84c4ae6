// The names of Paddle's event types by their numbers, bounds checked: the numbers come from files.
// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/type_names.h"

#include <iterator>

#include "opscope/paddle/memory_events.h"
#include "opscope/paddle_event_type.h"

namespace opscope {
std::string_view PaddleTypeName(uint64_t type) {
  return type < kPaddleEventTypes ? kPaddleEventTypeNames[type] : std::string_view();
}

bool IsPaddlePythonType(uint64_t type) {
  return type < kPaddleEventTypes && IsPythonThreadEvent(static_cast<PaddleEventType>(type));
}

std::string_view PaddleMemoryTypeName(uint64_t type) {
  return type < std::size(kPaddleMemoryTypeNames) ? kPaddleMemoryTypeNames[type] : std::string_view();
}

}  // namespace opscope
