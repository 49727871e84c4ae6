// Errors of the library: a `Result<T>` holds a value or an `Error`, a `Status`
// holds success or an `Error`.
//
//   opscope::Result<opscope::Trace> trace = opscope::ImportFile("run.json");
//   if (!trace.ok()) return Fail(trace.error().message);
//   Use(trace.value());
//
// Three kinds of trouble stay apart. The input or the system is wrong: an Error, in
// this file. The trace is imperfect: a row of the Trace's problem table, and the
// call succeeds. The library is wrong: OPSCOPE_CHECK aborts; the recorder and the
// sources never use it.
//
// A function that returns a Status or a Result throws nothing; a failed allocation
// is kOutOfMemory. A function that returns a plain value throws std::bad_alloc and
// nothing else.
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

// Why a call failed. The list is closed.
enum class ErrorCode : uint8_t {
  // The caller asked for something that does not exist or cannot be.
  kInvalidArgument,
  // A file or an entry does not exist.
  kNotFound,
  // The system refused: permission, full disk, a directory instead of a file.
  kIo,
  // The input violates its format.
  kMalformed,
  // Valid, but this build or version cannot do it; the message says what to use.
  kUnsupported,
  // An allocation failed; the call changed nothing.
  kOutOfMemory,
};

// What went wrong, for a program and for people.
struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  // One sentence. For files "FILE: at byte N: what is wrong" or "FILE: what is
  // wrong".
  std::string message;
  // For kIo and kNotFound the errno of the failed call, else 0.
  int system_errno = 0;
};

// A T, or the Error that prevented it. Both convert implicitly, so that functions
// return either.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit on purpose

  // True if it holds a value.
  bool ok() const { return state_.index() == 0; }
  // REQUIRES: ok()
  T& value() & { return *std::get_if<0>(&state_); }
  // REQUIRES: ok()
  const T& value() const& { return *std::get_if<0>(&state_); }
  // REQUIRES: ok()
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  // REQUIRES: !ok()
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

// Success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT: implicit on purpose

  // True on success.
  bool ok() const { return !failed_; }
  // REQUIRES: !ok()
  const Error& error() const { return error_; }

 private:
  bool failed_ = false;
  Error error_;
};

}  // namespace opscope

// Checks an invariant of the library: prints file and line, then aborts, in all
// builds. Never on input.
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
