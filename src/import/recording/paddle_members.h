// What a recorded operator of Paddle says of its arguments, as Paddle's own files say it: members of a JSON object with
// the shapes by the names of the arguments. The record has the names in one text and the shapes, then the attributes'
// values, as encoded arguments (record.h):
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
  // Many operators say the same: each distinct one is written once. Valid as long as the object. What contradicts the
  // format ends the text early; the arguments themselves are checked elsewhere.
  const std::string& Of(std::string_view names, std::span<const std::byte> arguments);

 private:
  std::unordered_map<std::string, std::string> known_;
};

}  // namespace opscope
