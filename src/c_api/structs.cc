// Errors and versions of the C interface. A message is copied into the caller's struct and cut to its size;
// nothing allocates, so that "out of memory" can be reported.
// SPDX-License-Identifier: Apache-2.0
#include "c_api/structs.h"

#include <algorithm>

namespace opscope::c_api {
namespace {

opscope_code CodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return OPSCOPE_INVALID_ARGUMENT;
    case ErrorCode::kNotFound:
      return OPSCOPE_NOT_FOUND;
    case ErrorCode::kIo:
      return OPSCOPE_IO;
    case ErrorCode::kMalformed:
      return OPSCOPE_MALFORMED;
    case ErrorCode::kUnsupported:
      return OPSCOPE_UNSUPPORTED;
    case ErrorCode::kOutOfMemory:
      return OPSCOPE_OUT_OF_MEMORY;
  }
  return OPSCOPE_INVALID_ARGUMENT;
}

}  // namespace

opscope_code Fail(opscope_error* error, ErrorCode code, std::string_view message, int system_errno) {
  const opscope_code number = CodeOf(code);
  constexpr size_t kMessageAt = offsetof(opscope_error, message);
  if (error == nullptr || error->size <= kMessageAt) return number;
  error->code = number;
  error->system_errno = system_errno;
  const size_t room = std::min(error->size, sizeof(opscope_error)) - kMessageAt - 1;
  const size_t size = std::min(message.size(), room);
  std::memcpy(error->message, message.data(), size);
  error->message[size] = '\0';
  return number;
}

}  // namespace opscope::c_api

const char* opscope_version(void) {
  return OPSCOPE_VERSION;
}

const char* opscope_code_text(int32_t code) {
  switch (code) {
    case OPSCOPE_OK:
      return "no error";
    case OPSCOPE_INVALID_ARGUMENT:
      return "invalid argument";
    case OPSCOPE_NOT_FOUND:
      return "not found";
    case OPSCOPE_IO:
      return "the system refused";
    case OPSCOPE_MALFORMED:
      return "malformed input";
    case OPSCOPE_UNSUPPORTED:
      return "unsupported";
    case OPSCOPE_OUT_OF_MEMORY:
      return "out of memory";
  }
  return "unknown code";
}
