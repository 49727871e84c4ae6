// Arguments of a recorded Paddle operator in the form of Paddle's own files: members of a JSON object with the shapes
// by the names of the arguments. The record has the names in one text and the shapes, then the attributes' values, as
// encoded arguments (record.h):
//
//   "x,y*2;axis,mode=SAME"  [2,3] [4] [5] 1 -
//      ->  "input_shapes": {"x": [[2, 3]], "y": [[4], [5]]}, ... "attributes": {"axis": 1, "mode": "SAME"}
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace opscope {

class PaddleMembers {
 public:
  // Many operators have equal arguments, so each distinct text is made once. It is valid as long as this object.
  // Malformed arguments end the text early; arguments.h counts them.
  const std::string& Of(std::string_view names, std::span<const std::byte> arguments);

 private:
  std::unordered_map<std::string, std::string> known_;
};

}  // namespace opscope
