// The error for a file that is damaged before its first complete event.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "opscope/result.h"

namespace opscope {

[[nodiscard]] inline Error MalformedAt(std::string_view name, size_t offset, std::string_view what) {
  std::string message(name);
  message.append(": at byte ").append(std::to_string(offset)).append(": ").append(what);
  return {ErrorCode::kMalformed, std::move(message)};
}

}  // namespace opscope
