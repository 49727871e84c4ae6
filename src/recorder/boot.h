// Which boot of which machine this is, for readers that put recordings of one machine side by side.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// XXH3-64 of the system's boot id: equal for all processes between two boots of a machine, containers included, and
// leads back to neither. 0: the system does not tell.
uint64_t BootHash();

}  // namespace opscope
