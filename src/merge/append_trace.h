// Copies a Trace into a builder that already holds others: its times through a clock map, its processes, ids and
// strings so that nothing meets what another trace means by the same number.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merge/clock_fit.h"
#include "opscope/merge.h"
#include "opscope/trace.h"
#include "trace/builder.h"

namespace opscope {

// Where a trace's times go: unix or file time = its Timestamp + own_epoch_ns; through `map`; minus epoch_ns.
struct TimeShift {
  int64_t own_epoch_ns = 0;
  ClockMap map;
  int64_t epoch_ns = 0;

  Timestamp operator()(Timestamp time) const;
};

class TraceAppender {
 public:
  explicit TraceAppender(TraceBuilder* builder) : builder_(builder) {}

  // `rank` -1: each process has its own, or none. The processes of the result keep their pids where these are free.
  std::vector<MergedProcess> Append(const Trace& trace, const TimeShift& shift, int32_t rank);

  // How many ids did not fit into their columns and may now be shared by two inputs.
  uint64_t shared_ids() const { return shared_ids_; }

 private:
  // Numbers that only mean something within one input; each input gets a range of its own.
  struct IdBases {
    uint32_t correlation = 0, external = 0, python_call = 0;
    uint64_t logical_thread = 0, flow = 0, tensor = 0;
  };
  class Copy;

  IdBases TakeIds(const Trace& trace);
  void AppendOperators(const Trace& trace);
  ProcessRow ProcessOf(const Trace& trace, size_t row, int32_t rank);
  int64_t FreePid(int64_t pid, int32_t rank);
  std::string FreePidText(std::string_view text, int32_t rank);

  TraceBuilder* builder_;
  IdBases next_;
  std::set<int64_t> pids_;
  std::set<std::string> text_pids_;
  std::set<std::pair<StringId, StringId>> operators_;
  int64_t process_number_ = 0;
  uint64_t shared_ids_ = 0;
};

}  // namespace opscope
