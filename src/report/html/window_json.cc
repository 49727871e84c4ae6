// Writes a window of the timeline in the columns of the data document, so that the page reads both by the same code.
// Tracks carry only their number: names and counts of all tracks are in the data document.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/json_object.h"
#include "opscope/report/timeline_window.h"
#include "report/html/page_strings.h"
#include "report/html/span_columns.h"

namespace opscope {
namespace {

constexpr size_t kLongestText = 10'000;

// The members of the columns.
void AppendColumns(const ColumnsByKey& columns, JsonObject* object) {
  for (const auto& [key, column] : columns)
    column->AppendJson(&object->Key(key));
}

void AppendWindowKept(const Trace& trace, const TimelineLevels& levels, PageStrings* strings, std::string* out) {
  IntegerColumn row(IntegerColumn::kDeltas);
  for (const uint32_t span : levels.kept)
    row.Add(span);
  PageSpanColumns kept;
  kept.Add(trace, levels, strings);
  JsonObject object(out);
  row.AppendJson(&object.Key("row"));
  AppendColumns(kept.ByKey(), &object);
  object.Close();
}

void AppendWindowFolded(const TimelineLevels& levels, std::string* out) {
  PageBlockColumns folded;
  folded.Add(levels);
  JsonObject object(out);
  object.Uint("spans", levels.folded_spans);
  AppendColumns(folded.ByKey(), &object);
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
  strings.AppendJson(&whole.Key("strings"));
  whole.Json("timeline", timeline);
  whole.Close();
  return out;
}

}  // namespace opscope
