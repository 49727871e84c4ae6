// A MegEngine timeline that was cut or damaged anywhere is read as the whole file is, as far as it goes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "import/text/compress_for_test.h"
#include "import/text/pieced_text.h"
#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;
using simdjson::dom::element;

struct TimelineEvent {
  size_t end = 0;         // in the text
  std::string name = {};  // in the Trace, where MegEngine wrote the file; "" of an event that is no span
  std::string foreign_name = {};
  bool is_certain = false, is_possible = false;
};

std::string Text(element event, const char* key) {
  std::string_view text;
  return event[key].get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

bool Has(element event, const std::vector<std::string>& keys) {
  element args;
  if (event["args"].get(args) != simdjson::SUCCESS) return false;
  return std::all_of(keys.begin(), keys.end(), [&](const auto& key) { return args[key].error() == simdjson::SUCCESS; });
}

std::string Bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// What docs/reference/chrome_dialects.md says makes a timeline one of MegEngine's.
TimelineEvent Judge(element event, size_t end) {
  static const std::set<std::string> counters = {"train_time_ratio",    "gpu_usgae_ratio", "gpu_usage_ratio",
                                                 "nr_op_pending",       "nr_alive_tensor", "nr_redunant_tensor",
                                                 "nr_redundant_tensor", "device_ahead_ms"};
  static const std::set<std::string> flows = {"TensorLink", "OpDispatch", "KernelLaunch", "TensorProp"};
  static const std::regex tensor("(Input|Output|Put|Del|Drop|ReGen|RecFree|GetValue) (0|[1-9][0-9]*)");
  const std::string phase = Text(event, "ph"), name = Text(event, "name"), category = Text(event, "cat");
  TimelineEvent judged{.end = end};
  const bool is_half = phase == "B" || phase == "E";
  if (phase == "B" || phase == "X") {
    std::smatch match;
    judged.foreign_name = name;
    judged.name = category.empty() && std::regex_match(name, match, tensor) ? match[1].str() : name;
  }
  if (is_half || phase == "X") {
    judged.is_certain =
        category.empty() && (Has(event, {"__id__", "__name__"}) || Has(event, {"nr_elements", "dtype"}));
    judged.is_possible = is_half && category.empty() && std::regex_match(name, tensor);
  } else if (phase == "C") {
    judged.is_certain = counters.contains(name) && Has(event, {"value"});
  } else if (phase == "s" || phase == "t" || phase == "f") {
    judged.is_certain = flows.contains(category) && name == simdjson::minify(event["pid"].value());
  }
  return judged;
}

// The elements of traceEvents, found by their braces.
std::vector<TimelineEvent> EventsOf(const std::string& text) {
  std::vector<TimelineEvent> events;
  simdjson::dom::parser parser;
  size_t begin = 0;
  int depth = 0;
  bool in_text = false;
  for (size_t at = text.find('[', text.find("\"traceEvents\"")) + 1; at < text.size(); ++at) {
    const char c = text[at];
    if (in_text) {
      at += c == '\\' ? 1 : 0;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' && depth++ == 0) {
      begin = at;
    } else if (c == '}' && --depth == 0) {
      events.push_back(Judge(parser.parse(text.data() + begin, at + 1 - begin), at + 1));
    } else if (c == ']' && depth == 0) {
      break;
    }
  }
  return events;
}

// Those of its spans, in any order, without the steps, which the file has no event of.
std::multiset<std::string> NamesOf(const Trace& trace) {
  std::multiset<std::string> names;
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.text(trace.spans().category[i]) != "profiler_step") names.emplace(trace.text(trace.spans().name[i]));
  }
  return names;
}

// `end`: what stands behind the cut.
void ExpectPrefixesReadAsTheWhole(const std::string& text, size_t stride, const std::string& end) {
  const std::vector<TimelineEvent> events = EventsOf(text);
  ASSERT_FALSE(events.empty());
  std::multiset<std::string> names, foreign_names;
  bool is_certain = false, is_possible = false;
  size_t next = 0, checked = 0;
  const size_t list_end = events.back().end;
  for (size_t cut = events[0].end; cut <= list_end; cut += std::min(stride, std::max<size_t>(1, list_end - cut))) {
    for (; next < events.size() && events[next].end <= cut; ++next) {
      is_certain |= events[next].is_certain, is_possible |= events[next].is_possible;
      if (events[next].name.empty()) continue;
      names.insert(events[next].name), foreign_names.insert(events[next].foreign_name);
    }
    SCOPED_TRACE("cut at byte " + std::to_string(cut) + " with '" + end + "' behind it");
    const std::string prefix = text.substr(0, cut) + end;
    const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(prefix)), "timeline");
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    const bool is_known = is_certain || is_possible;
    ASSERT_EQ(trace.value().info().format, is_known ? "megengine-json" : "chrome-json");
    ASSERT_EQ(NamesOf(trace.value()), is_known ? names : foreign_names);
    ++checked;
  }
  EXPECT_GT(checked, (list_end - events[0].end) / stride);
}

