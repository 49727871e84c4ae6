// Joins the parts of a page's data within a number of bytes. Parts of bounded use, such as tables and trees, have fixed
// shares. The timeline has what they leave. How many spans fit there is estimated, measured by writing them, and
// corrected: bytes per span depend on how well a program's columns compress, from 2 to 40.
//
//   max 10 MiB   tables, trees, memory, counters, names: 3 MiB   ->   7 MiB for spans
//     1st try    500,000 spans    9.1 MiB
//     2nd try    370,000 spans    6.8 MiB   fits
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/json_object.h"
#include "opscope/report/html.h"
#include "opscope/report/info.h"
#include "opscope/report/quality.h"
#include "opscope/report/steps.h"
#include "opscope/report/memory.h"
#include "report/html/page_parts.h"
#include "report/html/page_strings.h"

namespace opscope {
namespace {

// Parts of 100 of all bytes. What is left is for spans.
constexpr size_t kTablesShare = 22, kTreesShare = 14, kMemoryShare = 6, kCountersShare = 4, kNamesShare = 6,
                 kInfoShare = 5;

std::string Escaped(std::string part) {
  EscapeForScript(0, &part);
  return part;
}

// Facts about the input; without its options if these are too long to be read.
std::string PageInfo(const PageResults& results, size_t max_bytes) {
  std::string info = InfoJson(*results.trace, results.quality);
  while (!info.empty() && info.back() == '\n')
    info.pop_back();
  if (info.size() <= max_bytes) return info;
  std::string less;
  JsonObject object(&less);
  object.Text("schema", "opscope.info/1").Text("format", results.trace->info().format);
  object.Uint("spans", results.trace->spans().size());
  object.Close();
  return less;
}

std::string PageQuality(const Quality& quality) {
  constexpr size_t kMostReasons = 20, kLongest = 2000;
  Quality shown = quality;
  if (shown.reasons.size() > kMostReasons) {
    shown.reasons.resize(kMostReasons);
    shown.reasons.push_back("and " + std::to_string(quality.reasons.size() - kMostReasons) + " more");
  }
  for (std::string& reason : shown.reasons) {
    size_t end = std::min(reason.size(), kLongest);
    while (end < reason.size() && end > 0 && (static_cast<unsigned char>(reason[end]) & 0xc0) == 0x80)
      --end;
    reason.resize(end);
  }
  return QualityJson(shown);
}

std::string PageOverview(const PageResults& results, PageStrings*) {
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
  for (const DeviceMemoryRow& device : results.memory.devices) {
    if (out.back() != '[') out += ',';
    JsonObject peak(&out);
    peak.Text("device", MemoryDeviceName(device.place));
    AppendPageInteger(device.peak_bytes, &peak.Key("bytes"));
    AppendPageInteger(device.peak_ns, &peak.Key("time_ns"));
    peak.Close();
  }
  out += ']';
  object.Close();
  return out;
}

std::string StringsJson(const PageStrings& strings) {
  std::string out = "[";
  for (size_t i = 0; i < strings.size(); ++i) {
    if (i > 0) out += ',';
    AppendJsonString(&out, strings.text(i));
  }
  return out + "]";
}

std::string HeadJson(const PageResults& results) {
  std::string out;
  JsonObject object(&out);
  object.Text("schema", "opscope.web/1").Text("producer", results.producer).Text("title", results.title);
  object.Key("files").append("[");
  for (const std::string& file : results.files) {
    if (out.back() != '[') out += ',';
    AppendJsonString(&out, file);
  }
  out += ']';
  JsonObject clock(&object.Key("clock"));
  const int64_t end = std::max(results.window.end_ns, results.window.start_ns);
  AppendPageInteger(results.window.start_ns, &clock.Key("start_ns"));
  AppendPageInteger(end == results.window.start_ns && end < INT64_MAX ? end + 1 : end, &clock.Key("end_ns"));
  clock.Text("epoch_ns", std::to_string(results.trace->info().epoch_ns));
  clock.Close();
  object.Uint("spans", results.trace->spans().size());
  object.Json("quality", PageQuality(results.quality));
  return out;  // open: its other members follow
}

}  // namespace

void AppendPageInteger(int64_t value, std::string* out) {
  constexpr int64_t kBeyond = int64_t{1} << 53;
  const bool is_exact = -kBeyond <= value && value <= kBeyond;
  if (!is_exact) *out += '"';
  AppendInt(out, value);
  if (!is_exact) *out += '"';
}

std::string ProcessText(const Trace& trace, ProcessId process) {
  const ProcessColumns& processes = trace.processes();
  const StringId text = processes.pid_text[Row(process)];
  const std::string id = text == StringId::kNone ? std::to_string(processes.pid[Row(process)])
                                                 : std::string(trace.text(text));
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

std::string PageDocument(const PageResults& results, size_t max_bytes) {
  PageStrings strings(*results.trace, std::max<size_t>(1000, max_bytes / 64));
  const auto share = [&](size_t parts) { return max_bytes * parts / 100; };
  std::string head = HeadJson(results), tables, trees, memory, counters;
  JsonMemberWriter(&head).Json("overview", PageOverview(results, &strings));
  AppendPageTables(results, share(kTablesShare), &strings, &tables);
  AppendPageTrees(results, share(kTreesShare), &strings, &trees);
  AppendPageMemory(results, share(kMemoryShare), &strings, &memory);
  AppendPageCounters(results, share(kCountersShare), &strings, &counters);
  AppendPageNames(results, share(kNamesShare), &strings, &counters);
  strings.Keep();
  const std::string about = "{\"info\":" + PageInfo(results, share(kInfoShare)) + "}";

  std::string out;
  const size_t all = results.trace->spans().size();
  size_t spans = all, blocks = 20'000;
  for (int attempt = 0;; ++attempt) {
    std::string timeline = "{";
    AppendPageSpans(results,
                    {.levels = {.max_spans = spans, .max_blocks = blocks, .max_tracks = 1000},
                     .argument_bytes = share(14),
                     .stack_bytes = share(5),
                     .flows = 200'000},
                    &strings, &timeline);
    JsonMemberWriter(&timeline).Members(counters);
    timeline += '}';
    out = Escaped(head);
    JsonMemberWriter document(&out);
    document.Json("strings", Escaped(StringsJson(strings)));
    document.Json("tables", Escaped(tables));
    document.Json("timeline", Escaped(std::move(timeline)));
    document.Json("trees", Escaped(trees));
    document.Json("memory", Escaped(memory));
    document.Json("about", Escaped(about));
    out += '}';
    if (out.size() <= max_bytes || spans == 0) break;
    spans = std::min(spans * 9 / 10, static_cast<size_t>(static_cast<double>(spans) * 0.95 *
                                                         static_cast<double>(max_bytes) / static_cast<double>(out.size())));
    strings.TakeBack();
  }
  return out;
}

}  // namespace opscope
