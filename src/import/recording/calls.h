// Calls of one thread: a kEnter and its kExit become one span. An exit belongs to the innermost call of its identity
// (Record::value), even if other calls are open inside it: greenlets and generators leave calls in another order than
// they entered.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "import/recording/step_starts.h"
#include "opscope/record.h"
#include "trace/builder.h"

namespace opscope {

class RecordingCalls {
 public:
  explicit RecordingCalls(TraceBuilder* builder) : builder_(builder) {}

  // From now on also adds every Python call to `starts`.
  void CollectStarts(StepStarts* starts) { starts_ = starts; }
  void BeginThread(TrackId track);
  // extra: members of a JSON object, or kNone.
  void Enter(const Record& record, Timestamp time, StringId name, StringId category, StringId extra = StringId::kNone);
  void Exit(const Record& record, Timestamp time);
  // Ends the calls that are still open at `last`.
  void EndThread(Timestamp last);

  bool empty() const { return open_.empty(); }
  bool seen() const { return seen_; }                // this thread has calls
  bool seen_python() const { return seen_python_; }  // some thread has Python calls

 private:
  struct OpenCall {
    Timestamp start;
    uint64_t identity = 0;
    StringId name = StringId::kEmpty;
    StringId category = StringId::kEmpty;
    StringId extra = StringId::kNone;
    bool is_python = false;
    SpanKind kind = kKindOfCategory;
    bool is_open = true;  // false: it has ended, but a call above it has not
    size_t around = 0;    // 1 + index in open_ of the next indexed enclosing call with this identity; 0: no such call
  };

  // 1 + index in open_ of the innermost open call of this identity among the first `count`; 0: no such call.
  size_t FindFar(uint64_t identity, size_t count);
  void Close(size_t call);
  SpanKind KindOf(const Record& record, StringId name);
  void AddSpan(const OpenCall& call, Timestamp end, uint8_t flags);

  TraceBuilder* builder_;
  StepStarts* starts_ = nullptr;
  TrackId track_ = TrackId::kNone;
  std::vector<OpenCall> open_;
  size_t indexed_ = 0;                            // by_identity_ has the first so many calls of open_
  tsl::robin_map<uint64_t, size_t> by_identity_;  // 1 + index in open_ of the innermost open call
  std::vector<SpanKind> of_python_;               // by name, of records of kPython; kKindOfCategory: not yet classified
  bool seen_ = false, seen_python_ = false;
};

}  // namespace opscope
