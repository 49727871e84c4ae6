// The names and categories that make a host span a call, a wait, input or communication.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/host_spans.h"

#include <string_view>

namespace opscope {
namespace {

bool NamesInput(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)") || name.find("DataLoader.__next__") != name.npos;
}

// The whole name matches (cuda|hip)(DeviceSynchronize|StreamSynchronize|EventSynchronize|Memcpy).
bool NamesBlockingCall(std::string_view name) {
  for (const std::string_view runtime : {"cuda", "hip"}) {
    if (!name.starts_with(runtime)) continue;
    const std::string_view call = name.substr(runtime.size());
    return call == "DeviceSynchronize" || call == "StreamSynchronize" || call == "EventSynchronize" || call == "Memcpy";
  }
  return false;
}

bool NamesCommunication(std::string_view name) {
  for (const std::string_view backend : {"c10d::", "gloo:", "mpi:", "nccl:", "ucc:"})
    if (name.starts_with(backend)) return true;
  return false;
}

}  // namespace

HostSpans::HostSpans(const Trace& trace)
    : trace_(trace),
      recording_(trace.FindString("Trace")),
      annotation_(trace.FindString("user_annotation")),
      python_function_(trace.FindString("python_function")),
      data_loader_(trace.FindString("Dataloader")),
      is_input_(trace, &NamesInput),
      is_blocking_(trace, &NamesBlockingCall),
      is_communication_(trace, &NamesCommunication) {
  for (const SpanId span : trace.steps().span)
    if (span != SpanId::kNone) steps_.push_back(Row(span));
  std::sort(steps_.begin(), steps_.end());
}

}  // namespace opscope
