// A timer stores at most 4 million works and regions each and counts the rest, so a timer that the program never reads
// cannot use up the machine's memory.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/node_times.h"

namespace opscope::cuda {
namespace {

constexpr size_t kMaxEntries = size_t{1} << 22;  // of works and of regions; at most 160 MiB each

}  // namespace

template <typename Details>
void NodeTimes::AddWork(const DecodedRecord& record) {
  if (works.size() >= kMaxEntries) {
    ++dropped;
    return;
  }
  const auto details = record.DetailsAs<Details>();
  works.push_back({.node = details.graph_node,
                   .start_ns = record.start,
                   .end_ns = record.start + record.duration,
                   .stream = details.stream,
                   .correlation = record.correlation});
}

void NodeTimes::Add(const DecodedRecord& record) {
  switch (record.event) {
    case CudaEvent::kKernel:
      if ((flags_ & cuda_timer_flags::kKernels) != 0) AddWork<CudaKernelDetails>(record);
      return;
    case CudaEvent::kCopy:
      if ((flags_ & cuda_timer_flags::kCopies) != 0) AddWork<CudaCopyDetails>(record);
      return;
    case CudaEvent::kPeerCopy:
      if ((flags_ & cuda_timer_flags::kPeerCopies) != 0) AddWork<CudaCopyDetails>(record);
      return;
    case CudaEvent::kSet:
      if ((flags_ & cuda_timer_flags::kSets) != 0) AddWork<CudaSetDetails>(record);
      return;
    case CudaEvent::kExternalId: {
      if ((flags_ & cuda_timer_flags::kRegions) == 0) return;
      const auto details = record.DetailsAs<CudaExternalIdDetails>();
      if (details.kind != static_cast<uint32_t>(kKindOfRegions)) return;  // of another tool
      if (regions.size() < kMaxEntries) {
        regions.push_back({details.id, record.correlation, 0});
      } else {
        ++dropped;
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace opscope::cuda
