// The reasons why CUDA is not recorded, as warnings, problems and `opscope doctor` print them.
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

// "no driver", ...; for a code without a reason above, its name "CUPTI_ERROR_...".
std::string ReasonOf(cupti::Result code, std::string_view name_of_code);

// One line, as CuptiLibrary::DescribeFailure; without a function "CUDA is not recorded: forked".
std::string WhyNot(std::string_view reason, std::string_view function = {}, std::string_view name_of_code = {});

// "CUPTI_ERROR_NOT_INITIALIZED". name: from CUPTI; may be null.
std::string NameOfCode(cupti::Result code, const char* name);

}  // namespace opscope::cuda
