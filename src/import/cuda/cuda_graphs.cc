// CUPTI reports an edge per pair of nodes of a graph and a record per node that ran, of which only those with work have
// a span. For each launch the arrows of a node are found by a search backwards through the edges, over nodes without
// work, to the nearest nodes with work:
//
//   kernel A -> empty -> kernel B      one arrow, A to B
//
// The search runs per launch, because different nodes may run in each launch.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_graphs.h"

#include <algorithm>
#include <utility>

#include "base/json_object.h"

namespace opscope {
namespace {

std::string HostNodeMembers(const CudaHostNodeDetails& node) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  members.Uint("device", node.device)
      .Uint("context", node.context)
      .Int("stream", static_cast<int32_t>(node.stream))
      .Uint("host process", node.process)
      .Uint("host thread", node.thread)
      .Uint("graph id", node.graph)
      .Uint("graph node id", node.graph_node);
  return text;
}

std::string EventNodeMembers(const CudaEventRecordDetails& event, uint32_t device, uint64_t node) {
  std::string text;
  JsonMemberWriter members(&text, JsonMemberWriter::kSpaced);
  members.Uint("device", device)
      .Uint("context", event.context)
      .Int("stream", static_cast<int32_t>(event.stream))
      .Uint("graph id", node >> 32)
      .Uint("graph node id", node);
  return text;
}

}  // namespace

std::string CudaGraphs::MembersOf(uint64_t node) const {
  const auto found = node == 0 ? names_.end() : names_.find(node);
  return found == names_.end() || found->second.empty() ? std::string() : ", " + found->second;
}

// Shown on the stream that waits for it, as in torch. If the graph was queued behind an earlier launch that still ran,
// CUPTI does not report the launch, and there is no arrow.
void CudaGraphs::AddHostNode(const CudaRecord& record, const CudaCall* launch, CudaDevices* devices) {
  const auto node = record.As<CudaHostNodeDetails>();
  const TrackId track = devices->OfStream(node.device, node.stream);
  const AddedSpan span =
      builder_->AddSpan({.start = record.start,
                         .duration = record.duration,
                         .name = builder_->Intern("HostNode"),
                         .category = builder_->Intern("graph_host_node"),
                         .track = track,
                         .kind = kForcedOther,
                         .correlation = record.correlation,
                         .extra = builder_->Intern(HostNodeMembers(node) + MembersOf(node.graph_node))});
  if (record.correlation == 0) return;
  FlowRow arrow = launch == nullptr ? FlowRow() : launch->ArrowTo(span, record.start, track);
  arrow.category = arrow.name = builder_->Intern("ac2g");
  works_.push_back(
      {node.graph_node, record.correlation, span, track, record.start, record.start + record.duration, arrow});
}

// The event records of a launch have no node number. There are as many as nodes that record events, in the order of the
// nodes: the k-th record is that of the k-th node. If the numbers differ, the records are left out.
void CudaGraphs::AddEventSpans(CudaDevices* devices) {
  if (event_nodes_.empty()) return;
  std::map<uint32_t, uint64_t> graph_of_launch;
  for (const Work& work : works_)
    graph_of_launch.try_emplace(work.correlation, work.node >> 32);
  using Numbered = std::pair<uint64_t, const CudaRecord*>;
  std::map<uint32_t, std::vector<Numbered>> of_launch;
  for (const CudaRecord& record : events_) {
    if (graph_of_launch.contains(record.correlation)) {
      of_launch[record.correlation].emplace_back(record.As<CudaEventRecordDetails>().number, &record);
    }
  }
  const StringId name = builder_->Intern("EventRecord"), category = builder_->Intern("graph_event_node");
  for (auto& [correlation, records] : of_launch) {
    const auto nodes = event_nodes_.find(graph_of_launch[correlation]);
    if (nodes == event_nodes_.end() || nodes->second.size() != records.size()) continue;
    std::ranges::sort(records, {}, &Numbered::first);
    for (size_t i = 0; i < records.size(); ++i) {
      const CudaRecord& record = *records[i].second;
      const auto event = record.As<CudaEventRecordDetails>();
      if (event.device_ns == 0 || record.is_outside) continue;  // its time is unknown
      const uint32_t device = event.device == kCudaNoDevice ? devices->DeviceOf(event.context) : event.device;
      const uint64_t node = nodes->second[i];
      const TrackId track = devices->OfStream(device, event.stream);
      const AddedSpan span =
          builder_->AddSpan({.start = record.start,
                             .name = name,
                             .category = category,
                             .track = track,
                             .kind = kForcedOther,
                             .correlation = correlation,
                             .extra = builder_->Intern(EventNodeMembers(event, device, node) + MembersOf(node))});
      works_.push_back({node, correlation, span, track, record.start, record.start, {}});
    }
  }
}

std::vector<const CudaGraphs::Work*> CudaGraphs::WorkBefore(const std::map<uint64_t, const Work*>& of_launch,
                                                            uint64_t node) const {
  std::vector<const Work*> found;
  std::set<uint64_t> seen;
  std::vector<uint64_t> next = {node};
  while (!next.empty()) {
    const auto before = before_.find(next.back());
    next.pop_back();
    if (before == before_.end()) continue;
    for (const uint64_t each : before->second) {
      if (!seen.insert(each).second) continue;
      const auto work = of_launch.find(each);
      if (work != of_launch.end()) {
        found.push_back(work->second);
      } else {
        next.push_back(each);
      }
    }
  }
  return found;
}

void CudaGraphs::AddArrows() {
  std::map<uint32_t, std::map<uint64_t, const Work*>> launches;
  for (const Work& work : works_)
    launches[work.correlation][work.node] = &work;
  const StringId arrow = builder_->Intern("ac2g");
  for (const auto& [correlation, works] : launches) {
    for (const auto& [node, work] : works) {
      const std::vector<const Work*> before = WorkBefore(works, node);
      if (before.empty() && work->launch.id != 0) builder_->AddFlow(work->launch);
      for (const Work* other : before) {
        builder_->AddFlow({.id = next_arrow_++,
                           .category = arrow,
                           .name = arrow,
                           .start_time = other->end,
                           .start_track = other->track,
                           .start_span = other->span,
                           .end_time = work->start,
                           .end_track = work->track,
                           .end_span = work->span});
      }
    }
  }
}

void CudaGraphs::Finish(CudaDevices* devices) {
  AddEventSpans(devices);
  AddArrows();
  works_.clear();
  events_.clear();
  before_.clear();
  event_nodes_.clear();
}

}  // namespace opscope
