// How the C interface takes and gives structs that begin with their size, and how errors leave it.
//
// A struct of a caller may be older than ours (shorter: what it lacks has the default) or newer (longer: what
// we do not know must be 0, else the caller wants something that would be left out in silence).
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/catch_bad_alloc.h"
#include "opscope/c.h"
#include "opscope/result.h"

namespace opscope::c_api {

// Fills *error, which may be null, and gives the code. Does not allocate.
opscope_code Fail(opscope_error* error, ErrorCode code, std::string_view message, int system_errno = 0);

inline opscope_code Report(const Status& status, opscope_error* error) {
  if (status.ok()) return OPSCOPE_OK;
  return Fail(error, status.error().code, status.error().message, status.error().system_errno);
}

inline opscope_code NullArgument(opscope_error* error) {
  return Fail(error, ErrorCode::kInvalidArgument, "a needed argument is NULL");
}

// False: the size makes no sense, or members are set that this library does not know. `given` may be null.
template <typename Struct>
[[nodiscard]] bool ReadStruct(const Struct* given, Struct* ours) {
  if (given == nullptr) return true;
  const size_t size = given->size;
  if (size < sizeof(size_t)) return false;
  const char* bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  std::memcpy(static_cast<void*>(ours), bytes, size < sizeof(Struct) ? size : sizeof(Struct));
  ours->size = sizeof(Struct);
  return true;
}

template <typename Struct>
opscope_code WriteStruct(const Struct& ours, Struct* wanted) {
  const size_t size = wanted->size;
  if (size < sizeof(size_t)) return OPSCOPE_INVALID_ARGUMENT;
  char* bytes = reinterpret_cast<char*>(wanted);
  std::memcpy(bytes + sizeof(size_t), reinterpret_cast<const char*>(&ours) + sizeof(size_t),
              (size < sizeof(Struct) ? size : sizeof(Struct)) - sizeof(size_t));
  if (size > sizeof(Struct)) std::memset(bytes + sizeof(Struct), 0, size - sizeof(Struct));
  return OPSCOPE_OK;
}

inline opscope_code UnknownMembers(opscope_error* error) {
  return Fail(error, ErrorCode::kUnsupported,
              "a struct has no size, or sets members that this version of opscope does not know");
}

// Runs the body of a function of the interface; body() gives an opscope_code.
template <typename Body>
opscope_code Guard(opscope_error* error, const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc& refused) {
    return Fail(error, ErrorCode::kOutOfMemory, BadAllocText(refused));
  } catch (const std::length_error&) {
    return Fail(error, ErrorCode::kOutOfMemory, kOutOfMemoryText);
  }
}

}  // namespace opscope::c_api
