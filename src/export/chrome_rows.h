// Formats the rows of one block as Kineto's events, one event per line.
//
// Thread rule: any thread; buffers are the caller's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "export/chrome_buffer.h"
#include "export/chrome_own_members.h"
#include "export/chrome_pieces.h"
#include "export/chrome_plan.h"
#include "export/framework_members.h"
#include "opscope/trace.h"

namespace opscope {

// The separator before every event. The first event of a file replaces its comma by a space.
inline constexpr std::string_view kNext = ",\n";
// Upper bound in bytes for the fixed text and the numbers of any event.
inline constexpr size_t kFixedRoom = 640;

inline bool HasMember(std::string_view members, std::string_view quoted_key) {
  return !members.empty() && members.find(quoted_key) != std::string_view::npos;
}

class ChromeRowWriter {
 public:
  // only_categories: as in ChromeExportOptions.
  ChromeRowWriter(const Trace& trace, const ChromePlan& plan, const ChromePieces& pieces,
                  const std::optional<std::vector<std::string>>& only_categories = {});

  // `follows`: events precede the block, so that its first event needs the comma.
  void WriteBlock(const ChromeBlock& block, bool follows, ChromeBuffer* out) const;

 private:
  // Cached text of the previous span: neighbours mostly share category and track, so the text around the name is
  // reused.
  struct SpanFrame {
    bool is_set = false;
    StringId category = StringId::kNone;
    TrackId track = TrackId::kNone;
    const ChromeLane* lane = nullptr;
    std::string before_name, after_name;
    bool is_python = false;
    size_t next_call = 0;  // guess: row of python_calls for the next span
    StackId stack = StackId::kNone;
    std::string call_stack;  // the member for `stack`
    std::string own_members, extra_text;
    AppendSpanMembers append_members;  // of framework_members_
  };

  // Members of "args" that are already rendered; empty ones are omitted.
  struct SpanTexts {
    std::string_view values, stack, dims, own, extra;
  };

  bool IsWritten(StringId category) const;
  // The members for a flow id that has a scope or is local to a process.
  std::string IdMembers(uint32_t flow) const;
  void WriteSpans(const ChromeBlock& block, ChromeBuffer* out) const;
  void SetFrame(StringId category, TrackId track, const ChromeLane* lane, SpanFrame* frame) const;
  void WriteSpan(size_t place, SpanFrame* frame, ChromeBuffer* out) const;
  // Writes the "args" object, or nothing if it would be empty.
  void WriteArguments(size_t place, const SpanTexts& texts, SpanFrame* frame, ChromeCursor* at) const;
  // The member "Call stack", "" without one; valid until the next call.
  std::string_view CallStack(StackId stack, SpanFrame* frame) const;
  // The members of chrome_own_members.h and those of the framework; `overload` is escaped. Valid until the next call.
  std::string_view OwnMembers(uint32_t span, std::string_view overload, SpanFrame* frame) const;
  // The extra members of a row; valid until the next call with the same scratch.
  std::string_view Extra(StringId extra, std::string* scratch) const;
  void WriteFlowEnd(const ChromeFlowEnd& end, ChromeBuffer* out) const;
  void WriteAllocation(size_t row, SpanFrame* frame, ChromeBuffer* out) const;
  void WriteInstant(uint32_t row, ChromeBuffer* out) const;
  void WriteCounters(ChromeBuffer* out) const;
  void WriteAsyncSpan(size_t row, ChromeBuffer* out) const;
  void WriteTraceSpan(ChromeBuffer* out) const;
  void WriteSpansOrder(ChromeBuffer* out) const;
  void WriteWindowInstants(ChromeBuffer* out) const;

  const Trace& trace_;
  const ChromePlan& plan_;
  const ChromePieces& pieces_;
  const OwnStepNumbers step_numbers_;
  const FrameworkMembers framework_members_;  // null: the framework adds no members
  bool writes_all_ = true;
  std::vector<StringId> written_;  // the categories to write if !writes_all_
};

}  // namespace opscope
