// The size of a test: a fraction in `make test`, in full where OPSCOPE_SOAK=1 asks for it (`make soak`).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <cstring>

inline bool Soak() {
  const char* asked = std::getenv("OPSCOPE_SOAK");
  return asked != nullptr && std::strcmp(asked, "0") != 0 && *asked != '\0';
}

template <typename Size>
Size InFull(Size full, Size fraction) {
  return Soak() ? full : fraction;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;  // memory and speed are the sanitizer's
#else
inline constexpr bool kSanitized = false;
#endif
