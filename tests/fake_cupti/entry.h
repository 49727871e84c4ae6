// Macros that define a function of the simulated CUPTI: the common checks at its start, and the symbol for dlsym.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "rules.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {

inline constexpr unsigned kAnywhere = Function::kInCallback | Function::kWithoutDriver;

// Each symbol is chosen at its lookup, so that one library can hide the functions that CUPTI 12.1, or the scenario,
// lacks.
template <class Entry>
auto Resolved(const char* function, Entry* entry) -> void (*)() {
  return HasFunction(Now(), function) ? reinterpret_cast<void (*)()>(entry) : nullptr;
}

}  // namespace fake

// Declares `function` and `call` for the body; returns from the function if the call is refused.
#define CALL(NAME, traits, argument)                              \
  static fake::Function function("cupti" #NAME, traits);          \
  fake::Call call(function, static_cast<std::int64_t>(argument)); \
  if (call.refused) return call.result

// An ifunc: dlsym calls the resolver and returns its result. The type of this declaration does not matter, because it
// is never called directly; the function behind it has the type of cupti_abi.h.
#define EXPORT_UNDECLARED(NAME)                                                       \
  extern "C" {                                                                        \
  __attribute__((used)) static auto Resolve_##NAME() -> void (*)() {                  \
    return fake::Resolved("cupti" #NAME, &fake::NAME);                                \
  }                                                                                   \
  __attribute__((visibility("default"), ifunc("Resolve_" #NAME))) void cupti##NAME(); \
  }
#define EXPORT(NAME)                                                                       \
  static_assert(std::is_same_v<decltype(&fake::NAME), opscope::cuda::cupti::NAME>, #NAME); \
  EXPORT_UNDECLARED(NAME)
