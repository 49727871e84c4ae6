// A text or bytes as a file. It is written beside the final name and renamed, so a fault leaves nothing half-written;
// kIo errors name the path.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opscope/result.h"

namespace opscope {

enum class Compression : uint8_t { kNone, kGzip, kZstd };

// A text as a file, compressed as its name says.
[[nodiscard]] Status WriteText(const std::string& path, std::string_view text);
// Bytes as a file, as they are.
[[nodiscard]] Status WriteBytes(const std::string& path, std::string_view bytes);

}  // namespace opscope
