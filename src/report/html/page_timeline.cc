// The timeline of a page: tracks, kept spans, blocks of left-out spans, and what belongs to kept spans: arguments, call
// stacks, flows. All columns of kept spans are in the order of the trace, which has the spans of a track in pre-order.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "base/thread_team.h"
#include "opscope/analysis/contents.h"
#include "report/html/integer_column.h"
#include "report/html/page_arguments.h"
#include "report/html/page_parts.h"
#include "report/html/span_columns.h"

namespace opscope {
namespace {

class SpansWriter {
 public:
  SpansWriter(const PageResults& results, const TimelineLimits& limits, PageStrings* strings, std::string* out)
      : results_(results),
        trace_(*results.trace),
        limits_(limits),
        levels_(results.timeline->Choose(limits.levels)),
        marks_{ChooseAsyncRanges(trace_, limits.ranges), ChooseInstants(trace_, limits.points)},
        strings_(strings),
        out_(out) {}

  // Columns are collected first, as texts get their numbers in a fixed order, then compressed by several threads.
  // Arguments, which take longest, are collected beside the columns of spans.
  void Write() {
    constexpr size_t kSpansWorthAThread = 20'000;
    std::optional<PageArguments> collected;
    ThreadTeam team(levels_.kept.size() < kSpansWorthAThread ? 1 : std::min<size_t>(2, DefaultThreadCount()));
    team.ForEach(2, [&](size_t task, size_t) {
      if (task == 0) {
        collected.emplace(results_, levels_.kept, limits_.argument_bytes);
      } else {
        kept_.Add(trace_, levels_, strings_);
        folded_.Add(levels_);
      }
    });
    PageArguments& arguments = *collected;
    arguments.AddTexts(strings_);
    const ColumnsByKey kept = kept_.ByKey(), folded = folded_.ByKey(), stacks = CollectStacks(), flows = CollectFlows();
    std::vector<IntegerColumn*> columns;
    for (const ColumnsByKey& part : {kept, folded, stacks, flows}) {
      for (const auto& [key, column] : part)
        columns.push_back(column);
    }
    arguments.AddColumns(&columns);
    CompressColumns(std::move(columns));
    AppendTracks();
    AppendObject("kept", kept, {});
    AppendObject("folded", folded, {"spans", levels_.folded_spans}, {"longest_ns", levels_.longest_folded_ns});
    arguments.AppendJson(&JsonMemberWriter(out_).Key("arguments"));
    AppendObject("stacks", stacks, {"left_out", stacks_left_out_});
    AppendObject("flows", flows, {"left_out", results_.flows.size() - flow_kind_.size()});
    AppendPageMarks(trace_, marks_, numbers_, strings_, out_);
    JsonMemberWriter(out_)
        .Uint("left_out_tracks", levels_.left_out_tracks)
        .Uint("left_out_spans", levels_.left_out_spans);
  }

 private:
  // With a number and a time, unless their keys are "".
  void AppendObject(std::string_view name, const ColumnsByKey& columns, std::pair<std::string_view, uint64_t> number,
                    std::pair<std::string_view, int64_t> time = {}) {
    JsonObject object(&JsonMemberWriter(out_).Key(name));
    for (const auto& [key, column] : columns)
      column->AppendJson(&object.Key(key));
    if (!number.first.empty()) object.Uint(number.first, number.second);
    if (!time.first.empty()) AppendPageInteger(time.second, &object.Key(time.first));
    object.Close();
  }

