// The rows of one block of events before they join the Trace. Their ids count from 0 in each part, so several threads
// can read blocks at once and in any order. Ids are numbered by first use, so parts that are joined one after the other
// (join.h) give the same Trace however the file was divided.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_interner.h"
#include "import/chrome/dialect.h"
#include "import/chrome/pairs.h"
#include "import/chrome/tracks.h"
#include "trace/builder.h"

namespace opscope {

struct ChromeStep {
  int64_t number = 0;
  StringId name = StringId::kEmpty;
  AddedSpan span = AddedSpan::kNone;
};

// Problem rows of one kind.
struct ChromeProblem {
  const char* kind = "";
  int64_t first_offset = 0;
  uint64_t count = 0;
};

// Adds to the problem of the same kind, if there is one.
void CountProblem(const ChromeProblem& problem, std::vector<ChromeProblem>* problems);

inline constexpr char kLostMember[] = "lost_member";

// Names of event members for which a Trace has no column: the first few, in the order of the file.
class LostMembers {
 public:
  void Add(std::string_view name);
  void Add(const LostMembers& later);
  void Clear() { names_.clear(), has_more_ = false; }
  std::string Text() const;  // "tts, tdur, ..."

 private:
  static constexpr size_t kMaxNames = 8;
  std::vector<std::string> names_;
  bool has_more_ = false;
};

struct ChromePart {
  TextInterner texts;   // 0 is ""; views into the block that the part was read from, and copies
  TextInterner lists;   // the four texts of argument lists (ListTextsOf), by the ArgsId of `spans`
  TextInterner stacks;  // JSON text, by the StackId of `spans`
  ChromePartTracks tracks{&texts};

  // StringId, TrackId, ArgsId, StackId and AddedSpan are ids of this part.
  // In the order of the file, which decides the nesting of equal intervals. A begin ("B") reserves its row here, which
  // ChromePairs fills when the end is known.
  std::vector<SpanRow> spans;
  std::vector<InstantRow> instants;
  std::vector<CounterRow> counters;
  std::vector<AllocationRow> allocations;
  std::vector<PythonCallRow> python_calls;
  std::vector<ChromeStep> steps;
  std::vector<ChromePairs::Half> halves;
  std::vector<ChromePairs::AsyncHalf> async_halves;
  std::vector<ChromePairs::FlowPoint> flow_points;
  AddedSpan last_complete = AddedSpan::kNone;  // of spans, the last "X"
  size_t flows_before_complete = 0;            // of flow_points, those before the first "X"
  std::vector<ChromeProblem> problems;
  LostMembers lost_members;
  uint64_t recorded = 0;
  ChromeDialects::EvidenceOfEach evidence{};

  StringId Intern(std::string_view text) { return static_cast<StringId>(texts.Add(text)); }
  StringId InternView(std::string_view text) { return static_cast<StringId>(texts.AddView(text)); }
  std::string_view text(StringId id) const { return texts.text(Row(id)); }
  void AddProblem(const char* kind, uint64_t offset, uint64_t count = 1) {
    CountProblem({kind, static_cast<int64_t>(offset), count}, &problems);
  }
  void Clear();
  uint64_t memory_bytes() const;
};

}  // namespace opscope
