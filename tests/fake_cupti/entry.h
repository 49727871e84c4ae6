// How a function of CUPTI is made: what every one begins with, and how dlsym finds it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "rules.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {

inline constexpr unsigned kAnywhere = Function::kInCallback | Function::kWithoutDriver;

// Each is chosen when it is looked up, so that one library can lack what CUPTI 12.1, or the scenario, lacks.
template <class Entry>
auto Resolved(const char* function, Entry* entry) -> void (*)() {
  return HasFunction(Now(), function) ? reinterpret_cast<void (*)()>(entry) : nullptr;
}

}  // namespace fake

// `function` and `call` for the body; a call that is refused ends here.
#define CALL(NAME, traits, argument)                              \
  static fake::Function function("cupti" #NAME, traits);          \
  fake::Call call(function, static_cast<std::int64_t>(argument)); \
  if (call.refused) return call.result

// dlsym calls the resolver and answers what it answers. Nobody calls what is declared here, so that its type is no
// matter; the function behind it has that of cupti_abi.h.
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
