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

// Every event begins with a separator; the first of a file drops its comma.
inline constexpr std::string_view kNext = ",\n";
// More than the fixed text and the numbers of any event.
inline constexpr size_t kFixedRoom = 640;

inline bool HasMember(std::string_view members, std::string_view quoted_key) {
  return !members.empty() && members.find(quoted_key) != std::string_view::npos;
}

class ChromeRowWriter {
 public:
  // only_categories: as in ChromeExportOptions.
  ChromeRowWriter(const Trace& trace, const ChromePlan& plan, const ChromePieces& pieces,
                  const std::optional<std::vector<std::string>>& only_categories = {});

  // `follows`: an event stands before, so the first one starts with a comma.
  void WriteBlock(const ChromeBlock& block, bool follows, ChromeBuffer* out) const;

 private:
  // What neighbours mostly share: the text before the name, and that behind it.
  struct SpanFrame {
    bool is_set = false;
    StringId category = StringId::kNone;
    TrackId track = TrackId::kNone;
    const ChromeLane* lane = nullptr;
    std::string before_name, after_name;
    bool is_python = false;
    size_t next_call = 0;  // of python_calls, where the one of the next span mostly stands
    StackId stack = StackId::kNone;
    std::string call_stack;  // the member for `stack`
    std::string own_members, extra_text;
    AppendSpanMembers append_members;  // of framework_members_
  };

  // Members of "args" that are texts already, those that are empty are not there.
  struct SpanTexts {
    std::string_view values, stack, dims, own, extra;
  };

  bool IsWritten(StringId category) const;
  // Of a flow whose id is more than a number: the members that say it.
  std::string IdMembers(uint32_t flow) const;
  void WriteSpans(const ChromeBlock& block, ChromeBuffer* out) const;
  void SetFrame(StringId category, TrackId track, const ChromeLane* lane, SpanFrame* frame) const;
  void WriteSpan(size_t place, SpanFrame* frame, ChromeBuffer* out) const;
  // Nothing when there are none.
  void WriteArguments(size_t place, const SpanTexts& texts, SpanFrame* frame, ChromeCursor* at) const;
  // The member "Call stack", "" without one; valid until the next call.
  std::string_view CallStack(StackId stack, SpanFrame* frame) const;
  // Those of chrome_own_members.h and what MegEngine's timeline says of a span; `overload` is escaped. Valid until the
  // next call.
  std::string_view OwnMembers(uint32_t span, std::string_view overload, SpanFrame* frame) const;
  // What a row says beyond its columns, as members of JSON; valid until the next call.
  std::string_view Extra(StringId extra, std::string* scratch) const;
  // The row of python_calls for a span of the frame's category, or their number.
  size_t PythonCallOf(uint32_t span, SpanFrame* frame) const;
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
  const FrameworkMembers framework_members_;  // null: none beside the columns
  bool writes_all_ = true;
  std::vector<StringId> written_;  // the categories, otherwise
};

}  // namespace opscope
