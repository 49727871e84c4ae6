// Finds the collective operations of a distributed program: kernels of NCCL and
// RCCL, and the ranges of Gloo and MPI.
//
// The host ranges `nccl:*` cover only the launch and are no rows. Kernels carry
// their group, size and number in Kineto's arguments ("Process Group Name", "In msg
// nelems", "Seq"). For Gloo the size is that of the range's arguments, and the group
// is unknown.
//
//   const Collectives found = FindCollectives(trace);
//   for (const Collective& row : found.rows) Print(found.groups[row.group], row.elements);
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// The operation. Kinds up to kBarrier synchronise all ranks (EndsTogether).
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

// True if no rank leaves before every rank has come. The operation's ends are then
// close to simultaneous on all ranks, which makes them sync points for MergeTraces.
constexpr bool EndsTogether(CollectiveKind kind) {
  return kind <= CollectiveKind::kBarrier;
}

// One call of one rank.
struct Collective {
  // The kernel or range.
  SpanId span = SpanId::kNone;
  CollectiveKind kind = CollectiveKind::kOther;
  // Index into Collectives::groups.
  uint32_t group = 0;
  // Elements of the input, as Kineto reports them; 0: unknown.
  uint64_t elements = 0;
  // The program's own number of the call in its group, Kineto's "Seq", which is equal
  // on all ranks; nullopt: not recorded.
  std::optional<int64_t> number = {};
};

// All collectives of a trace.
struct Collectives {
  // In the order of the spans.
  std::vector<Collective> rows;
  // Name and ranks of each process group as recorded. Group 0 stands for an unknown
  // group.
  std::vector<std::string> groups;
};

// O(spans + strings of the Trace).
[[nodiscard]] Collectives FindCollectives(const Trace& trace);

}  // namespace opscope