constexpr char kOperators[] =
    R"({"traceEvents":[{"name":"ADD","ph":"B","pid":1,"tid":0,"ts":0},{"name":"Input 7","ph":"B","pid":1,"tid":0,"ts":1},)"
    R"({"name":"Input 7","ph":"E","pid":1,"tid":0,"ts":2},{"name":"Output 8","ph":"B","pid":1,"tid":0,"ts":3},)"
    R"({"name":"Output 8","ph":"E","pid":1,"tid":0,"ts":4},)"
    R"({"name":"ADD","ph":"E","pid":1,"tid":0,"ts":5,"args":{"__id__":9,"__name__":"ADD"}},)"
    R"({"name":"Del 8","ph":"B","pid":1,"tid":0,"ts":6},{"name":"Del 8","ph":"E","pid":1,"tid":0,"ts":7}],)"
    R"("metadata":{"localTime":"1795216449185312847"}})";

TEST(CutMegEngineTimeline, KeepsFormatAndNamesWhereverOperatorsAreCut) {
  for (const char* end : {"", ";", ",{;"})
    ExpectPrefixesReadAsTheWhole(kOperators, 1, end);
}

TEST(CutMegEngineTimeline, KeepsFormatAndNamesWhereverAGoldenFileIsCut) {
  for (const char* name : {"backtrace", "one_operator", "scope_and_step", "training_steps"}) {
    SCOPED_TRACE(name);
    const fs::path path = fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/megengine_json" / name / "input.json";
    const std::string text = Bytes(path);
    for (const char* end : {"", ";"})
      ExpectPrefixesReadAsTheWhole(text, 3, end);
  }
}

TEST(CutMegEngineTimeline, KeepsFormatAndNamesWhereverASampleIsCut) {
  const fs::path samples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/megengine";
  if (!fs::exists(samples)) GTEST_SKIP() << samples << " is not there";
  for (const char* name : {"lenet.chrome_timeline.json.gz", "lenet_scopes.chrome_timeline.json.gz"}) {
    SCOPED_TRACE(name);
    const std::string bytes = Bytes(samples / name);
    PiecedText source(Decompressed(bytes, CompressedFormat::kGzip), bytes.size());
    source.Extend(size_t{1} << 30);
    ExpectPrefixesReadAsTheWhole(std::string(source.text()), 9973, ";");
  }
}

// Names like MegEngine's are no proof in a file that is whole, nor in one that says who wrote it, nor in a bare array.
TEST(CutMegEngineTimeline, LeavesOtherToolsTheNamesThatLookLikeMegEngines) {
  const std::string range =
      R"({"name":"Input 7","ph":"B","pid":1,"tid":0,"ts":1},{"name":"Input 7","ph":"E","pid":1,"tid":0,"ts":2})";
  for (const std::string& text :
       {R"({"traceEvents":[)" + range + "]}", R"({"schemaVersion":1,"traceEvents":[)" + range + ",",
        R"({"displayTimeUnit":"ns","traceEvents":[)" + range + ",;", "[" + range + ",{"}) {
    const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "trace");
    ASSERT_TRUE(trace.ok()) << text;
    EXPECT_EQ(trace.value().info().format, "chrome-json") << text;
    EXPECT_EQ(NamesOf(trace.value()), std::multiset<std::string>{"Input 7"}) << text;
  }
}

// Kineto's form of a MegEngine recording, as opscope exports it, is no timeline of MegEngine's, cut or not.
TEST(CutMegEngineTimeline, KeepsKinetosFormApart) {
  const std::string text =
      R"({"schemaVersion":1,"traceEvents":[{"args":{"value":1.0},"name":"nr_alive_tensor","ph":"C","pid":1,"tid":0,"ts":1},)"
      R"({"name":"Input 7","ph":"X","pid":1,"tid":0,"ts":1,"dur":1},)";
  for (const char* end : {"", "{}]}"}) {
    const std::string whole = text + end;
    const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(whole)), "trace");
    ASSERT_TRUE(trace.ok());
    EXPECT_EQ(trace.value().info().format, "chrome-json");
  }
}

}  // namespace
}  // namespace opscope
