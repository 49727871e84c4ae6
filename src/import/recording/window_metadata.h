// What windows say about themselves and their process in their metadata.
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

// Metadata, options and problems of the Trace.
void AddWindowFacts(const std::vector<WindowInfo>& windows, TraceBuilder* builder);
// Torch's numbers and arrows: the number of the first window that gives one.
void ReadTorchFacts(const std::vector<WindowInfo>& windows, TorchLinks* links);
// What must be known of a process before its threads are read: memory so far, names of graph nodes.
void ReadProcessFacts(const WindowInfo& window, const TickClock& clock, RecordingTables* tables);
// Whether a window has the value 1 under this key.
[[nodiscard]] bool AnyWindowSays(const std::vector<WindowInfo>& windows, std::string_view key);

}  // namespace opscope
