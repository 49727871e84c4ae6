// CUPTI's error codes as names and as reasons that a user can act on. Codes with one remedy share a sentence, and a
// code without a sentence is named as CUPTI names it.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/cupti_errors.h"

namespace opscope::cuda {

std::string NameOfCode(cupti::Result code, const char* name) {
  if (name != nullptr && *name != '\0') return name;
  // Without a driver CUPTI 13.5 does not even name its codes.
  if (code == cupti::Result::kUnknown) return "CUPTI_ERROR_UNKNOWN";
  if (code == cupti::Result::kNotInitialized) return "CUPTI_ERROR_NOT_INITIALIZED";
  return "CUPTI_ERROR_" + std::to_string(static_cast<uint32_t>(code));
}

std::string ReasonOf(cupti::Result code, std::string_view name_of_code) {
  using cupti::Result;
  switch (code) {
    case Result::kNotInitialized:
    case Result::kUnknown:
      return std::string(kNoDriver);
    case Result::kInsufficientPrivileges:
    case Result::kVirtualizedDeviceInsufficientPrivileges:
      return std::string(kPermission);
    case Result::kNotSupported:
    case Result::kVirtualizedDeviceNotSupported:
    case Result::kConfidentialComputingNotSupported:
    case Result::kCmpDeviceNotSupported:
    case Result::kMigDeviceNotSupported:
    case Result::kSliDeviceNotSupported:
    case Result::kWslDeviceNotSupported:
      return std::string(kNotSupported);
    case Result::kMultipleSubscribersNotSupported:
    case Result::kDisabled:
      return std::string(kInUse);
    default:
      return std::string(name_of_code);
  }
}

std::string WhyNot(std::string_view reason, std::string_view function, std::string_view name_of_code) {
  std::string line = "CUDA is not recorded: ";
  line.append(reason);
  if (!function.empty()) line.append(" (").append(function).append(": ").append(name_of_code).append(")");
  return line;
}

}  // namespace opscope::cuda
