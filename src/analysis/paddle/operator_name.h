// The name of an operator in the name of its event.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace opscope {

// "matmul" of "matmul dygraph", "matmul compute" and "matmul pybind_imperative_func".
[[nodiscard]] std::string PaddleOperatorName(std::string_view event);

}  // namespace opscope
