// Names of dumps: "{pid}" and "{number}" in a path.
//
// Thread rule: pure functions, but for what the file system says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace opscope {

// The path with its placeholders filled in.
[[nodiscard]] std::string FillDumpPath(const std::string& pattern, pid_t process, uint64_t number);

// The same, from *number on the first one whose file does not exist; a placeholder that is missing is put
// before the extension, so that no dump takes another one's name.
[[nodiscard]] std::string FreeDumpPath(const std::string& pattern, pid_t process, uint64_t* number);

// A program may change its working directory before something happens.
[[nodiscard]] std::string AbsoluteDumpPath(const std::string& pattern);

}  // namespace opscope
