// Writes the "opscope.*" members, each only if the file alone would be read back differently. The test for that
// imitates the importer: IsImpliedByCategories decides from categories as the importer does, IsImpliedByName from step
// names. If in doubt the member is written: a redundant one does no harm. Examples of all members:
// chrome_own_members.h.
// SPDX-License-Identifier: Apache-2.0
#include "export/chrome_own_members.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/json_members.h"
#include "base/text.h"
#include "export/chrome_plan.h"
#include "export/span_lanes.h"

namespace opscope {
namespace {

constexpr std::string_view kKinds[] = {"thread", "stream", "annotation", "other"};

// True if a span of the track begins before its preceding sibling ended. Walks the nested spans in pre-order.
bool Crosses(const SpanColumns& spans, uint32_t first, uint32_t end) {
  struct Open {
    uint32_t row;
    int64_t end, children_end;
  };
  std::vector<Open> open = {{Row(SpanId::kNone), INT64_MAX, INT64_MIN}};
  for (uint32_t row = first; row < end && (spans.flags[row] & span_flags::kAsync) == 0; ++row) {
    while (open.back().row != Row(spans.parent[row]) && open.size() > 1)
      open.pop_back();
    Open& around = open.back();
    if (spans.start[row].ns < around.children_end) return true;
    const int64_t clipped = std::min(EndOf(spans, row).ns, around.end);
    around.children_end = std::max(around.children_end, clipped);
    open.push_back({row, clipped, INT64_MIN});
  }
  return false;
}

bool ImpliesKind(std::string_view category, TrackKind kind) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), category) != names.end();
  };
  switch (kind) {
    case TrackKind::kDeviceStream:
      return is_one_of({"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"});
    case TrackKind::kDeviceAnnotation:
      return category == "gpu_user_annotation";
    default:
      return is_one_of({"cuda_sync", "cuda_event", "cuda_profiler_range", "graph_event_node", "graph_host_node",
                        "overhead", "profiler_step"});
  }
}

// True if a reader surely finds the track's kind from the categories of its spans. False in doubt: writing the kind
// redundantly does no harm.
bool IsImpliedByCategories(const Trace& trace, uint32_t track) {
  const TrackColumns& tracks = trace.tracks();
  const TrackKind kind = tracks.kind[track];
  const uint32_t process = Row(tracks.process[track]);
  const bool has_number = trace.processes().pid_text[process] == StringId::kNone;
  const bool is_kinetos = ChromePlan::IsSpansProcess(trace, tracks.process[track]);
  if (kind == TrackKind::kThread) return !is_kinetos;
  if (kind == TrackKind::kOther && is_kinetos) return true;
  const bool is_on_device = kind != TrackKind::kOther;
  if (is_on_device && (!has_number || trace.processes().pid[process] != tracks.device[track])) return false;
  const auto categories = trace.spans().category.subspan(tracks.first_span[track], tracks.span_count[track]);
  const auto tells = [&](StringId category) { return ImpliesKind(trace.text(category), kind); };
  return kind == TrackKind::kDeviceStream ? std::any_of(categories.begin(), categories.end(), tells)
                                          : std::all_of(categories.begin(), categories.end(), tells);
}

bool IsImpliedByName(std::string_view name, std::string_view category, const std::string& number) {
  if (category == "ProfileStep") return name == "ProfileStep#" + number;
  return (category == "user_annotation" || category == "profiler_step") && name == "ProfilerStep#" + number;
}

}  // namespace

std::string OwnTrackMembers(const Trace& trace, const ChromePlan& plan, const ChromePieces& pieces) {
  const TrackColumns& tracks = trace.tracks();
  std::string list;
  for (const TrackId id : plan.tracks()) {
    const uint32_t track = Row(id);
    const uint32_t first = tracks.first_span[track];
    const bool crosses = Crosses(trace.spans(), first, first + tracks.span_count[track]);
    if (tracks.span_count[track] == 0 || (!crosses && IsImpliedByCategories(trace, track))) continue;
    list.append(list.empty() ? "[{" : ", {").append(pieces.track(id));
    list.append(", \"kind\": \"").append(kKinds[static_cast<size_t>(tracks.kind[track])]).append("\", \"device\": ");
    AppendInt(&list, tracks.device[track]);
    list.append(crosses ? ", \"crossing\": true}" : "}");
  }
  for (const ChromeLane& lane : plan.lanes().lanes()) {
    list.append(list.empty() ? "[{" : ", {").append(pieces.track_with(lane.track, lane.tid));
    list.append(", \"row_of\": ").append(pieces.tid(lane.track)).append("}");
  }
  return list.empty() ? list : list + "]";
}

std::string_view AsyncReason(uint8_t flags) {
  if ((flags & span_flags::kCrossing) != 0) return "crossing";
  return (flags & span_flags::kOtherThread) != 0 ? "thread" : "range";
}

OwnStepNumbers::OwnStepNumbers(const Trace& trace) {
  const StepColumns& steps = trace.steps();
  const SpanColumns& spans = trace.spans();
  for (size_t step = 0; step < steps.size(); ++step) {
    if (steps.span[step] == SpanId::kNone || steps.number[step] < 0) continue;
    const uint32_t span = Row(steps.span[step]);
    const std::string_view category = trace.text(spans.category[span]);
    if (IsImpliedByName(trace.text(spans.name[span]), category, std::to_string(steps.number[step]))) continue;
    if (category.empty() && !FindJsonMember(trace.text(spans.extra[span]), "step_num").empty()) continue;  // XLA's
    number_of_[span] = steps.number[step];
  }
}

std::optional<int64_t> OwnStepNumbers::Of(uint32_t span) const {
  const auto found = number_of_.find(span);
  return found == number_of_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace opscope
