// SPDX-License-Identifier: Apache-2.0
#include "base/system_error.h"

#include <cerrno>
#include <system_error>

namespace opscope {

std::string SystemMessageFor(std::string_view subject, int number) {
  return std::string(subject) + ": " + std::generic_category().message(number);
}

Error SystemErrorFor(std::string_view subject, int number, ErrorCode code) {
  return {code, SystemMessageFor(subject, number), number};
}

Error SystemErrorFor(std::string_view path, int number) {
  return SystemErrorFor(path, number, number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo);
}

}  // namespace opscope
