// Errors of the library: a `Result<T>` holds a value or an `Error`, a `Status` holds nothing or an
// `Error`. Three kinds of trouble are kept apart: the input or the system is wrong (an Error, this
// file), the trace is imperfect (a row of the Trace's problem table, the call succeeds), and we are
// wrong (OPSCOPE_CHECK, which aborts; never used in the recorder or in sources).
//
// Functions that return a Status or a Result throw nothing, std::bad_alloc included (kOutOfMemory). Those
// that return plain values let std::bad_alloc pass, and nothing else.
//
// Thread rule: immutable values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace opscope {

enum class ErrorCode : uint8_t {
  kInvalidArgument,  // the caller asked for something that does not exist or cannot be
  kNotFound,         // a file or an entry is not there
  kIo,               // the system refused: permission, full disk, a directory where a file is wanted
  kMalformed,        // the input is not what its format promises
  kUnsupported,      // valid, but this build or version cannot do it; the message says what to use
  kOutOfMemory,      // memory is short; nothing was changed
};

// One sentence for people. For files it is "FILE: at byte N: what is wrong" or "FILE: what is wrong".
struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
  int system_errno = 0;  // for kIo and kNotFound: errno of the failed call, else 0
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return state_.index() == 0; }
  // REQUIRES: ok()
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  // REQUIRES: !ok()
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return !failed_; }
  // REQUIRES: !ok()
  const Error& error() const { return error_; }

 private:
  bool failed_ = false;
  Error error_;
};

}  // namespace opscope

// A broken invariant of our own: file and line, then abort, in all builds. Never on input.
#define OPSCOPE_CHECK(condition)                                                                      \
  do {                                                                                                \
    if (!(condition)) {                                                                               \
      std::fprintf(stderr, "opscope: %s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                                   \
    }                                                                                                 \
  } while (false)

// Returns the error of a Status or Result expression to the caller.
#define OPSCOPE_TRY(expression)                               \
  do {                                                        \
    if (auto opscope_try = (expression); !opscope_try.ok()) { \
      return opscope_try.error();                             \
    }                                                         \
  } while (false)
