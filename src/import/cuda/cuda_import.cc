// Device records refer to their call by number, and the buffers may have a call behind the work that it launched. So a
// window is read twice: Scan gathers calls, contexts and the number of rows per stream, Add makes the rows. Records
// with the same facts (stream, name, members) share a CudaShared, so names and members are made once. What depends on
// all calls and all work (waits, events, graphs, annotations) waits until End.
//
// A decoded record costs about 78 ns of import on one thread (docs/reference/benchmarks_files.md).
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_import.h"

#include <algorithm>
#include <iterator>

#include "import/cuda/cuda_names.h"

namespace opscope {
namespace {

constexpr uint32_t kAllocates = 1;  // CUPTI's number of an allocation

}  // namespace

CudaImport::CudaImport(TraceBuilder* builder, const CudaNaming& naming)
    : builder_(builder),
      naming_(naming),
      devices_(builder),
      calls_(builder, naming),
      annotations_(builder),
      graphs_(builder),
      work_rows_(builder),
      kernel_(builder->Intern(naming.kernel)),
      copy_(builder->Intern(naming.copy)),
      set_(builder->Intern(naming.set)),
      overhead_(builder->Intern("overhead")),
      sync_(builder->Intern("cuda_sync")),
      event_(builder->Intern("cuda_event")),
      memory_(builder->Intern("cuda_memory")),
      arrow_(builder->Intern(naming.arrow)),
      arrow_category_(builder->Intern(naming.arrow_category)) {
}

void CudaImport::Begin(ProcessId process, int64_t pid, size_t calls) {
  devices_.Begin(builder_->process(process).name);
  calls_.Begin(process, pid);
  calls_.Reserve(calls);
  calls_are_placed_ = false;
  work_rows_.Begin();
}

void CudaImport::Scan(const CudaRecord& record, CudaShared* shared) {
  shared->is_seen = true;
  switch (record.event) {
    case CudaEvent::kDevice:
      return devices_.AddDevice(record.As<CudaDeviceDetails>(), builder_->text(record.name));
    case CudaEvent::kContext: {
      const auto context = record.As<CudaContextDetails>();
      return devices_.AddContext(context.context, context.device);
    }
    case CudaEvent::kKernel: {
      const auto kernel = record.As<CudaKernelDetails>();
      shared->group = work_rows_.GroupOf(kernel.device, kernel.stream);
      return devices_.AddContext(kernel.context, kernel.device);
    }
    case CudaEvent::kCopy:
    case CudaEvent::kPeerCopy: {
      const auto copy = record.As<CudaCopyDetails>();
      shared->group = work_rows_.GroupOf(copy.device, copy.stream);
      return;
    }
    case CudaEvent::kSet: {
      const auto set = record.As<CudaSetDetails>();
      shared->group = work_rows_.GroupOf(set.device, set.stream);
      return;
    }
    case CudaEvent::kGraph: {
      const auto graph = record.As<CudaGraphDetails>();
      shared->group = work_rows_.GroupOf(graph.device, graph.stream);
      return;
    }
    case CudaEvent::kRuntimeCall:
    case CudaEvent::kDriverCall: {
      if (record.is_outside) return;
      if (!shared->is_known) {
        const auto call = record.As<CudaCallDetails>();
        shared->is_known = true;
        shared->members = builder_->Intern(naming_.CallMembers(call));
        shared->thread = call.thread;
      }
      return calls_.Add(record, shared->thread, shared->members);
    }
    case CudaEvent::kEventRecord: {
      const auto event = record.As<CudaEventRecordDetails>();
      events_.push_back({event.context, event.event, record.correlation, event.stream, event.number});
      return;
    }
    case CudaEvent::kEnvironment:
      return sensors_.Expect(record.As<CudaEnvironmentDetails>());
    case CudaEvent::kEventNode:
      return graphs_.AddEventNode(record.As<CudaGraphNodeDetails>());
    case CudaEvent::kGraphEdge:
      return graphs_.AddEdge(record.As<CudaGraphEdgeDetails>());
    default:
      return;
  }
}

StringId CudaImport::NewKernelName(StringId mangled) {
  if (Row(mangled) >= readable_names_.size()) readable_names_.resize(Row(mangled) + 1, StringId::kNone);
  return readable_names_[Row(mangled)] = builder_->Intern(naming_.KernelName(builder_->text(mangled)));
}

void CudaImport::ShareCopy(const CudaRecord& record, CudaShared* shared) {
  const auto copy = record.As<CudaCopyDetails>();
  shared->track = devices_.OfStream(copy.device, copy.stream);
  shared->name = builder_->Intern(naming_.CopyName(copy));
  shared->graph_node = copy.graph_node;
  shared->members = builder_->Intern(naming_.CopyMembers(copy, record.event == CudaEvent::kPeerCopy) +
                                     graphs_.MembersOf(copy.graph_node));
  working_.insert(copy.device);
  shared->bytes = copy.bytes;
}

void CudaImport::Share(const CudaRecord& record, CudaShared* shared) {
  shared->is_known = true;
  switch (record.event) {
    case CudaEvent::kKernel: {
      const auto kernel = record.As<CudaKernelDetails>();
      shared->track = devices_.OfStream(kernel.device, kernel.stream);
      shared->graph_node = kernel.graph_node;
      shared->members = builder_->Intern(naming_.KernelMembers(kernel, devices_.Properties(kernel.device)) +
                                         graphs_.MembersOf(kernel.graph_node));
      working_.insert(kernel.device);
      break;
    }
    case CudaEvent::kCopy:
    case CudaEvent::kPeerCopy:
      ShareCopy(record, shared);
      break;
    case CudaEvent::kSet: {
      const auto set = record.As<CudaSetDetails>();
      shared->track = devices_.OfStream(set.device, set.stream);
      shared->name = builder_->Intern(naming_.SetName(set));
      shared->graph_node = set.graph_node;
      shared->members = builder_->Intern(naming_.SetMembers(set) + graphs_.MembersOf(set.graph_node));
      shared->bytes = set.bytes;
      working_.insert(set.device);
      break;
    }
    case CudaEvent::kGraph: {
      const auto graph = record.As<CudaGraphDetails>();
      shared->track = devices_.OfStream(graph.device, graph.stream);
      shared->name = builder_->Intern("Graph " + std::to_string(graph.graph));
      working_.insert(graph.device);
      shared->members = builder_->Intern(GraphMembers(graph));
      break;
    }
    default:
      break;
  }
  busy_.insert(shared->track);
}

uint32_t CudaImport::ExternalId(uint32_t correlation) const {
  const CudaCall* call = calls_.Find(correlation);
  return call == nullptr ? 0 : call->external_id;
}

void CudaImport::AddWork(const CudaRecord& record, const CudaShared& shared, const CudaCall* call) {
  CudaWork row{.start = record.start,
               .duration = record.duration,
               .track = shared.track,
               .correlation = record.correlation,
               .external_id = call == nullptr ? 0 : call->external_id,
               .extra = shared.members};
  const bool is_kernel = record.event == CudaEvent::kKernel || record.event == CudaEvent::kGraph;
  row.name = record.event == CudaEvent::kKernel ? KernelNameOf(record.name) : shared.name;
  row.kind = is_kernel ? SpanKind::kKernel : record.event == CudaEvent::kSet ? SpanKind::kSet : SpanKind::kCopy;
  row.category = is_kernel ? kernel_ : row.kind == SpanKind::kSet ? set_ : copy_;
  if (!is_kernel) {
    const std::string bandwidth = BandwidthMember(shared.bytes, record.duration);
    if (!bandwidth.empty())
      row.extra = builder_->Intern(std::string(builder_->text(shared.members)) + ", " + bandwidth);
  }
  if (row.duration.ns < 0) {
    builder_->AddProblem("negative_duration", -1);
    row.duration = {};
  }
  const AddedSpan span = work_rows_.Add(shared.group, row);
  if (sensors_.has_clocks() && record.event == CudaEvent::kKernel) {
    sensors_.AddKernel(record.As<CudaKernelDetails>().device, row.start, row.duration);
  }
  if (call == nullptr) {
    if (shared.graph_node != 0) AddLaunchArrow({}, shared, row, span);
    return;
  }
  if (record.start < call->start) ++before_call_;
  if (call->range != AddedSpan::kNone) {
    annotations_.Extend(call->range, row.track, row.start, row.start + row.duration);
  }
  AddLaunchArrow(*call, shared, row, span);
}

// The flow of a graph's node waits for Finish, because it may come from another node.
void CudaImport::AddLaunchArrow(const CudaCall& call, const CudaShared& shared, const CudaWork& row, AddedSpan span) {
  FlowRow arrow = call.ArrowTo(span, row.start, row.track);
  arrow.category = arrow_category_, arrow.name = arrow_;
  if (shared.graph_node != 0 && (graphs_.has_edges() || graphs_.has_event_nodes())) {
    graphs_.AddWork({shared.graph_node, row.correlation, span, row.track, row.start, row.start + row.duration, arrow});
  } else if (arrow.id != 0) {
    work_rows_.AddArrow(arrow);
  }
}

void CudaImport::AddEventRecord(const CudaRecord& record) {
  const auto event = record.As<CudaEventRecordDetails>();
  const uint32_t device = event.device == kCudaNoDevice ? devices_.DeviceOf(event.context) : event.device;
  const CudaCall* call = calls_.Find(record.correlation);
  if (call == nullptr && event.device_ns == 0) return;  // its time is unknown
  builder_->AddSpan({.start = event.device_ns != 0 ? record.start : call->start,
                     .duration = {1},
                     .name = builder_->Intern("cudaEventRecord"),
                     .category = event_,
                     .track = devices_.OfStream(device, event.stream),
                     .kind = kForcedOther,
                     .correlation = record.correlation,
                     .external_id = call == nullptr ? 0 : call->external_id,
                     .extra = builder_->Intern(EventRecordMembers(event, device))});
}

void CudaImport::AddMemory(const CudaRecord& record) {
  const auto memory = record.As<CudaMemoryDetails>();
  builder_->AddInstant({.time = record.start,
                        .name = builder_->Intern(memory.operation == kAllocates ? "Device Alloc" : "Device Free"),
                        .category = memory_,
                        .track = devices_.OfStream(memory.device, memory.stream),
                        .extra = builder_->Intern(MemoryMembers(memory))});
}

void CudaImport::AddReading(const CudaRecord& record) {
  const auto reading = record.As<CudaReadingDetails>();
  const auto read = static_cast<double>(record.duration.ns);
  const bool is_power = reading.what == static_cast<uint32_t>(CudaReading::kPowerMilliwatts);
  if (!is_power && reading.what != static_cast<uint32_t>(CudaReading::kSmClockMegahertz)) return;
  builder_->AddCounter({.time = record.start,
                        .name = builder_->Intern(is_power ? "GPU power (W)" : "GPU SM clock (MHz)"),
                        .series = builder_->Intern("value"),
                        .track = devices_.OfSensors(reading.device),
                        .value = is_power ? read / 1000 : read});
}

void CudaImport::Place() {
  if (calls_are_placed_) return;
  calls_are_placed_ = true;
  calls_.Place();
  work_rows_.Place(!calls_.empty(), calls_.earliest(), calls_.has_external_ids());
}

void CudaImport::Add(const CudaRecord& record, CudaShared* shared) {
  Place();
  if (!IsWork(record.event)) {
    others_.push_back(record);
    return;
  }
  const CudaCall* call = calls_.Find(record.correlation);
  // It was launched outside of the window.
  if (call == nullptr && (record.is_outside || calls_.IsBeforeAll(record.correlation))) return;
  if (!shared->is_known) Share(record, shared);
  AddWork(record, *shared, call);
}

void CudaImport::AddOther(const CudaRecord& record) {
  if (record.is_outside && calls_.Find(record.correlation) == nullptr) return;
  switch (record.event) {
    case CudaEvent::kOverhead:
      builder_->AddSpan({.start = record.start,
                         .duration = record.duration,
                         .name = builder_->Intern(OverheadName(record.As<CudaOverheadDetails>().kind)),
                         .category = overhead_,
                         .track = devices_.OfOverhead(),
                         .kind = SpanKind::kOverhead,
                         .correlation = record.correlation});
      return;
    case CudaEvent::kSynchronization:
      waits_.push_back({record, record.As<CudaSynchronizationDetails>()});
      return;
    case CudaEvent::kEventRecord:
      graphs_.AddEvent(record);
      return AddEventRecord(record);
    case CudaEvent::kEventOfGraph:
      return graphs_.AddEvent(record);
    case CudaEvent::kHostNode:
      return graphs_.AddHostNode(record, calls_.Find(record.correlation), &devices_);
    case CudaEvent::kEnvironment:
      return sensors_.Add(record, static_cast<uint64_t>(record.duration.ns));
    case CudaEvent::kMemory:
      return AddMemory(record);
    case CudaEvent::kReading:
      return AddReading(record);
    default:
      return;
  }
}

// Sorts by event, then by the number of the call, which wraps. The sort is stable for records of one call.
void CudaImport::OrderEvents() {
  const uint32_t first = events_.empty() ? 0 : events_.front().correlation;
  std::stable_sort(events_.begin(), events_.end(), [&](const EventRecord& a, const EventRecord& b) {
    if (a.context != b.context) return a.context < b.context;
    if (a.event != b.event) return a.event < b.event;
    return static_cast<int32_t>(a.correlation - first) < static_cast<int32_t>(b.correlation - first);
  });
  for (uint32_t row = 0; row < events_.size(); ++row) {
    const EventRecord& event = events_[row];
    if (event.number != 0) event_of_number_.try_emplace({event.context, event.event, event.number}, row);
  }
}

// The event record for which a wait waits: the one with its number, else the last before the wait. REQUIRES:
// OrderEvents.
AwaitedEvent CudaImport::Awaited(const Wait& wait) const {
  const uint32_t context = wait.details.context, event = wait.details.event;
  const auto found_of = [](const EventRecord& found) {
    return AwaitedEvent{static_cast<int32_t>(found.stream), found.correlation};
  };
  if (wait.details.event_record != 0) {
    const auto known = event_of_number_.find({context, event, wait.details.event_record});
    if (known != event_of_number_.end()) return found_of(events_[known->second]);
  }
  // The first record after the wait.
  const auto behind = std::partition_point(events_.begin(), events_.end(), [&](const EventRecord& each) {
    if (each.context != context) return each.context < context;
    if (each.event != event) return each.event < event;
    return static_cast<int32_t>(each.correlation - wait.record.correlation) < 0;
  });
  if (behind == events_.begin()) return {};
  const EventRecord& before = *std::prev(behind);
  return before.context == context && before.event == event ? found_of(before) : AwaitedEvent();
}

void CudaImport::AddWait(const Wait& wait) {
  const uint32_t device = devices_.DeviceOf(wait.details.context);
  const bool is_busy = busy_.contains(devices_.FindStream(device, wait.details.stream));
  if (wait.details.type == kStreamWaitsForEvent && !is_busy) return;  // as Kineto does
  builder_->AddSpan({.start = wait.record.start,
                     .duration = wait.record.duration,
                     .name = builder_->Intern(SynchronizationName(wait.details.type)),
                     .category = sync_,
                     .track = devices_.OfStream(device, wait.details.stream),
                     .kind = SpanKind::kSynchronization,
                     .correlation = wait.record.correlation,
                     .external_id = ExternalId(wait.record.correlation),
                     .extra = builder_->Intern(SynchronizationMembers(wait.details, device, Awaited(wait)))});
}

void CudaImport::End() {
  Place();
  work_rows_.End();
  for (const CudaRecord& record : others_)
    AddOther(record);
  if (!waits_.empty()) OrderEvents();
  for (const Wait& wait : waits_)
    AddWait(wait);
  graphs_.Finish(&devices_);
  sensors_.Finish(working_, &devices_, builder_);
  annotations_.Finish(&devices_);
  others_.clear();
  waits_.clear();
  events_.clear();
  event_of_number_.clear();
}

void CudaImport::Finish() {
  devices_.Finish();
  if (before_call_ > 0) builder_->AddProblem("device_clock", -1, before_call_);
}

}  // namespace opscope
