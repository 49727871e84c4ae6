// SHA-256 of files, by which a JOB recognises the files that it has, and of texts.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "opscope/result.h"

namespace opscope {

// 64 digits in lower case. Errors are those of InputFile. O(bytes), with a buffer of 1 MiB.
[[nodiscard]] Result<std::string> Sha256OfFile(const std::string& path);

[[nodiscard]] std::string Sha256OfText(std::string_view text);

// The first 8 bytes as a big-endian number: `file_id` and `group_id` of the tables.
[[nodiscard]] int64_t IdOfSha256(std::string_view sha256);

}  // namespace opscope
