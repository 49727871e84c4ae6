// Strips the suffixes that Paddle appends to an operator's name for its phases, so that all of them count as one
// operator.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/paddle/operator_name.h"

#include <utility>

namespace opscope {

std::string PaddleOperatorName(std::string_view event) {
  std::string name(event);
  for (const std::string_view word : {" compute", " dygraph", " pybind_imperative_func"}) {
    size_t begin = 0, at = name.find(word);
    if (at == std::string::npos) continue;
    std::string rest;
    for (; at != std::string::npos; at = name.find(word, begin)) {
      rest.append(name, begin, at - begin);
      begin = at + word.size();
    }
    name = std::move(rest.append(name, begin));
  }
  return name;
}

}  // namespace opscope
