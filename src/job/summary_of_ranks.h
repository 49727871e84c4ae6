// The operator summary of all ranks of a job, whose traces need not be in memory together. The result is that of their
// merged trace. Besides the rows, what stays of a trace are four bytes per span: its duration, for the quantiles.
//
//   SummaryOfRanks ops({.group_by = {GroupKey::kName, GroupKey::kRank}});
//   for (const std::string& file : files) ops.Add(ImportFile(file).value());
//   const JoinedSummary joined = std::move(ops).Join();
//   for (const OpSummaryRow& row : joined.summary.rows) Print(joined.names.text(row.name), row.keys[0], row.self_ns);
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/report/job_report.h"
#include "opscope/trace.h"

namespace opscope {

class SummaryOfRanks {
 public:
  // REQUIRES: as SummaryByRank.
  explicit SummaryOfRanks(const OpSummaryOptions& options = {}, std::optional<SpanFilter> filter = {});
  SummaryOfRanks(SummaryOfRanks&&) noexcept;
  ~SummaryOfRanks();

  // Adds a trace, which is not needed afterwards. O(spans)
  void Add(const Trace& trace);
  // The summary of all traces so far; rows are in order of first appearance. O(spans) for the quantiles. The object may
  // only be destroyed afterwards.
  [[nodiscard]] JoinedSummary Join() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace opscope
