// Which boot of which machine this is, for readers that put recordings of one machine side by side.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// XXH3-64 of the system's boot id: equal for all processes between two boots of a machine, in containers too. The hash
// does not reveal the machine. 0: unknown.
uint64_t BootHash();

}  // namespace opscope
