// Copies a Trace into a builder that already holds others. Times go through a clock map; pids and ids are replaced
// where an earlier trace used the same number for something else.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merge/copy_trace.h"
#include "opscope/merge.h"
#include "opscope/trace.h"
#include "trace/builder.h"

namespace opscope {

class TraceAppender {
 public:
  explicit TraceAppender(TraceBuilder* builder) : builder_(builder) {}

  // `rank`: rank of all processes of the trace; -1 keeps the rank of each process. Returns the processes with their new
  // pids. O(rows).
  std::vector<MergedProcess> Append(const Trace& trace, const TimeShift& shift, int32_t rank);

  // How many id ranges overflowed their column, so that two inputs may share ids.
  uint64_t shared_ids() const { return shared_ids_; }

 private:
  IdBases TakeIds(const Trace& trace, int32_t rank);
  std::map<StringId, std::string> FreeAsyncIds(const Trace& trace, int32_t rank);
  void AppendOperators(const Trace& trace);
  ProcessRow ProcessOf(const Trace& trace, size_t row, int32_t rank);
  int64_t FreePid(int64_t pid, int32_t rank);
  std::string FreePidText(std::string_view text, int32_t rank);

  TraceBuilder* builder_;
  IdBases next_;
  std::set<int64_t> pids_;
  std::set<std::string> text_pids_, async_ids_;  // async_ids_: ids with scope, in JSON
  std::set<std::pair<StringId, StringId>> operators_;
  int64_t process_number_ = 0;
  uint64_t shared_ids_ = 0;
};

}  // namespace opscope
