// The part of a script of `opscope reproduce` that is the same for every call.
//
// Thread rule: a constant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace opscope {

// Behind the recorded facts and make_arguments(tensor).
extern const std::string_view kReproduceProgram;

}  // namespace opscope
