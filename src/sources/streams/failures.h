// What a source could not record because somebody else's code threw, or memory was short. Counted, because a callback
// has nobody to tell; the session makes it a Problem (Source::failures). Each source's library has a count of its own.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

__attribute__((cold)) void CountFailure();
uint64_t FailureCount();  // since the library was loaded

}  // namespace opscope
