// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/memory_members.h"

#include "base/text.h"

namespace opscope {

std::string PaddleAllocationMembers(std::string_view type, std::string_view place, uint64_t peak_allocated,
                                    uint64_t peak_reserved) {
  std::string members = "\"type\": \"" + std::string(type) + "\", \"place\": ";
  AppendJsonString(&members, place);
  members += ", \"peak_allocated\": ";
  AppendUint(&members, peak_allocated);
  members += ", \"peak_reserved\": ";
  AppendUint(&members, peak_reserved);
  return members;
}

}  // namespace opscope
