// A call's number is its rank in the order of starts over all threads, as in torch. Its caller is the innermost call
// around it on its thread; operators between the two (a Python function called by an operator) do not matter. Callers
// precede their callees, so one pass over the rows finds them.
// SPDX-License-Identifier: Apache-2.0
#include "trace/python_calls.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>
#include <vector>

#include "trace/nesting.h"

namespace opscope {
namespace {

constexpr uint32_t kNone = 0xffffffff;

// Returns 3 for "nn.Module: Linear_3", -1 for a name without a number.
int32_t ModuleId(std::string_view name) {
  const size_t line = name.rfind('_');
  if (line == std::string_view::npos) return -1;
  int32_t id = -1;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + line + 1, end, id);
  return error == std::errc() && stop == end ? id : -1;
}

class CallNumbering {
 public:
  CallNumbering(TraceStorage* storage, StringId category) : storage_(*storage), category_(category) {}

  void Run(bool fill_stacks) {
    ListCalls();
    std::vector<uint32_t> order(rows_.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto starts_before = [&](uint32_t a, uint32_t b) {
      return storage_.spans.start[rows_[a]] < storage_.spans.start[rows_[b]];
    };
    if (!std::is_sorted(order.begin(), order.end(), starts_before)) {
      std::stable_sort(order.begin(), order.end(), starts_before);
    }
    std::vector<uint32_t> id(rows_.size());
    for (uint32_t rank = 0; rank < order.size(); ++rank)
      id[order[rank]] = rank + 1;
    std::vector<int32_t> thread_of(storage_.tracks.process.size(), -1);
    int32_t threads = 0;
    for (size_t call = 0; call < rows_.size(); ++call) {
      int32_t& thread = thread_of[Row(storage_.spans.track[rows_[call]])];
      if (thread < 0) thread = threads++;
      storage_.python_calls.Add({.span = AddedSpan{rows_[call]},
                                 .id = id[call],
                                 .caller = caller_[call] == kNone ? 0 : id[caller_[call]],
                                 .module_id = ModuleIdOf(rows_[call]),
                                 .thread = fill_stacks ? thread : -1});
    }
    if (fill_stacks) FillStacks();
  }

 private:
  int32_t ModuleIdOf(uint32_t row) const {
    const SpanTable& spans = storage_.spans;
    return spans.kind[row] == SpanKind::kModule ? ModuleId(storage_.strings.text(spans.name[row])) : -1;
  }

  // Calls of a thread nest, but ranges may cross them, so only calls are on the stack.
  void ListCalls() {
    const SpanTable& spans = storage_.spans;
    TrackId track = TrackId::kNone;
    open_.clear();
    for (uint32_t row = 0; row < spans.size(); ++row) {
      if (spans.category[row] != category_) continue;
      if (spans.track[row] != track) open_.clear();
      track = spans.track[row];
      const int64_t end = EndOf(spans.start[row], spans.duration[row]);
      PopBefore(spans.start[row].ns, end);
      caller_.push_back(open_.empty() ? kNone : open_.back().call);
      open_.push_back({static_cast<uint32_t>(rows_.size()), end});
      rows_.push_back(row);
    }
  }

  // A span gets the calls around its start, wherever it ends: a range of a `with` block starts in __enter__.
  void FillStacks() {
    StackIndex& index = storage_.stack_index;
    SpanTable& spans = storage_.spans;
    inside_.resize(rows_.size());
    for (size_t call = 0; call < rows_.size(); ++call) {
      const StackId around = caller_[call] == kNone ? StackId::kNone : inside_[caller_[call]];
      const FrameId frame = index.AddFrame(spans.name[rows_[call]], &storage_.frames);
      inside_[call] = index.AddStack(frame, around, &storage_.stacks);
      SetStack(rows_[call], around);
    }
    for (size_t row = 0, call = 0; row < spans.size();) {
      size_t end = row;
      while (end < spans.size() && spans.track[end] == spans.track[row])
        ++end;
      size_t async = row;  // async spans follow the nested ones and are sorted separately
      while (async < end && (spans.flags[async] & span_flags::kAsync) == 0)
        ++async;
      const size_t first_call = call;
      FillRun(row, async, first_call, end);
      call = FillRun(async, end, first_call, end);
      row = end;
    }
  }

  // Fills the stacks of the spans [row, end), sorted by start. The calls of their track are those from first_call to the
  // one before row `last`. Returns the first call of the next track.
  size_t FillRun(size_t row, size_t end, size_t first_call, size_t last) {
    const SpanTable& spans = storage_.spans;
    open_.clear();
    size_t call = first_call;
    for (; row < end; ++row) {
      for (; call < rows_.size() && rows_[call] < last && BeginsBefore(call, row); ++call) {
        const int64_t call_end = EndOf(spans.start[rows_[call]], spans.duration[rows_[call]]);
        PopBefore(spans.start[rows_[call]].ns, call_end);
        open_.push_back({static_cast<uint32_t>(call), call_end});
      }
      if (spans.category[row] == category_) continue;
      PopBefore(spans.start[row].ns, INT64_MIN);
      if (!open_.empty()) SetStack(static_cast<uint32_t>(row), inside_[open_.back().call]);
    }
    while (call < rows_.size() && rows_[call] < last)
      ++call;
    return call;
  }

  bool BeginsBefore(size_t call, size_t row) const {
    const Timestamp begin = storage_.spans.start[rows_[call]], start = storage_.spans.start[row];
    return begin < start || (begin == start && rows_[call] < row);
  }

  // Pops the calls that end by `start` or before `end`.
  void PopBefore(int64_t start, int64_t end) {
    while (!open_.empty() && (open_.back().end <= start || open_.back().end < end))
      open_.pop_back();
  }

  void SetStack(uint32_t row, StackId stack) {
    if (storage_.spans.stack[row] == StackId::kNone) storage_.spans.stack.Set(row, stack);
  }

  struct OpenCall {
    uint32_t call;
    int64_t end;
  };
  TraceStorage& storage_;
  StringId category_;
  std::vector<uint32_t> rows_;    // by call: the row of its span
  std::vector<uint32_t> caller_;  // by call: the calling call, or kNone
  std::vector<StackId> inside_;   // by call: the stack of its callees
  std::vector<OpenCall> open_;    // the calls around the current span
};

}  // namespace

void NumberPythonCalls(TraceStorage* storage, bool fill_stacks) {
  const auto category = storage->strings.Find("python_function");
  if (!category) return;
  CallNumbering(storage, *category).Run(fill_stacks);
}

}  // namespace opscope
