// Counts events that a source could not record because the framework's code threw or memory was short. A callback has
// no caller to report to; the session makes a Problem of the count (Source::failures). Each source's library has its
// own.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

__attribute__((cold)) void CountFailure();
uint64_t FailureCount();  // since the library was loaded

}  // namespace opscope
