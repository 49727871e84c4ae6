// The members of Paddle's memory events as in Paddle's JSON: `"type": "Allocate", "place": "Place(cpu)", ...`. The
// importers of both formats use them, so that both give the same texts.
// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/memory_members.h"

#include "base/json_object.h"

namespace opscope {

std::string PaddleAllocationMembers(std::string_view type, std::string_view place, uint64_t peak_allocated,
                                    uint64_t peak_reserved) {
  std::string members;
  JsonMemberWriter(&members, JsonMemberWriter::kSpaced)
      .Text("type", type)
      .Text("place", place)
      .Uint("peak_allocated", peak_allocated)
      .Uint("peak_reserved", peak_reserved);
  return members;
}

}  // namespace opscope
