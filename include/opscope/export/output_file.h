// Writes texts and bytes as files. A file is written beside its final name and
// renamed, so a failure leaves no partial file. kIo and kNotFound errors name the
// path.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opscope/result.h"

namespace opscope {

// Compression of a whole file.
enum class Compression : uint8_t { kNone, kGzip, kZstd };

// Writes a text, compressed if the path ends in ".gz" or ".zst".
[[nodiscard]] Status WriteText(const std::string& path, std::string_view text);
// Writes bytes unchanged.
[[nodiscard]] Status WriteBytes(const std::string& path, std::string_view bytes);

}  // namespace opscope