  // Tracks with spans in the order of the trace, and behind them those that have only ranges or points.
  void AppendTracks() {
    const TrackColumns& tracks = trace_.tracks();
    const std::vector<ListedThread> listed = ListTracks(trace_);
    const std::vector<std::string> ids = DistinctTrackIds(listed);
    numbers_.assign(tracks.size(), UINT32_MAX);
    uint32_t count = 0;
    JsonMemberWriter(out_).Key("tracks").append("[");
    // `kept`: positions of its kept spans.
    const auto append = [&](uint32_t track, std::pair<size_t, size_t> kept) {
      if (count > 0) *out_ += ",\n";
      numbers_[track] = count++;
      JsonObject object(out_);
      AppendTrackMembers(trace_, track, listed[track], ids[track], &object);
      object.Uint("kept", kept.second - kept.first).Uint("async", AsyncOf(kept.first, kept.second));
      object.Uint("rows", RowsOf(track, kept.first, kept.second)).Uint("mark_rows", MarkRowsOf(track));
      object.Close();
    };
    size_t kept = 0;
    for (const uint32_t track : levels_.tracks) {
      const size_t first = kept, end = size_t{tracks.first_span[track]} + tracks.span_count[track];
      while (kept < levels_.kept.size() && levels_.kept[kept] < end)
        ++kept;
      append(track, {first, kept});
    }
    size_t room = limits_.levels.max_tracks;
    for (uint32_t track = 0; track < tracks.size() && room > 0; ++track) {
      if (MarkRowsOf(track) == 0 || tracks.span_count[track] > 0) continue;
      append(track, {kept, kept});
      --room;
    }
    *out_ += ']';
  }

  uint32_t MarkRowsOf(uint32_t track) const { return marks_.ranges.lines[track] + marks_.points.lines[track]; }

  // Asynchronous ones among the kept spans [first, end) of a track: the last ones.
  size_t AsyncOf(size_t first, size_t end) const {
    size_t from = end;
    while (from > first && (trace_.spans().flags[levels_.kept[from - 1]] & span_flags::kAsync) != 0)
      --from;
    return end - from;
  }

  // Greatest row + 1 among the kept spans [first, end) and the blocks of the track.
  uint32_t RowsOf(uint32_t track, size_t first, size_t end) {
    uint32_t rows = 0;
    for (size_t i = first; i < end; ++i)
      rows = std::max(rows, levels_.row[i] + 1);
    for (; block_ < levels_.folded.size() && levels_.folded[block_].track == track; ++block_)
      rows = std::max(rows, levels_.folded[block_].row + 1);
    return rows;
  }

  // Positions of kept spans, the longest span first, so that the shortest ones lack what does not fit.
  std::vector<uint32_t> ByLength() const {
    const SpanColumns& spans = trace_.spans();
    std::vector<uint32_t> order(levels_.kept.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return spans.duration[levels_.kept[a]] > spans.duration[levels_.kept[b]];
    });
    return order;
  }

  ColumnsByKey CollectStacks() {
    ColumnsByKey columns = {{"span", &stack_span_}, {"stack", &stack_}};
    if (trace_.stacks().size() == 0) return columns;
    std::vector<std::pair<uint32_t, uint32_t>> rows;
    std::unordered_map<uint32_t, uint32_t> numbers;  // of texts, by StackId
    const size_t before = strings_->bytes();
    for (const uint32_t kept : ByLength()) {
      const StackId id = trace_.spans().stack[levels_.kept[kept]];
      if (id == StackId::kNone) continue;
      auto found = numbers.find(Row(id));
      if (strings_->bytes() - before + 4 * rows.size() > limits_.stack_bytes) {
        ++stacks_left_out_;
        continue;
      }
      if (found == numbers.end()) found = numbers.emplace(Row(id), strings_->Of(PageStackText(trace_, id))).first;
      rows.emplace_back(kept, found->second);
    }
    std::sort(rows.begin(), rows.end());
    for (const auto& [kept, number] : rows) {
      stack_span_.Add(kept);
      stack_.Add(number);
    }
    return columns;
  }

