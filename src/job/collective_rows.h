// The collectives of one trace as rows of a JOB. docs/reference/job.md, "Collectives", has the rules.
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/file_identity.h"
#include "opscope/analysis/steps.h"
#include "opscope/trace.h"

namespace opscope {

struct CollectiveRow {
  uint32_t group = 0;           // of CollectiveRows::groups
  std::string_view kind;        // "all_reduce", ...
  std::optional<int64_t> step;  // nullopt: outside of all steps
  int64_t elements = 0;         // 0: unknown
  std::optional<int64_t> seq;
  int64_t position = 0;                   // number of earlier rows of the same group and step
  int64_t start_ns = 0, duration_ns = 0;  // on the clock of the Trace
  // The time since the synchronising collective of the group before, with its seven parts; duration_ns is its length.
  // nullopt: the kind does not synchronise, or nothing says where the gap begins.
  std::optional<StepTimes> gap;
};

struct CollectiveGroup {
  std::string name;  // "": the group of all ranks
  std::string key;   // NAME/SIZE/MEMBERS
  int32_t size = 0;
  std::vector<int32_t> members;  // empty: not recorded
  // Numbers of spans of the group, of spans with a sequence number, and of distinct sequence numbers; their range.
  int64_t spans = 0, with_seq = 0, distinct_seq = 0;
  std::optional<int64_t> first_seq, last_seq;
};

struct CollectiveRows {
  std::vector<CollectiveRow> rows;  // by begin
  std::vector<CollectiveGroup> groups;
};

// O(spans), and O(n log n) in collectives, device work and outermost host spans.
[[nodiscard]] CollectiveRows FindCollectiveRows(const Trace& trace, const FileIdentity& identity);

}  // namespace opscope
