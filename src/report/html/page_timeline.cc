// The timeline of a page: tracks, kept spans, blocks of left-out spans, and what belongs to kept spans: arguments, call
// stacks, flows. All columns of kept spans are in the order of the trace, which has the spans of a track in pre-order.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/json_members.h"
#include "base/json_object.h"
#include "base/saturating.h"
#include "opscope/analysis/contents.h"
#include "report/html/integer_column.h"
#include "report/html/page_parts.h"

namespace opscope {
namespace {

using NamedColumns = std::span<const std::pair<std::string_view, const IntegerColumn*>>;

void AppendColumnMembers(NamedColumns columns, JsonObject* object) {
  for (const auto& [key, column] : columns)
    column->AppendJson(&object->Key(key));
}

std::string_view TrackKindText(TrackKind kind) {
  return kind == TrackKind::kThread ? "thread" : kind == TrackKind::kDeviceStream ? "stream" : "other";
}

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

  void Write() {
    AppendTracks();
    AppendKept();
    AppendFolded();
    AppendArguments();
    AppendStacks();
    AppendFlows();
    AppendPageMarks(trace_, marks_, numbers_, strings_, out_);
    JsonMemberWriter(out_)
        .Uint("left_out_tracks", levels_.left_out_tracks)
        .Uint("left_out_spans", levels_.left_out_spans);
  }

 private:
  // Tracks with spans in the order of the trace, and behind them those that have only ranges or points.
  void AppendTracks() {
    const TrackColumns& tracks = trace_.tracks();
    const std::vector<ListedThread> listed = ListTracks(trace_);
    const std::vector<std::string> ids = DistinctTrackIds(listed);
    numbers_.assign(tracks.size(), UINT32_MAX);
    uint32_t count = 0;
    JsonMemberWriter(out_).Key("tracks").append("[");
    const auto append = [&](uint32_t track, size_t kept, uint32_t rows) {
      if (count > 0) *out_ += ",\n";
      numbers_[track] = count++;
      JsonObject object(out_);
      object.Text("id", Cut(ids[track])).Text("title", Cut(listed[track].name));
      object.Text("group", tracks.process[track] == ProcessId::kNone ? std::string()
                                                                     : Cut(ProcessText(trace_, tracks.process[track])));
      object.Text("kind", TrackKindText(listed[track].kind)).Int("rank", listed[track].rank);
      object.Uint("spans", listed[track].spans).Uint("kept", kept);
      object.Uint("rows", rows).Uint("mark_rows", marks_.ranges.lines[track] + marks_.points.lines[track]);
      object.Close();
    };
    size_t kept = 0;
    for (const uint32_t track : levels_.tracks) {
      const size_t first = kept, end = size_t{tracks.first_span[track]} + tracks.span_count[track];
      while (kept < levels_.kept.size() && levels_.kept[kept] < end)
        ++kept;
      append(track, kept - first, RowsOf(track, first, kept));
    }
    size_t room = limits_.levels.max_tracks;
    for (uint32_t track = 0; track < tracks.size() && room > 0; ++track) {
      const bool has_marks = marks_.ranges.lines[track] + marks_.points.lines[track] > 0;
      if (!has_marks || tracks.span_count[track] > 0) continue;
      append(track, 0, 0);
      --room;
    }
    *out_ += ']';
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

  // A name of a track is no longer than what a page shows in a line.
  static std::string Cut(std::string text) {
    constexpr size_t kLongest = 1000;
    if (text.size() <= kLongest) return text;
    size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      --end;
    return text.substr(0, end) + "\xe2\x80\xa6";
  }

  void AppendKept() {
    const SpanColumns& spans = trace_.spans();
    IntegerColumn start(IntegerColumn::kDeltas), duration, covered, depth(IntegerColumn::kDeltas), name, category;
    for (size_t i = 0; i < levels_.kept.size(); ++i) {
      const uint32_t span = levels_.kept[i];
      start.Add(spans.start[span].ns);
      duration.Add(spans.duration[span].ns);
      covered.Add(levels_.covered_ns[i]);
      depth.Add(levels_.row[i]);
      name.Add(strings_->Of(spans.name[span]));
      category.Add(strings_->Of(spans.category[span]));
    }
    JsonObject object(&JsonMemberWriter(out_).Key("kept"));
    const std::pair<std::string_view, const IntegerColumn*> columns[] = {
        {"start", &start}, {"duration", &duration}, {"covered", &covered},
        {"depth", &depth}, {"name", &name},         {"category", &category}};
    AppendColumnMembers(columns, &object);
    object.Close();
  }

  void AppendFolded() {
    IntegerColumn track, depth, start(IntegerColumn::kDeltas), duration, count;
    size_t number = 0;  // of the track among those that the page has
    for (const FoldedSpans& block : levels_.folded) {
      while (levels_.tracks[number] != block.track)
        ++number;
      track.Add(static_cast<int64_t>(number));
      depth.Add(block.row);
      start.Add(block.start_ns);
      duration.Add(block.duration_ns);
      count.Add(static_cast<int64_t>(block.count));
    }
    JsonObject object(&JsonMemberWriter(out_).Key("folded"));
    object.Uint("spans", levels_.folded_spans);
    const std::pair<std::string_view, const IntegerColumn*> columns[] = {
        {"track", &track}, {"depth", &depth}, {"start", &start}, {"duration", &duration}, {"count", &count}};
    AppendColumnMembers(columns, &object);
    object.Close();
  }

  // Positions of kept spans, the longest span first: what does not fit lacks at the shortest ones.
  std::vector<uint32_t> ByLength() const {
    const SpanColumns& spans = trace_.spans();
    std::vector<uint32_t> order(levels_.kept.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return spans.duration[levels_.kept[a]] > spans.duration[levels_.kept[b]];
    });
    return order;
  }

