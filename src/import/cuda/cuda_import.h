// Adds the records of a CUDA window to a TraceBuilder as Kineto would show them, or with another CudaNaming: a track
// for each stream of a device with kernels, copies and sets, calls on the threads that made them, flows from calls to
// the work that they launched.
//
//   for each window: Begin; Scan each record for which NeedsScan is true; then Add each for which NeedsAdd is; End
//   Finish after all windows
//
// REQUIRES: rows and numbers (External id) of the operators of all threads are there already.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "import/cuda/cuda_annotations.h"
#include "import/cuda/cuda_calls.h"
#include "import/cuda/cuda_devices.h"
#include "import/cuda/cuda_graphs.h"
#include "import/cuda/cuda_naming.h"
#include "import/cuda/cuda_record.h"
#include "import/cuda/cuda_sensors.h"
#include "import/cuda/cuda_work_rows.h"
#include "trace/builder.h"

namespace opscope {

// Facts that all records of one event with equal details share, computed at the first of them.
struct CudaShared {
  CudaEvent event = CudaEvent::kNone;
  bool is_seen = false;   // Scan has read such a record
  bool is_known = false;  // the fields below are set
  uint32_t group = 0;     // of work: its stream's group in CudaWorkRows, set by Scan
  uint32_t thread = 0;    // of calls
  TrackId track = TrackId::kNone;
  StringId name = StringId::kNone;     // of copies and sets
  StringId members = StringId::kNone;  // args
  uint64_t bytes = 0;                  // of copies and sets
  uint64_t graph_node = 0;             // 0: not launched by a graph
  std::span<const std::byte> details;
};

class CudaImport {
 public:
  // `naming` outlives this object.
  CudaImport(TraceBuilder* builder, const CudaNaming& naming);

  // Names a node of a graph. members: of "args", as JSON without braces.
  void NameNode(uint64_t node, std::string members) { graphs_.Name(node, std::move(members)); }

  // calls: upper bound of their number.
  void Begin(ProcessId process, int64_t pid, size_t calls);
  // Reads calls, devices, contexts, events, and the first work with its details. shared: of the record's event and
  // details.
  static bool NeedsScan(const CudaShared& shared);
  void Scan(const CudaRecord& record, CudaShared* shared);
  // REQUIRES: the work was scanned, if NeedsScan is true.
  void Count(uint32_t correlation, bool is_outside, const CudaShared& shared) {
    work_rows_.Count(shared.group, correlation, is_outside);
  }
  // REQUIRES: all records were scanned. The first Add places the calls.
  static bool NeedsAdd(CudaEvent event);
  void Add(const CudaRecord& record, CudaShared* shared);
  void End();
  void Finish();

  // The tracks of threads to which calls were added.
  const std::set<TrackId>& call_tracks() const { return calls_.tracks(); }

 private:
  struct EventRecord {
    uint32_t context = 0, event = 0, correlation = 0, stream = 0;
    uint64_t number = 0;
  };
  struct Wait {
    CudaRecord record;
    CudaSynchronizationDetails details;
  };

  void Place();
  void AddOther(const CudaRecord& record);

  void Share(const CudaRecord& record, CudaShared* shared);
  void ShareCopy(const CudaRecord& record, CudaShared* shared);
  // call: null if unknown.
  void AddWork(const CudaRecord& record, const CudaShared& shared, const CudaCall* call);
  void AddLaunchArrow(const CudaCall& call, const CudaShared& shared, const CudaWork& row, AddedSpan span);
  void AddEventRecord(const CudaRecord& record);
  void AddMemory(const CudaRecord& record);
  void AddReading(const CudaRecord& record);
  void AddWait(const Wait& wait);
  void OrderEvents();
  AwaitedEvent Awaited(const Wait& wait) const;
  StringId KernelNameOf(StringId mangled) {
    const bool is_known = Row(mangled) < readable_names_.size() && readable_names_[Row(mangled)] != StringId::kNone;
    return is_known ? readable_names_[Row(mangled)] : NewKernelName(mangled);
  }
  StringId NewKernelName(StringId mangled);
  uint32_t ExternalId(uint32_t correlation) const;

  TraceBuilder* builder_;
  const CudaNaming& naming_;
  CudaDevices devices_;
  CudaCalls calls_;
  CudaAnnotations annotations_;
  CudaGraphs graphs_;
  CudaSensors sensors_;
  bool calls_are_placed_ = false;
  CudaWorkRows work_rows_;
  std::vector<CudaRecord> others_;  // spans, instants and counters of other kinds
  std::vector<Wait> waits_;
  std::vector<EventRecord> events_;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint32_t> event_of_number_;  // by context, event and number
  std::set<TrackId> busy_;                // streams with kernels, copies or sets
  std::set<uint32_t> working_;            // devices of those
  std::vector<StringId> readable_names_;  // by mangled name; kNone: not yet demangled
  uint64_t before_call_ = 0;              // device records that begin before their call
  StringId kernel_, copy_, set_, overhead_, sync_, event_, memory_, arrow_, arrow_category_;
};

inline bool CudaImport::NeedsScan(const CudaShared& shared) {
  switch (shared.event) {
    case CudaEvent::kKernel:  // for its context, and all of these for their stream
    case CudaEvent::kCopy:
    case CudaEvent::kPeerCopy:
    case CudaEvent::kSet:
    case CudaEvent::kGraph:
    case CudaEvent::kEnvironment:  // for what it is about
      return !shared.is_seen;
    case CudaEvent::kDevice:
    case CudaEvent::kContext:
    case CudaEvent::kEventRecord:
    case CudaEvent::kEventNode:
    case CudaEvent::kGraphEdge:
      return true;
    default:
      return IsCall(shared.event);
  }
}

inline bool CudaImport::NeedsAdd(CudaEvent event) {
  switch (event) {
    case CudaEvent::kClock:
    case CudaEvent::kWindow:
    case CudaEvent::kPaused:
    case CudaEvent::kDevice:
    case CudaEvent::kContext:
    case CudaEvent::kEventNode:
    case CudaEvent::kGraphEdge:
      return false;
    default:
      return !IsCall(event);
  }
}

}  // namespace opscope
