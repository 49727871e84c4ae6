// Names of MegEngine's computing nodes (devices and their streams), read from their implementations.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sources/megengine/native_layout.h"
#include "sources/megengine/own_memory.h"

namespace opscope::megengine {

// A locator as MegEngine writes it: "gpu1:0", "xpux:0", "cpu:default"; "" if it is malformed.
[[nodiscard]] std::string LocatorText(const Locator& locator);

// "cpu0:0 xpux:0": the physical device, and the program's name for it. "invalid invalid" for a null node, or if the
// names are not found.
[[nodiscard]] std::string NodeNames(const void* node, OwnMemory* memory);

}  // namespace opscope::megengine
