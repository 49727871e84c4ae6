// Strips the suffixes that Paddle appends to an operator's name for its phases, so that all of them count as one
// operator.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/paddle/operator_name.h"

namespace opscope {

std::string PaddleOperatorName(std::string_view event) {
  std::string name(event);
  for (const std::string_view word : {" compute", " dygraph", " pybind_imperative_func"}) {
    for (size_t at = name.find(word); at != std::string::npos; at = name.find(word, at))
      name.erase(at, word.size());
  }
  return name;
}

}  // namespace opscope
