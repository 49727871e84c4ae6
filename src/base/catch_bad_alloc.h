// The one place where a failed allocation becomes an Error. Inside the library, containers throw std::bad_alloc, which
// ends at the public entry point: every public function that returns a Status or a Result runs its body through
// CatchBadAlloc. Functions that return plain values (analyses, reports) cannot report it and let std::bad_alloc pass.
//
//   return CatchBadAlloc(path, [&]() -> Result<Trace> { return Read(path); });    // "a.json: out of memory: ..."
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/allocation_failure.h"
#include "opscope/result.h"

namespace opscope {

// Fits into the string object itself (15 bytes with libstdc++): saying that memory is short must not need any.
inline constexpr const char* kOutOfMemoryText = "out of memory";

// With the size of the failed request, if it is known.
[[nodiscard]] inline const char* BadAllocText(const std::bad_alloc& refused) {
  return dynamic_cast<const AllocationFailure*>(&refused) != nullptr ? refused.what() : kOutOfMemoryText;
}

// "WHAT: out of memory", and without WHAT where even that is too much.
[[nodiscard]] inline Error OutOfMemoryError(std::string_view what, const char* text = kOutOfMemoryText) {
  Error error;
  error.code = ErrorCode::kOutOfMemory;
  try {
    if (!what.empty()) error.message.append(what).append(": ");
    error.message.append(text);
  } catch (const std::bad_alloc&) {
    error.message = kOutOfMemoryText;
  }
  return error;
}

// Returns the result of `body`, a Status or a Result. `what`: path or name that the message of an allocation
// failure begins with.
template <typename Body>
[[nodiscard]] auto CatchBadAlloc(std::string_view what, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc& refused) {
    return OutOfMemoryError(what, BadAllocText(refused));
  } catch (const std::length_error&) {  // a container larger than the address space
    return OutOfMemoryError(what);
  }
}

}  // namespace opscope
