// Memory curves and peaks of a page, and counters, which are curves too. A curve of more points than a screen is wide
// can be drawn with fewer: points are taken together by time, and of each group the smallest and the largest value
// stay, so that no peak disappears.
//
//   8 points, 4 may stay:   1 2 | 9 3 | 3 3 | 0 5   ->   of each pair of groups the extremes: 1 9 | 0 5
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/json_object.h"
#include "base/saturating.h"
#include "opscope/report/memory.h"
#include "report/html/integer_column.h"
#include "report/html/page_parts.h"

namespace opscope {
namespace {

// Indices of the points to draw: at most about `most`, the first and the last one always.
template <typename Value>
std::vector<uint32_t> PointsToDraw(const std::vector<Value>& values, size_t most) {
  std::vector<uint32_t> points;
  if (values.size() <= most) {
    for (uint32_t i = 0; i < values.size(); ++i)
      points.push_back(i);
    return points;
  }
  const size_t groups = std::max<size_t>(1, most / 2);
  for (size_t group = 0; group < groups; ++group) {
    const size_t begin = values.size() * group / groups, end = values.size() * (group + 1) / groups;
    if (begin == end) continue;
    const auto [least, greatest] = std::minmax_element(values.begin() + static_cast<ptrdiff_t>(begin),
                                                       values.begin() + static_cast<ptrdiff_t>(end));
    const auto a = static_cast<uint32_t>(least - values.begin()), b = static_cast<uint32_t>(greatest - values.begin());
    for (const uint32_t point : {std::min(a, b), std::max(a, b)}) {
      if (points.empty() || points.back() != point) points.push_back(point);
    }
  }
  if (points.front() != 0) points.insert(points.begin(), 0);
  if (points.back() + size_t{1} != values.size()) points.push_back(static_cast<uint32_t>(values.size() - 1));
  return points;
}

// By how much the drawn step function may differ from the whole one: within two drawn points the values lie between
// the extremes of the group.
int64_t LargestError(const MemoryCurve& curve, const std::vector<uint32_t>& points) {
  int64_t error = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const size_t end = i + 1 < points.size() ? points[i + 1] : curve.bytes.size();
    for (size_t point = points[i] + size_t{1}; point < end; ++point) {
      error = std::max(error, SaturatingAbs(SaturatingSubtract(curve.bytes[point], curve.bytes[points[i]])));
    }
  }
  return error;
}

void AppendMemoryCurve(const Trace& trace, const MemoryCurve& curve, size_t most, PageStrings* strings,
                       std::string* out) {
  const std::vector<uint32_t> points = PointsToDraw(curve.bytes, most);
  IntegerColumn times(IntegerColumn::kDeltas), bytes(IntegerColumn::kDeltas);
  for (const uint32_t point : points) {
    times.Add(curve.times_ns[point]);
    bytes.Add(curve.bytes[point]);
  }
  JsonObject object(out);
  object.Uint("device", strings->Of(PageDeviceName(trace, curve.place, curve.track)));
  object.Uint("category", strings->Of(curve.category));
  times.AppendJson(&object.Key("times"));
  bytes.AppendJson(&object.Key("bytes"));
  AppendPageInteger(LargestError(curve, points), &object.Key("error_bytes"));
  object.Close();
}

void AppendPeaks(const PageResults& results, size_t most_parts, size_t most_peaks, PageStrings* strings,
                 std::string* out) {
  const MemoryUsage& memory = results.memory;
  size_t next = 0;
  *out += '[';
  for (size_t i = 0; i < std::min(most_peaks, memory.devices.size()); ++i) {
    const DeviceMemoryRow& device = memory.devices[i];
    if (i > 0) *out += ',';
    JsonObject object(out);
    object.Uint("device", strings->Of(PagePlaceName(device.place)));
    AppendPageInteger(device.peak_ns, &object.Key("time_ns"));
    AppendPageInteger(device.peak_bytes, &object.Key("bytes"));
    std::string& parts = object.Key("parts").append("[");
    int64_t rest = device.peak_bytes;
    size_t count = 0;
    for (; next < memory.rows.size() && memory.rows[next].place == device.place; ++next) {
      const OperatorMemoryRow& row = memory.rows[next];
      if (row.peak_bytes == 0 || count == most_parts) continue;
      rest = SaturatingSubtract(rest, row.peak_bytes);
      parts.append(count++ == 0 ? "[" : ",[");
      AppendUint(&parts, row.is_before                 ? strings->Of("(before the recording)")
                         : row.name == StringId::kNone ? strings->Of("(none)")
                                                       : strings->Of(row.name));
      parts.append(",");
      AppendUint(&parts, strings->Of(std::string_view()));  // the category is unknown
      parts.append(",");
      AppendPageInteger(row.peak_bytes, &parts);
      parts.append("]");
    }
    parts.append("]");
    AppendPageInteger(rest, &object.Key("other_bytes"));
    object.Close();
  }
  *out += ']';
}

// The samples of one counter and series of a track, by time. JSON has no NaN or infinity, and a 0 would look measured.
using CounterKey = std::tuple<TrackId, StringId, StringId>;

std::map<CounterKey, std::vector<uint32_t>> CountersOf(const Trace& trace) {
  const CounterColumns& counters = trace.counters();
  std::map<CounterKey, std::vector<uint32_t>> of_keys;
  for (uint32_t row = 0; row < counters.size(); ++row)
    of_keys[{counters.track[row], counters.name[row], counters.series[row]}].push_back(row);
  for (auto& [key, rows] : of_keys)
    std::stable_sort(rows.begin(), rows.end(),
                     [&](uint32_t a, uint32_t b) { return counters.time[a] < counters.time[b]; });
  return of_keys;
}

bool IsInBytes(std::string_view text) {
  return text.find("bytes") != text.npos || text.find("Bytes") != text.npos || text.find("memory") != text.npos;
}

void AppendCounter(const Trace& trace, const CounterKey& key, const std::vector<uint32_t>& samples, size_t most,
                   PageStrings* strings, std::string* out) {
  const auto [track, name, series] = key;
  const CounterColumns& counters = trace.counters();
  std::vector<uint32_t> rows;
  std::vector<double> all;
  rows.reserve(samples.size());
  all.reserve(samples.size());
  for (const uint32_t row : samples) {
    if (!std::isfinite(counters.value[row])) continue;
    rows.push_back(row);
    all.push_back(counters.value[row]);
  }
  const std::vector<uint32_t> points = PointsToDraw(all, most);
  IntegerColumn times(IntegerColumn::kDeltas);
  JsonObject object(out);
  const std::string_view of_name = trace.text(name), of_series = trace.text(series);
  const bool is_named_twice = of_series.empty() || of_series == of_name;
  object.Uint("name",
              strings->Of(is_named_twice ? std::string(of_name) : std::string(of_name) + " " + std::string(of_series)));
  const ProcessId process = Row(track) < trace.tracks().size() ? trace.tracks().process[Row(track)] : ProcessId::kNone;
  object.Text("group", process == ProcessId::kNone ? std::string() : ProcessText(trace, process));
  object.Text("unit", IsInBytes(of_name) || IsInBytes(of_series) ? "bytes" : "number");
  for (const uint32_t point : points)
    times.Add(counters.time[rows[point]].ns);
  times.AppendJson(&object.Key("times"));
  object.Key("values").append("[");
  for (const uint32_t point : points) {
    if (out->back() != '[') *out += ',';
    AppendDouble(out, all[point]);
  }
  *out += ']';
  object.Uint("left_out", samples.size() - points.size());
  object.Close();
}

}  // namespace

