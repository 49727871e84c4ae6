// The text before and after the events of a Kineto file: members of the document, metadata of the Trace, and the "M"
// events that name processes and threads.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "export/chrome_pieces.h"
#include "export/chrome_plan.h"
#include "opscope/trace.h"

namespace opscope {

struct ChromeHead {
  std::string text;
  bool has_events = false;
};

// The text from '{' to the last "M" event. left_out: metadata keys to omit.
ChromeHead MakeChromeHead(const Trace& trace, const ChromePlan& plan, const ChromePieces& pieces,
                          const std::vector<std::string>& left_out = {});
// The text from the end of the events to '}'. `trace_name`: value of "traceName"; if empty, the input's own is kept.
std::string MakeChromeTail(const Trace& trace, std::string_view trace_name);

}  // namespace opscope
