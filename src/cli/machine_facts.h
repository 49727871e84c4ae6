// Collects facts about this machine and process: limits, clock, counters, devices. Changes nothing.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/doctor.h"

namespace opscope {

// Takes some milliseconds, most of them for measuring the clock.
MachineFacts CollectMachineFacts();

}  // namespace opscope
