// The page of `opscope report`: one HTML file that shows a trace in any browser.
// docs/reference/web_data.md describes the data in it.
//
//   const PageResults results = ...;             // ExportHtml (opscope/export/html.h) computes them
//   const std::string page = HtmlPage(results, {.max_bytes = 10 << 20});
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/advise.h"
#include "opscope/analysis/contents.h"
#include "opscope/analysis/devices.h"
#include "opscope/analysis/diff.h"
#include "opscope/analysis/flame.h"
#include "opscope/analysis/flame_diff.h"
#include "opscope/analysis/leak_candidates.h"
#include "opscope/analysis/memory_curves.h"
#include "opscope/analysis/memory_map.h"
#include "opscope/analysis/memory_usage.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/quality.h"
#include "opscope/analysis/roofline.h"
#include "opscope/analysis/steps.h"
#include "opscope/analysis/timeline_flows.h"
#include "opscope/analysis/timeline_levels.h"
#include "opscope/report/job_overview.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

// An argument of a span whose value is an integer of at most 2^53.
struct IntegerArgument {
  // Stays where it is as long as the trace.
  std::string_view key;
  int64_t value = 0;
};

// Everything that a page shows. The trace must outlive it.
struct PageResults {
  const Trace* trace = nullptr;
  // The results of the tabs Overview, Timeline, Ranks and About alone.
  bool is_partial = false;
  // In front of " - opscope" in the title of the page.
  std::string title;
  // Names of the inputs.
  std::vector<std::string> files;
  // "opscope 1.2.3".
  std::string producer;
  Quality quality;
  TraceWindow window;
  StepReport steps;
  std::vector<DeviceRow> devices;
  Advice advice;
  // By name: of all spans; of kernels, copies and sets on devices; of modules.
  OpSummary operators, works, modules;
  // Of all spans, by name and input shapes, call stack or module.
  OpSummary operators_by_shape, operators_by_stack, operators_by_module;
  RooflineReport roofline;
  MemoryUsage memory;
  // With a baseline.
  std::optional<TraceDiff> diff;
  // One per metric that has values.
  std::vector<FlameTree> trees;
  // With a baseline, which must outlive it: one per metric that has values in a trace.
  std::vector<FlameDiff> tree_diffs;
  std::vector<MemoryCurve> memory_curves;
  std::vector<MemoryMapDevice> memory_map;
  std::vector<LeakCandidateRow> leaks;
  std::vector<TimelineFlow> flows;
  // Of a JOB with several ranks; nullptr: the page has no tab Ranks.
  const JobOverview* job = nullptr;
  // The writer chooses levels of detail by how many bytes they take. The trace must outlive it.
  const TimelineSpans* timeline = nullptr;
  // Append members of the object "args" that the Chrome JSON of a span has: `"a":1,"b":"x"`. Those that spans have in
  // common by their argument list; those of the span alone, integers apart. Rows of spans usually ascend. Empty: none.
  std::function<void(ArgsId list, std::string* members)> append_argument_list;
  std::function<void(uint32_t span, std::vector<IntegerArgument>* integers, std::string* members)> append_arguments;
};

// The colours of a page.
enum class PageTheme : uint8_t { kAuto, kLight, kDark };
// "auto", "light", "dark", in the order of PageTheme.
[[nodiscard]] std::optional<PageTheme> PageThemeFromName(std::string_view name);

// How a page is written.
struct PageOptions {
  // Largest size of the page, at least kMinBytes. What does not fit is folded, and the page says how much that is.
  size_t max_bytes = kDefaultBytes;
  // A data document for the tabs Overview, Timeline, Ranks and About alone, which takes a fraction of the time. It says
  // that it is partial; `opscope view` gives the whole one later.
  bool is_partial = false;
  PageTheme theme = PageTheme::kAuto;

  static constexpr size_t kMinBytes = size_t{1} << 20;
  static constexpr size_t kDefaultBytes = size_t{10} << 20;
};

// The columns of the tables that no other command has.
[[nodiscard]] const ResultDescription& PageWorkResult();
[[nodiscard]] const ResultDescription& PageModuleResult();
[[nodiscard]] const ResultDescription& PageLeakResult();
[[nodiscard]] const ResultDescription& PageProblemResult();
[[nodiscard]] const ResultDescription& PageJobProblemResult();

// The data document "opscope.web/1", of at most max_bytes. It has no "<". Throws std::bad_alloc.
[[nodiscard]] std::string PageDocument(const PageResults& results, size_t max_bytes);

// The page without data, as `opscope view` serves it.
[[nodiscard]] std::string_view PageWithoutData();

// The page with its data. Throws std::bad_alloc.
[[nodiscard]] std::string HtmlPage(const PageResults& results, const PageOptions& options = {});

}  // namespace opscope
