// Joins the parts of a page's data within a number of bytes. Parts of bounded use, such as tables and trees, have fixed
// shares. The timeline has what they leave. How many spans fit there is estimated, measured by writing them, and
// corrected: bytes per span depend on how well a program's columns compress, from 2 to 40. Where there are few spans, the
// parts may have up to four times their shares as long as all spans fit beside them.
//
//   max 10 MiB   tables, trees, memory, counters, names: 3 MiB   ->   7 MiB for spans
//     1st try    500,000 spans    9.1 MiB
//     2nd try    370,000 spans    6.8 MiB   fits
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/json_object.h"
#include "opscope/report/html.h"
#include "opscope/report/info.h"
#include "opscope/report/quality.h"
#include "opscope/report/steps.h"
#include "report/html/page_parts.h"
#include "report/html/page_strings.h"
#include "report/track_text.h"

namespace opscope {
namespace {

// Parts of 100 of all bytes. What is left is for spans.
constexpr size_t kTablesShare = 22, kTreesShare = 14, kMemoryShare = 5, kBlocksShare = 5, kCountersShare = 4,
                 kNamesShare = 6, kInfoShare = 5, kRanksShare = 12;

size_t EscapedSize(const std::string& json) {
  return json.size() + 5 * static_cast<size_t>(std::count(json.begin(), json.end(), '<'));
}

// Facts about the input; without its options if these are too long to be read.
std::string PageInfo(const PageResults& results, size_t max_bytes) {
  std::string info = InfoJson(*results.trace, results.quality);
  while (!info.empty() && info.back() == '\n')
    info.pop_back();
  if (EscapedSize(info) <= max_bytes) return info;
  std::string less;
  JsonObject object(&less);
  object.Text("schema", "opscope.info/1").Text("format", results.trace->info().format);
  object.Uint("spans", results.trace->spans().size());
  object.Close();
  return less;
}

std::string PageQuality(const Quality& quality) {
  constexpr size_t kMaxReasons = 20, kLongest = 2000;
  Quality shown = quality;
  if (shown.reasons.size() > kMaxReasons) {
    shown.reasons.resize(kMaxReasons);
    shown.reasons.push_back("and " + std::to_string(quality.reasons.size() - kMaxReasons) + " more");
  }
  for (std::string& reason : shown.reasons)
    reason = CutText(reason, kLongest);
  return QualityJson(shown);
}

std::string PageOverview(const PageResults& results) {
  std::string out;
  JsonObject object(&out);
  if (results.steps.rows.empty()) {
    object.Json("steps", "null");
  } else {
    JsonObject steps(&object.Key("steps"));
    steps.Close();
    out.pop_back();
    StepDurationsTable(*results.trace, results.steps).AppendJsonMembers(0, &out);
    out += '}';
  }
  object.Key("memory_peak").append("[");
  constexpr size_t kMaxDevices = 100;
  const std::vector<DeviceMemoryRow>& devices = results.memory.devices;
  for (size_t i = 0; i < std::min(kMaxDevices, devices.size()); ++i) {
    if (i > 0) out += ',';
    JsonObject peak(&out);
    peak.Text("device", PagePlaceName(devices[i].place));
    AppendPageInteger(devices[i].peak_bytes, &peak.Key("bytes"));
    AppendPageInteger(devices[i].peak_ns, &peak.Key("time_ns"));
    peak.Close();
  }
  out += ']';
  object.Close();
  return out;
}

std::string HeadJson(const PageResults& results) {
  std::string out;
  JsonObject object(&out);
  object.Text("schema", "opscope.web/1").Text("producer", results.producer).Text("title", PageTitle(results));
  object.Key("files").append("[");
  constexpr size_t kMaxFiles = 200, kLongestName = 500;
  for (size_t i = 0; i < std::min(kMaxFiles, results.files.size()); ++i) {
    if (i > 0) out += ',';
    AppendJsonString(&out, CutText(results.files[i], kLongestName));
  }
  out += ']';
  JsonObject clock(&object.Key("clock"));
  const int64_t end = std::max(results.window.end_ns, results.window.start_ns);
  AppendPageInteger(results.window.start_ns, &clock.Key("start_ns"));
  AppendPageInteger(end == results.window.start_ns && end < INT64_MAX ? end + 1 : end, &clock.Key("end_ns"));
  clock.Text("epoch_ns", std::to_string(results.trace->info().epoch_ns));
  clock.Close();
  object.Uint("spans", results.trace->spans().size());
  if (results.is_partial) object.Json("is_partial", "true");
  object.Json("quality", PageQuality(results.quality));
  return out;  // open: its other members follow
}

}  // namespace

std::string CutText(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return std::string(text.substr(0, end)) + "\xe2\x80\xa6";
}

std::string PageTitle(const PageResults& results) {
  constexpr size_t kLongestTitle = 2000;
  return CutText(results.title, kLongestTitle);
}

void AppendPageInteger(int64_t value, std::string* out) {
  constexpr int64_t kBeyond = int64_t{1} << 53;
  const bool is_exact = -kBeyond <= value && value <= kBeyond;
  if (!is_exact) *out += '"';
  AppendInt(out, value);
  if (!is_exact) *out += '"';
}

std::string ProcessText(const Trace& trace, ProcessId process) {
  const ProcessColumns& processes = trace.processes();
  const std::string id = NumberText(trace, processes.pid[Row(process)], processes.pid_text[Row(process)]);
  const std::string name(trace.text(processes.name[Row(process)]));
  return name.empty() || name == id ? id : name + " (" + id + ")";
}

void EscapeForScript(size_t begin, std::string* out) {
  // U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
  const auto special = [&](size_t from) {
    for (size_t at = from; (at = out->find_first_of("<\xe2", at)) != out->npos; ++at) {
      if ((*out)[at] == '<') return at;
      const std::string_view three = std::string_view(*out).substr(at, 3);
      if (three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9") return at;
    }
    return out->npos;
  };
  size_t at = special(begin);
  if (at == out->npos) return;
  std::string escaped;
  size_t copied = begin;
  for (; at != out->npos; at = special(copied)) {
    escaped.append(*out, copied, at - copied);
    const bool is_less = (*out)[at] == '<';
    escaped.append(is_less ? "\\u003c" : (*out)[at + 2] == '\xa8' ? "\\u2028" : "\\u2029");
    copied = at + (is_less ? 1 : 3);
  }
  escaped.append(*out, copied);
  out->resize(begin);
  out->append(escaped);
}

namespace {

// The parts that do not depend on which spans are kept, ready for a script element.
struct FixedParts {
  std::string head, tables, ranks, trees, tree_diffs, memory, counters, about;

  size_t bytes() const {
    return head.size() + tables.size() + ranks.size() + trees.size() + tree_diffs.size() + memory.size() +
           counters.size() + about.size();
  }
};

// Each part has its share of `bytes`.
FixedParts WriteFixedParts(const PageResults& results, size_t bytes, PageStrings* strings) {
  const auto share = [&](size_t parts) { return bytes * parts / 100; };
  FixedParts parts;
  parts.head = HeadJson(results);
  JsonMemberWriter(&parts.head).Json("overview", PageOverview(results));
  AppendPageTables(results, share(kTablesShare), strings, &parts.tables);
  if (results.job != nullptr) AppendPageRanks(results, share(kRanksShare), &parts.ranks);
  const size_t trees_share = share(kTreesShare) / (results.tree_diffs.empty() ? 1 : 2);
  AppendPageTrees(results, trees_share, strings, &parts.trees);
  AppendPageTreeDiffs(results, trees_share, strings, &parts.tree_diffs);
  AppendPageMemory(results, share(kMemoryShare), strings, &parts.memory);
  parts.memory.pop_back();
  AppendPageBlocks(results, share(kBlocksShare), strings, &parts.memory);
  parts.memory += '}';
  AppendPageCounters(results, share(kCountersShare), strings, &parts.counters);
  AppendPageNames(results, share(kNamesShare), strings, &parts.counters);
  parts.about = "{\"info\":" + PageInfo(results, share(kInfoShare)) + ",\"metadata\":";
  AppendPageMetadata(*results.trace, share(kInfoShare), &parts.about);
  parts.about += '}';
  for (std::string* part : {&parts.head, &parts.tables, &parts.ranks, &parts.trees, &parts.tree_diffs, &parts.memory,
                            &parts.counters, &parts.about})
    EscapeForScript(0, part);
  return parts;
}

std::string JoinParts(const FixedParts& parts, const std::string& spans, const PageStrings& strings) {
  std::string out;
  out.reserve(parts.bytes() + spans.size() + strings.bytes() + 1000);
  out += parts.head;
  JsonMemberWriter document(&out);
  document.Key("strings");
  const size_t first_string = out.size();
  strings.AppendJson(&out);
  EscapeForScript(first_string, &out);
  document.Json("tables", parts.tables);
  if (!parts.ranks.empty()) document.Json("ranks", parts.ranks);
  document.Key("timeline").append("{").append(spans);
  JsonMemberWriter(&out).Members(parts.counters);
  out += '}';
  document.Json("trees", parts.trees).Json("tree_diffs", parts.tree_diffs);
  document.Json("memory", parts.memory).Json("about", parts.about);
  return out + "}";
}

// What the timeline may have if it has `bytes`. Arguments and stacks may use as much as spans: programs that record
// them have few distinct ones.
TimelineLimits LimitsFor(size_t spans, size_t bytes) {
  return {.levels = {.max_spans = spans,
                     .max_blocks = std::clamp<size_t>(bytes / 100, 1, 50'000),
                     .max_tracks = std::clamp<size_t>(bytes / 500, 1, 5'000)},
          .argument_bytes = bytes / 2,
          .stack_bytes = bytes / 5,
          .flows = bytes / 20,
          .ranges = {.max_kept = bytes / 100, .max_blocks = std::clamp<size_t>(bytes / 500, 1, 5'000)},
          .points = {.max_kept = bytes / 200}};
}

// The fixed parts have shares of `bytes_of_parts`. nullopt: `needs_all_spans` is set, and not all spans fit.
std::optional<std::string> WriteDocument(const PageResults& results, size_t max_bytes, size_t bytes_of_parts,
                                         bool needs_all_spans) {
  constexpr size_t kBytesPerSpan = 2;  // at least, of columns that compress best
  PageStrings strings(*results.trace, std::max<size_t>(200, max_bytes / 64));
  const FixedParts parts = WriteFixedParts(results, bytes_of_parts, &strings);
  const size_t fixed = parts.bytes() + strings.bytes(), room = max_bytes - std::min(max_bytes, fixed);
  size_t spans = std::min(results.trace->spans().size(), room / kBytesPerSpan), bytes = room;
  if (needs_all_spans && spans < results.trace->spans().size()) return std::nullopt;
  for (;;) {
    std::string timeline;
    AppendPageSpans(results, LimitsFor(spans, bytes), &strings, &timeline);
    EscapeForScript(0, &timeline);
    std::string out = JoinParts(parts, timeline, strings);
    const bool is_least = spans == 0 && bytes == 0;
    if (out.size() <= max_bytes || is_least) return out;
    if (needs_all_spans) return std::nullopt;
    // At most 95 % of what would fit if the bytes per span stayed the same; shorter spans take less.
    const size_t used = timeline.size() + strings.uncommitted_bytes();
    const double fits = 0.95 * static_cast<double>(room) / static_cast<double>(std::max<size_t>(1, used));
    const double scale = std::min(fits, 0.9);
    spans = spans < 100 ? 0 : static_cast<size_t>(static_cast<double>(spans) * scale);
    bytes = bytes < 1000 ? 0 : static_cast<size_t>(static_cast<double>(bytes) * scale);
    strings.RollBack();
  }
}

}  // namespace

std::string PageDocument(const PageResults& results, size_t max_bytes) {
  // A trace with few spans leaves room for more rows, names and curves than their shares have.
  constexpr size_t kLikelyBytesPerSpan = 10;
  if (results.trace->spans().size() < max_bytes / (2 * kLikelyBytesPerSpan)) {
    for (const size_t percent : {400, 300, 200, 150}) {
      std::optional<std::string> whole = WriteDocument(results, max_bytes, max_bytes / 100 * percent, true);
      if (whole) return *std::move(whole);
    }
  }
  return *WriteDocument(results, max_bytes, max_bytes, false);
}

}  // namespace opscope
