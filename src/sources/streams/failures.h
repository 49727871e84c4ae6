// Counts events that a source could not record because the framework's code threw or memory ran out. A callback has no
// caller to report to, so the session reports the count as a Problem (Source::failures). Each source's library has its
// own count.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

__attribute__((cold)) void CountFailure();
uint64_t FailureCount();  // since the library was loaded

}  // namespace opscope
