// The order of profile_analyze's rows.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "opscope/megengine/profile_analyze.h"

namespace opscope {

// Stable; rows with an unknown value come last. O(n log n).
void SortMegEngineRecords(const MegEngineOrder& order, std::vector<MegEngineRecord>* records);

}  // namespace opscope
