// The data that the viewer needs beside a Trace to describe its spans. It is made once for each trace.
//
//   SpanDetails details(trace, make_arguments);
//   details.Append(row, &json);
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "opscope/analysis/timeline_flows.h"
#include "opscope/analysis/timeline_levels.h"
#include "opscope/trace.h"

namespace opscope {

class SpanDetails {
 public:
  using AppendArguments = std::function<void(uint32_t span, std::string* members)>;
  using MakeArguments = std::function<AppendArguments(const Trace& trace)>;

  // The Trace must outlive it. `make_arguments` may be null: spans have no arguments then. Arguments and flows are
  // prepared when they are first needed.
  SpanDetails(const Trace& trace, MakeArguments make_arguments);

  [[nodiscard]] const TimelineSpans& timeline() const { return timeline_; }

  // Appends {"row": ..., "track": ..., "start": ..., "duration": ..., "name": ..., "depth": ..., "self": ...} with
  // category, relatives in the track, arguments, call stack and flows. REQUIRES: row < trace.spans().size()
  void Append(uint32_t row, std::string* out);

 private:
  void AppendArgumentsOf(uint32_t row, std::string* out);
  void AppendFlowsOf(uint32_t row, std::string* out);

  const Trace& trace_;
  const TimelineSpans timeline_;
  const MakeArguments make_arguments_;
  Mutex mutex_;
  AppendArguments arguments_ OPSCOPE_GUARDED_BY(mutex_);
  std::optional<std::vector<TimelineFlow>> flows_ OPSCOPE_GUARDED_BY(mutex_);
};

}  // namespace opscope