  struct ArgumentRow {
    uint32_t kept, key, value;
  };

  void AppendArguments() {
    std::vector<ArgumentRow> rows;
    uint64_t left_out = 0;
    // A row costs some bytes in the columns besides its texts.
    constexpr size_t kRowBytes = 4;
    const size_t before = strings_->bytes();
    if (results_.append_arguments) {
      std::string members, key;
      for (const uint32_t kept : ByLength()) {
        members.clear();
        results_.append_arguments(levels_.kept[kept], &members);
        if (members.empty()) continue;
        if (strings_->bytes() - before + rows.size() * kRowBytes > limits_.argument_bytes) {
          ++left_out;
          continue;
        }
        ForEachJsonMember(members, [&](std::string_view quoted, std::string_view value) {
          rows.push_back({kept, strings_->Of(DecodeKey(quoted, &key)), strings_->Of(value)});
          return true;
        });
      }
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const ArgumentRow& a, const ArgumentRow& b) { return a.kept < b.kept; });
    IntegerColumn span(IntegerColumn::kDeltas), keys, values;
    for (const ArgumentRow& row : rows) {
      span.Add(row.kept);
      keys.Add(row.key);
      values.Add(row.value);
    }
    JsonObject object(&JsonMemberWriter(out_).Key("arguments"));
    const std::pair<std::string_view, const IntegerColumn*> columns[] = {
        {"span", &span}, {"key", &keys}, {"value", &values}};
    AppendColumnMembers(columns, &object);
    object.Uint("left_out", left_out);
    object.Close();
  }

  // A key between its quotes as a text; keys with escapes are rare and stay as they are spelt, but for quotes.
  static std::string_view DecodeKey(std::string_view quoted, std::string* key) {
    if (quoted.find('\\') == quoted.npos) return quoted;
    key->clear();
    for (size_t at = 0; at < quoted.size(); ++at) {
      const bool is_escape = quoted[at] == '\\' && at + 1 < quoted.size() &&
                             (quoted[at + 1] == '"' || quoted[at + 1] == '\\' || quoted[at + 1] == '/');
      if (is_escape) ++at;
      *key += quoted[at];
    }
    return *key;
  }

  void AppendStacks() {
    IntegerColumn span(IntegerColumn::kDeltas), stack;
    uint64_t left_out = 0;
    if (trace_.stacks().size() > 0) {
      std::vector<std::pair<uint32_t, uint32_t>> rows;
      std::unordered_map<uint32_t, uint32_t> numbers;  // of texts, by StackId
      const size_t before = strings_->bytes();
      for (const uint32_t kept : ByLength()) {
        const StackId id = trace_.spans().stack[levels_.kept[kept]];
        if (id == StackId::kNone) continue;
        auto found = numbers.find(Row(id));
        const bool has_room = strings_->bytes() - before + 4 * rows.size() <= limits_.stack_bytes;
        if (!has_room) {
          ++left_out;
          continue;
        }
        if (found == numbers.end()) found = numbers.emplace(Row(id), strings_->Of(PageStackText(trace_, id))).first;
        rows.emplace_back(kept, found->second);
      }
      std::sort(rows.begin(), rows.end());
      for (const auto& [kept, number] : rows) {
        span.Add(kept);
        stack.Add(number);
      }
    }
    JsonObject object(&JsonMemberWriter(out_).Key("stacks"));
    const std::pair<std::string_view, const IntegerColumn*> columns[] = {{"span", &span}, {"stack", &stack}};
    AppendColumnMembers(columns, &object);
    object.Uint("left_out", left_out);
    object.Close();
  }

  void AppendFlows() {
    IntegerColumn kind, from(IntegerColumn::kDeltas), to(IntegerColumn::kDeltas);
    const auto number_of = [&](uint32_t span) {
      const auto found = std::lower_bound(levels_.kept.begin(), levels_.kept.end(), span);
      return found != levels_.kept.end() && *found == span ? found - levels_.kept.begin() : -1;
    };
    for (const TimelineFlow& flow : results_.flows) {
      if (kind.size() >= limits_.flows) break;
      const ptrdiff_t begin = number_of(flow.from), end = number_of(flow.to);
      if (begin < 0 || end < 0) continue;
      kind.Add(static_cast<int64_t>(flow.kind));
      from.Add(begin);
      to.Add(end);
    }
    JsonObject object(&JsonMemberWriter(out_).Key("flows"));
    const std::pair<std::string_view, const IntegerColumn*> columns[] = {{"kind", &kind}, {"from", &from}, {"to", &to}};
    AppendColumnMembers(columns, &object);
    object.Uint("left_out", results_.flows.size() - kind.size());
    object.Close();
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
  std::unordered_map<uint32_t, uint64_t> counts;
  for (const OpSummaryRow& row : results.operators.rows)
    counts[Row(row.name)] += row.count;
  std::vector<NameCount> names;
  for (const auto& [name, count] : counts)
    names.push_back({static_cast<StringId>(name), count});
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
    const std::pair<std::string_view, const IntegerColumn*> columns[] = {{"name", &name}, {"count", &count}};
    AppendColumnMembers(columns, &object);
    object.Uint("left_out", names.size() - most).Uint("left_out_spans", spans);
    object.Close();
    const size_t bytes = out->size() - begin + strings->late_bytes();
    if (bytes <= max_bytes || most == 0) break;
    most = std::min(most / 2, most * max_bytes / bytes);
    strings->TakeBack();
    out->resize(begin);
  }
  strings->Keep();
}

}  // namespace opscope
