// Writes a window of the timeline in the columns of the data document, so that the page reads both by the same code.
// Tracks carry only their number: names and counts of all tracks are in the data document.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/json_object.h"
#include "opscope/report/timeline_window.h"
#include "report/html/integer_column.h"
#include "report/html/page_strings.h"

namespace opscope {
namespace {

constexpr size_t kLongestText = 10'000;

void AppendWindowKept(const Trace& trace, const TimelineLevels& levels, PageStrings* strings, std::string* out) {
  const SpanColumns& spans = trace.spans();
  IntegerColumn row(IntegerColumn::kDeltas), start(IntegerColumn::kDeltas), duration, covered,
      depth(IntegerColumn::kDeltas), name, category;
  for (size_t i = 0; i < levels.kept.size(); ++i) {
    const uint32_t span = levels.kept[i];
    row.Add(span);
    start.Add(spans.start[span].ns);
    duration.Add(spans.duration[span].ns);
    covered.Add(levels.covered_ns[i]);
    depth.Add(levels.row[i]);
    name.Add(strings->Of(spans.name[span]));
    category.Add(strings->Of(spans.category[span]));
  }
  JsonObject object(out);
  row.AppendJson(&object.Key("row"));
  start.AppendJson(&object.Key("start"));
  duration.AppendJson(&object.Key("duration"));
  covered.AppendJson(&object.Key("covered"));
  depth.AppendJson(&object.Key("depth"));
  name.AppendJson(&object.Key("name"));
  category.AppendJson(&object.Key("category"));
  object.Close();
}

void AppendWindowFolded(const TimelineLevels& levels, std::string* out) {
  IntegerColumn track, depth, start(IntegerColumn::kDeltas), duration, count;
  size_t number = 0;
  for (const FoldedSpans& block : levels.folded) {
    while (levels.tracks[number] != block.track)
      ++number;
    track.Add(static_cast<int64_t>(number));
    depth.Add(block.row);
    start.Add(block.start_ns);
    duration.Add(block.duration_ns);
    count.Add(static_cast<int64_t>(block.count));
  }
  JsonObject object(out);
  object.Uint("spans", levels.folded_spans);
  track.AppendJson(&object.Key("track"));
  depth.AppendJson(&object.Key("depth"));
  start.AppendJson(&object.Key("start"));
  duration.AppendJson(&object.Key("duration"));
  count.AppendJson(&object.Key("count"));
  object.Close();
}

}  // namespace

std::string TimelineWindowJson(const Trace& trace, const TimelineLevels& levels) {
  PageStrings strings(trace, kLongestText);
  std::string timeline;
  JsonObject parts(&timeline);
  std::string& tracks = parts.Key("tracks");
  tracks += '[';
  size_t kept = 0;
  for (size_t i = 0; i < levels.tracks.size(); ++i) {
    const uint32_t track = levels.tracks[i];
    const size_t first = kept;
    const size_t end = size_t{trace.tracks().first_span[track]} + trace.tracks().span_count[track];
    while (kept < levels.kept.size() && levels.kept[kept] < end)
      ++kept;
    if (i > 0) tracks += ',';
    JsonObject object(&tracks);
    object.Uint("track", track).Uint("kept", kept - first);
    object.Close();
  }
  tracks += ']';
  AppendWindowKept(trace, levels, &strings, &parts.Key("kept"));
  AppendWindowFolded(levels, &parts.Key("folded"));
  parts.Close();
  std::string out;
  JsonObject whole(&out);
  whole.Int("pixel_ns", levels.gap_ns);
  std::string& texts = whole.Key("strings");
  texts += '[';
  for (size_t i = 0; i < strings.size(); ++i) {
    if (i > 0) texts += ',';
    AppendJsonString(&texts, strings.text(i));
  }
  texts += ']';
  whole.Json("timeline", timeline);
  whole.Close();
  return out;
}

}  // namespace opscope
