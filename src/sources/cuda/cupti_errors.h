// Why CUDA is not recorded, in the words that users find in warnings, problems and `opscope doctor`.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sources/cuda/cupti_abi.h"

namespace opscope::cuda {

inline constexpr std::string_view kNotFound = "not found";
inline constexpr std::string_view kTooOld = "too old";
inline constexpr std::string_view kNoDriver = "no driver";
inline constexpr std::string_view kPermission = "permission";
inline constexpr std::string_view kNotSupported = "not supported";
inline constexpr std::string_view kInUse = "in use";
inline constexpr std::string_view kForked = "forked";
inline constexpr std::string_view kNoAnswer = "CUPTI does not answer";

// "no driver"; "CUPTI_ERROR_..." of a code that has no word of its own.
std::string ReasonOf(cupti::Result code, std::string_view name_of_code);

// One line: "CUDA is not recorded: no driver (cuptiActivityEnable: CUPTI_ERROR_NOT_INITIALIZED)".
std::string WhyNot(std::string_view words, std::string_view function = {}, std::string_view name_of_code = {});

// "CUPTI_ERROR_NOT_INITIALIZED"; name: CUPTI's own, may be null.
std::string NameOfCode(cupti::Result code, const char* name);

}  // namespace opscope::cuda
