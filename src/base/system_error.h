// The errors of system calls: what failed, and the system's message for its errno.
//
//   if (fd < 0) return SystemErrorFor("a.json", errno);     // "a.json: Permission denied"
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "opscope/result.h"

namespace opscope {

// "SUBJECT: MESSAGE". The subject is a path, or says what failed; `number` is an errno.
[[nodiscard]] std::string SystemMessageFor(std::string_view subject, int number);

// The same as an Error, which keeps the errno.
[[nodiscard]] Error SystemErrorFor(std::string_view subject, int number, ErrorCode code);
// kNotFound for ENOENT, kIo for others.
[[nodiscard]] Error SystemErrorFor(std::string_view path, int number);

}  // namespace opscope
