// The memory timeline in torch's two JSON forms, spaced exactly as Python's json.dump writes them, so that tools and
// diffs see no difference.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/memory_timeline.h"

#include <string>

#include "base/text.h"
#include "opscope/torch/memory_timeline_text.h"

namespace opscope {
namespace {

void AppendList(std::string* out, std::initializer_list<int64_t> numbers) {
  out->append(out->back() == '[' ? "[" : ", [");
  for (const int64_t number : numbers) {
    if (out->back() != '[') out->append(", ");
    AppendInt(out, number);
  }
  out->push_back(']');
}

}  // namespace

std::string MemoryTimelineJson(const MemoryByCategory& sums) {
  std::string out = "[[";
  for (const int64_t time : sums.times_us) {
    if (out.back() != '[') out += ", ";
    AppendInt(&out, time);
  }
  out += "], [";
  for (const auto& bytes : sums.bytes) {
    out += out.back() == '[' ? "[0" : ", [0";  // torch prepends 0, the lower edge of the first area
    for (const int64_t each : bytes) {
      out += ", ";
      AppendInt(&out, each);
    }
    out += ']';
  }
  return out += "]]";
}

std::string MemoryTimelineRawJson(const MemoryTimeline& timeline, MemoryDevice device, int64_t epoch_ns) {
  std::string out = "[";
  for (const MemoryTimelineRow& row : timeline.rows) {
    if (row.device_type != device.type || row.device != device.index) continue;
    const bool is_gain = row.action == MemoryAction::kPreexisting || row.action == MemoryAction::kCreate;
    const int64_t time =
        row.action == MemoryAction::kPreexisting ? -1 : (Timestamp{epoch_ns} + Duration{row.time.ns}).ns;
    const auto action = static_cast<int64_t>(row.action);
    AppendList(&out, {time, action, is_gain ? row.bytes : -row.bytes, static_cast<int64_t>(row.category)});
    if (row.action == MemoryAction::kIncrementVersion) {
      AppendList(&out, {time, action, row.bytes, static_cast<int64_t>(row.next_category)});
    }
  }
  return out += ']';
}

}  // namespace opscope
