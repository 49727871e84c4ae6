// Collective operations of a distributed program, as NCCL's and RCCL's kernels and the ranges of Gloo and MPI show
// them.
//
// The ranges `nccl:*` of the host only cover the launch and are no rows. Kernels carry their group and size in Kineto's
// arguments ("Process Group Name", "In msg nelems"); for Gloo the size is that of the range's arguments, the group is
// not known.
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBarrier,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kSendReceive,
  kOther,
};

// No rank leaves before every rank has come: the ends lie close together on all ranks.
constexpr bool EndsTogether(CollectiveKind kind) {
  return kind <= CollectiveKind::kBarrier;
}

struct Collective {
  SpanId span = SpanId::kNone;
  CollectiveKind kind = CollectiveKind::kOther;
  uint32_t group = 0;     // row of Collectives::groups
  uint64_t elements = 0;  // of the input, as Kineto says it; 0: not known
};

struct Collectives {
  std::vector<Collective> rows;     // in the order of spans
  std::vector<std::string> groups;  // name and ranks of each group as recorded; group 0: not told
};

[[nodiscard]] Collectives FindCollectives(const Trace& trace);

}  // namespace opscope
