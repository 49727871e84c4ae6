// Exit codes of the command line; scripts rely on them.
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitPartial = 3;
inline constexpr int kExitLimit = 4;  // check: a limit is crossed

// The worse of two exit codes, for several inputs: usage, then failed, then limit, then partial, then done.
inline int WorseExit(int a, int b) {
  if (a == kExitUsage || b == kExitUsage) return kExitUsage;
  if (a == kExitFailed || b == kExitFailed) return kExitFailed;
  return a > b ? a : b;
}

}  // namespace opscope
