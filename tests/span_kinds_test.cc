// What docs/reference/span_kinds.md says of formats is what their importers do: of every file of golden/, and of every
// sample beside the checkout, each span's kind against the table.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "opscope/analysis/devices.h"
#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

constexpr char kTable[] = "| category | name | kind | formats |";

struct Rule {
  std::set<std::string> formats;
  std::string kind;
};

// By category. `..._runtime` and the like stand under "_runtime".
std::multimap<std::string, Rule> ReadRules() {
  std::ifstream file(std::string(OPSCOPE_SOURCE_DIR) + "/docs/reference/span_kinds.md");
  std::multimap<std::string, Rule> rules;
  bool is_in = false;
  for (std::string line; std::getline(file, line);) {
    if (line == kTable) is_in = true;
    is_in &= line.starts_with("|");
    if (!is_in) continue;
    std::vector<std::vector<std::string>> cells;
    for (size_t at = 1, end = 0; (end = line.find('|', at)) != std::string::npos; at = end + 1) {
      std::vector<std::string>& texts = cells.emplace_back();
      for (size_t quote = line.find('`', at); quote < end; quote = line.find('`', quote + 1)) {
        const size_t close = line.find('`', quote + 1);
        texts.push_back(line.substr(quote + 1, close - quote - 1));
        quote = close;
      }
    }
    if (cells.size() < 4 || cells[2].empty()) continue;
    for (const std::string& category : cells[0]) {
      const std::string key = category.starts_with("...") ? category.substr(3) : category;
      rules.emplace(key, Rule{{cells[3].begin(), cells[3].end()}, cells[2][0]});
    }
  }
  return rules;
}

std::set<std::string> Allowed(const std::multimap<std::string, Rule>& rules, const std::string& category,
                              const std::string& format) {
  std::string key = category;
  if (!rules.contains(key) && key.ends_with("_runtime")) key = "_runtime";
  if (!rules.contains(key) && key.ends_with("_driver")) key = "_driver";
  std::set<std::string> kinds;
  for (auto [rule, end] = rules.equal_range(key); rule != end; ++rule) {
    if (rule->second.formats.contains(format)) kinds.insert(rule->second.kind);
  }
  if (kinds.empty()) kinds.insert("other");
  return kinds;
}

std::vector<fs::path> Files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(OPSCOPE_GOLDEN_DIR)) {
    const bool mixes_formats = entry.path().parent_path().filename() == "paddle_names";
    if (entry.path().stem().string().starts_with("input") && !mixes_formats) files.push_back(entry.path());
  }
  const fs::path samples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples";
  if (!fs::exists(samples)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(samples)) {
    const std::string end = entry.path().extension().string();
    if (end == ".gz" || end == ".pb" || end == ".json") files.push_back(entry.path());
  }
  return files;
}

TEST(SpanKindsOfFormats, AreThoseOfTheDocument) {
  const auto rules = ReadRules();
  ASSERT_GT(rules.size(), 40u);
  size_t files = 0;
  std::set<std::tuple<std::string, std::string, std::string>> seen;  // format, category, kind
  for (const fs::path& path : Files()) {
    const Result<Trace> trace = ImportFile(path.string());
    if (!trace.ok()) continue;
    ++files;
    const SpanColumns& spans = trace.value().spans();
    for (size_t i = 0; i < spans.size(); ++i) {
      const bool is_marked = (spans.flags[i] & (span_flags::kStep | span_flags::kNative)) != 0;
      const TrackKind track = trace.value().tracks().kind[Row(spans.track[i])];
      const std::string category(trace.value().text(spans.category[i]));
      if (is_marked || track == TrackKind::kDeviceAnnotation || category.empty()) continue;
      const std::string& format = trace.value().info().format;
      const std::string kind(SpanKindName(spans.kind[i]));
      if (!seen.emplace(format, category, kind).second) continue;
      EXPECT_TRUE(Allowed(rules, category, format).contains(kind)) << path << ": " << category << " is " << kind;
    }
  }
  EXPECT_GT(files, 100u);
  EXPECT_GT(seen.size(), 30u);
}

TEST(SpanKindsOfFormats, OfPaddleLetItsKernelsBeFoundOnTheDevice) {
  const Result<Trace> trace =
      ImportFile(std::string(OPSCOPE_GOLDEN_DIR) + "/paddle_json/kernels_shapes_and_launches/input.json");
  ASSERT_TRUE(trace.ok());
  const std::vector<DeviceRow> devices = MeasureDevices(trace.value());
  ASSERT_EQ(devices.size(), 2u) << "the device and its stream";
  EXPECT_EQ(devices[0].kernel_ns, 30'000);
}

std::map<std::string, std::string> KindsByName(const std::string& input) {
  const Result<Trace> trace = ImportFile(std::string(OPSCOPE_GOLDEN_DIR) + "/" + input);
  std::map<std::string, std::string> kinds;
  if (!trace.ok()) return kinds;
  const SpanColumns& spans = trace.value().spans();
  for (size_t i = 0; i < spans.size(); ++i)
    kinds.emplace(trace.value().text(spans.name[i]), SpanKindName(spans.kind[i]));
  return kinds;
}

// Without categories.
TEST(SpanKindsOfFormats, OfXlaComeFromRowsAndMembers) {
  std::map<std::string, std::string> kinds = KindsByName("xla_json/device_lines/input.json");
  EXPECT_EQ(kinds["1"], "step");
  EXPECT_EQ(kinds["jit_step(123)"], "device_annotation");
  EXPECT_EQ(kinds["fusion.1"], "kernel");
  kinds = KindsByName("xla_json/cpu_steps/input.json");
  EXPECT_EQ(kinds["$profiler.py:319 __init__"], "python_function");
  EXPECT_EQ(kinds["$<unknown> __exit__"], "c_function");
  EXPECT_EQ(kinds["ThreadpoolListener::StopRegion"], "other");
}

TEST(SpanKindsOfFormats, OfMegEngineTellOperatorsFromTheirDispatch) {
  std::map<std::string, std::string> kinds = KindsByName("megengine_json/training_steps/input.json");
  EXPECT_EQ(kinds["OpDispatch"], "other");
  EXPECT_EQ(kinds["Input"], "other");
  kinds = KindsByName("megengine_json/scope_and_step/input.json");
  EXPECT_EQ(kinds["ADD"], "operator");
}

}  // namespace
}  // namespace opscope
