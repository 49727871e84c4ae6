// Names of MegEngine's computing nodes (devices and their streams), from where their implementations keep them.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sources/megengine/native_layout.h"
#include "sources/megengine/own_memory.h"

namespace opscope::megengine {

// As MegEngine writes it: "gpu1:0", "xpux:0", "cpu:default"; "" where it is no locator.
[[nodiscard]] std::string LocatorText(const Locator& locator);

// "cpu0:0 xpux:0": the device, and what the program called it. "invalid invalid" where the node is none or its names
// are not found.
[[nodiscard]] std::string NodeNames(const void* node, OwnMemory* memory);

}  // namespace opscope::megengine