std::string PagePlaceName(const MemoryPlace& place) {
  const std::string device = MemoryDeviceName(place);
  return place.rank < 0 ? device : "rank " + std::to_string(place.rank) + ", " + device;
}

std::string PageDeviceName(const Trace& trace, const MemoryPlace& place, TrackId track) {
  const std::string_view name =
      track == TrackId::kNone ? std::string_view() : trace.text(trace.tracks().name[Row(track)]);
  return name.empty() ? PagePlaceName(place) : std::string(name);
}

void AppendPageMemory(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out) {
  const size_t begin = out->size();
  size_t curves = results.memory_curves.size(), most = SIZE_MAX, most_parts = 100;
  for (;;) {
    JsonObject object(out);
    object.Key("curves").append("[");
    for (size_t i = 0; i < curves; ++i) {
      if (i > 0) *out += ",\n";
      AppendMemoryCurve(*results.trace, results.memory_curves[i], most, strings, out);
    }
    out->append("]");
    AppendPeaks(results, most_parts, most == 0 ? 0 : SIZE_MAX, strings, &object.Key("peaks"));
    object.Uint("left_out", results.memory_curves.size() - curves);
    object.Close();
    if (out->size() - begin + strings->uncommitted_bytes() <= max_bytes || most == 0) break;
    strings->RollBack();
    out->resize(begin);
    most = most == SIZE_MAX ? 20'000 : most / 2;
    most_parts = most_parts * 2 / 3;
    if (most >= 64) continue;
    curves /= 2;
    most = curves > 0 ? 64 : 0;
  }
  strings->Commit();
}

void AppendPageCounters(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out) {
  const std::map<CounterKey, std::vector<uint32_t>> counters = CountersOf(*results.trace);
  const size_t begin = out->size();
  size_t count = counters.size(), most = SIZE_MAX;
  for (;;) {
    JsonMemberWriter members(out);
    members.Key("counters").append("[");
    size_t number = 0;
    for (const auto& [key, rows] : counters) {
      if (number++ == count) break;
      if (number > 1) *out += ",\n";
      AppendCounter(*results.trace, key, rows, most, strings, out);
    }
    out->append("]");
    members.Uint("counters_left_out", counters.size() - std::min(count, counters.size()));
    if (out->size() - begin + strings->uncommitted_bytes() <= max_bytes || most == 0) break;
    strings->RollBack();
    out->resize(begin);
    most = most == SIZE_MAX ? 10'000 : most / 2;
    if (most >= 64) continue;
    count /= 2;
    most = count > 0 ? 64 : 0;
  }
  strings->Commit();
}

}  // namespace opscope
