// Reads the metadata in which windows describe themselves and their process.
//
// Thread rule: one thread at a time per builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "import/recording/clock.h"
#include "import/recording/thread.h"
#include "import/recording/window.h"
#include "import/torch/links.h"
#include "trace/builder.h"

namespace opscope {

// Adds metadata, options and problems to the Trace.
void AddWindowFacts(const std::vector<WindowInfo>& windows, TraceBuilder* builder);
// For torch's numbers and flows: the number of the first window that has one.
void ReadTorchFacts(const std::vector<WindowInfo>& windows, TorchLinks* links);
// Reads facts that are needed before the threads of a process: memory so far, names of graph nodes.
void ReadProcessFacts(const WindowInfo& window, const TickClock& clock, RecordingTables* tables);
// True if a window has the value 1 under this key.
[[nodiscard]] bool AnyWindowSays(const std::vector<WindowInfo>& windows, std::string_view key);

}  // namespace opscope