  ColumnsByKey CollectFlows() {
    // As long as all spans are kept, a span's number is its row.
    const bool keeps_all = levels_.kept.size() == trace_.spans().size();
    const auto number_of = [&](uint32_t span) -> ptrdiff_t {
      if (keeps_all) return span;
      const auto found = std::lower_bound(levels_.kept.begin(), levels_.kept.end(), span);
      return found != levels_.kept.end() && *found == span ? found - levels_.kept.begin() : -1;
    };
    for (const TimelineFlow& flow : results_.flows) {
      if (flow_kind_.size() >= limits_.flows) break;
      const ptrdiff_t begin = number_of(flow.from), end = number_of(flow.to);
      if (begin < 0 || end < 0) continue;
      flow_kind_.Add(static_cast<int64_t>(flow.kind));
      flow_from_.Add(begin);
      flow_to_.Add(end);
    }
    return {{"kind", &flow_kind_}, {"from", &flow_from_}, {"to", &flow_to_}};
  }

  const PageResults& results_;
  const Trace& trace_;
  const TimelineLimits& limits_;
  const TimelineLevels levels_;
  const PageMarks marks_;
  std::vector<uint32_t> numbers_;  // by track: its number in the page; UINT32_MAX: it is left out
  PageStrings* strings_;
  std::string* out_;
  size_t block_ = 0;  // the next of levels_.folded
  uint64_t stacks_left_out_ = 0;
  PageSpanColumns kept_;
  PageBlockColumns folded_;
  IntegerColumn stack_span_{IntegerColumn::kDeltas}, stack_;
  IntegerColumn flow_kind_, flow_from_{IntegerColumn::kDeltas}, flow_to_{IntegerColumn::kDeltas};
};

struct NameCount {
  StringId name = StringId::kEmpty;
  uint64_t count = 0;
};

}  // namespace

std::string PageStackText(const Trace& trace, StackId stack) {
  std::vector<StringId> frames;
  constexpr size_t kMaxFrames = 1000;
  for (; stack != StackId::kNone && frames.size() < kMaxFrames; stack = trace.stacks().caller[Row(stack)])
    frames.push_back(trace.frames().text[Row(trace.stacks().frame[Row(stack)])]);
  std::string text;
  for (size_t i = frames.size(); i-- > 0;)
    text.append(trace.text(frames[i])).append(i == 0 ? "" : "\n");
  return text;
}

void AppendPageSpans(const PageResults& results, const TimelineLimits& limits, PageStrings* strings, std::string* out) {
  SpansWriter(results, limits, strings, out).Write();
}

void AppendPageNames(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out) {
  // Not of the summary, which has all steps under one name.
  std::vector<uint64_t> counts(results.trace->string_count(), 0);
  for (const StringId name : results.trace->spans().name)
    ++counts[Row(name) < counts.size() ? Row(name) : Row(StringId::kEmpty)];  // a damaged file's has no text
  std::vector<NameCount> names;
  for (size_t name = 0; name < counts.size(); ++name)
    if (counts[name] > 0) names.push_back({static_cast<StringId>(name), counts[name]});
  std::sort(names.begin(), names.end(), [](const NameCount& a, const NameCount& b) {
    return a.count != b.count ? a.count > b.count : Row(a.name) < Row(b.name);
  });
  const size_t begin = out->size();
  for (size_t most = names.size();;) {
    IntegerColumn name, count;
    uint64_t spans = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      if (i >= most) {
        spans += names[i].count;
        continue;
      }
      name.Add(strings->Of(names[i].name));
      count.Add(static_cast<int64_t>(names[i].count));
    }
    JsonObject object(&JsonMemberWriter(out).Key("names"));
    name.AppendJson(&object.Key("name"));
    count.AppendJson(&object.Key("count"));
    object.Uint("left_out", names.size() - most).Uint("left_out_spans", spans);
    object.Close();
    const size_t bytes = out->size() - begin + strings->uncommitted_bytes();
    if (bytes <= max_bytes || most == 0) break;
    most = std::min(most / 2, most * max_bytes / bytes);
    strings->RollBack();
    out->resize(begin);
  }
  strings->Commit();
}

}  // namespace opscope
