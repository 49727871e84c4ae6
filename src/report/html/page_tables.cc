// The tables of a page, as the verbs that compute them describe their columns. Those that no verb has are described
// here: works by name, modules by name, problems. If a table is too large, its last rows are folded into their sums.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <utility>

#include "base/json_object.h"
#include "base/saturating.h"
#include "opscope/report/advise.h"
#include "opscope/report/devices.h"
#include "opscope/report/diff.h"
#include "opscope/report/memory.h"
#include "opscope/report/missing_data.h"
#include "opscope/report/result_inputs.h"
#include "opscope/report/roofline.h"
#include "opscope/report/steps.h"
#include "opscope/report/summary.h"
#include "report/html/page_parts.h"
#include "report/html/page_table.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

constexpr ResultField<OpSummaryRow> kPageWorkFields[] = {
    {{"name", "Name", kText, "Name of the kernel, copy or set."},
     [](const Trace& trace, const OpSummaryRow& r) { return trace.text(r.name); }},
    {{"count", "Count", kNumber, "How often it ran."}, [](const OpSummaryRow& r) { return r.count; }},
    {{"total_ns", "Total", kTime, "Sum of the durations."},
     [](const OpSummaryRow& r) { return r.total_with_recursion_ns; }},
    {{"mean_ns", "Mean", kTime, "`total_ns` over `count`, rounded down."},
     [](const OpSummaryRow& r) { return r.mean_ns(); }},
    {{"min_ns", "Min", kTime, "Shortest duration."}, [](const OpSummaryRow& r) { return r.min_ns; }},
    {{"p50_ns", "P50", kTime, "Half of the durations are not longer."}, [](const OpSummaryRow& r) { return r.p50_ns; }},
    {{"p99_ns", "P99", kTime, "99 of 100 durations are not longer."}, [](const OpSummaryRow& r) { return r.p99_ns; }},
    {{"max_ns", "Max", kTime, "Longest duration."}, [](const OpSummaryRow& r) { return r.max_ns; }},
};

constexpr ResultField<OpSummaryRow> kPageModuleFields[] = {
    {{"name", "Name", kText, "Name of the module."},
     [](const Trace& trace, const OpSummaryRow& r) { return trace.text(r.name); }},
    {{"count", "Count", kNumber, "Number of calls."}, [](const OpSummaryRow& r) { return r.count; }},
    {{"total_ns", "Total", kTime,
      "Time of the calls that do not lie inside a call of the same name on the same track."},
     [](const OpSummaryRow& r) { return r.total_ns; }},
    {{"self_ns", "Self", kTime, "Time without direct children."}, [](const OpSummaryRow& r) { return r.self_ns; }},
    {{"mean_ns", "Mean", kTime, "Mean duration, rounded down."}, [](const OpSummaryRow& r) { return r.mean_ns(); }},
    {{"device_total_ns", "Device total", kTime, "Time on devices launched beneath the calls.", kIfNonZero},
     [](const OpSummaryRow& r) { return r.device_total_ns; }},
};

// The frames in one line: "inner <- outer".
std::string InnermostFirst(const Trace& trace, StackId stack) {
  constexpr size_t kMaxFrames = 1000;
  std::string text;
  for (size_t i = 0; stack != StackId::kNone && i < kMaxFrames; stack = trace.stacks().caller[Row(stack)], ++i)
    text.append(i == 0 ? "" : " <- ").append(trace.text(trace.frames().text[Row(trace.stacks().frame[Row(stack)])]));
  return text;
}

constexpr ResultField<LeakCandidateRow> kPageLeakFields[] = {
    {{"rank", "Rank", kNumber, "Rank of the process; -1 if the input does not say it.", kIfKnown},
     [](const LeakCandidateRow& r) { return r.place.rank; }},
    {{"device_type", "", kNumber, "torch's `DeviceType` number: 0 is the host, 1 is CUDA."},
     [](const LeakCandidateRow& r) { return r.place.device_type; }},
    {{"device", "", kNumber, "Number of the device; -1 if it has none."},
     [](const LeakCandidateRow& r) { return r.place.device; }},
    {{"place", "Device", kText, "Its name."}, [](const LeakCandidateRow& r) { return MemoryDeviceName(r.place); }},
    {{"name", "Name", kText, "The innermost operator, range or call on the thread; `(none)` outside of all."},
     [](const Trace& trace, const LeakCandidateRow& r) {
       return r.name == StringId::kNone ? std::string_view("(none)") : trace.text(r.name);
     }},
    {{"bytes", "Bytes", kBytes, "Sum of the sizes."}, [](const LeakCandidateRow& r) { return r.bytes; }},
    {{"allocations", "Allocations", kNumber, "Number of allocations."},
     [](const LeakCandidateRow& r) { return r.allocations; }},
    {{"steps", "Steps", kNumber, "Number of steps in which they were made."},
     [](const LeakCandidateRow& r) { return r.steps; }},
    {{"stack", "Call stack", kText, "Where the program asked for the memory, innermost frame first; empty if unknown."},
     [](const Trace& trace, const LeakCandidateRow& r) { return InnermostFirst(trace, r.stack); }},
};

struct PageProblem {
  size_t row = 0;
};

constexpr ResultField<PageProblem> kPageProblemFields[] = {
    {{"severity", "Severity", kText, "`info`, `data_loss` or `error`."},
     [](const Trace& trace, const PageProblem& p) { return ProblemSeverityName(trace.problems().severity[p.row]); }},
    {{"kind", "Kind", kText, "Kind of problem."},
     [](const Trace& trace, const PageProblem& p) { return trace.text(trace.problems().kind[p.row]); }},
    {{"count", "Count", kNumber, "How often."},
     [](const Trace& trace, const PageProblem& p) { return trace.problems().count[p.row]; }},
    {{"first_offset", "First at byte", kNumber, "Byte of the first one in the input; -1: unknown.", kIfKnown},
     [](const Trace& trace, const PageProblem& p) { return trace.problems().first_offset[p.row]; }},
    {{"message", "Message", kText, "The problem as a sentence."},
     [](const Trace& trace, const PageProblem& p) { return trace.text(trace.problems().message[p.row]); }},
};

std::vector<PageRange> RangesOfSteps(const StepReport& steps) {
  std::vector<PageRange> ranges;
  ranges.reserve(steps.rows.size());
  for (const StepTimes& step : steps.rows)
    ranges.push_back({{step.start_ns, SaturatingAdd(step.start_ns, step.duration_ns)}});
  return ranges;
}

// The longest evidence is the best example of a finding.
std::vector<PageRange> RangesOfFindings(const Advice& advice) {
  std::vector<PageRange> ranges;
  for (const Finding& finding : advice.findings) {
    PageRange& range = ranges.emplace_back();
    int64_t longest = -1;
    for (const Evidence& evidence : finding.evidence) {
      const int64_t length = SaturatingSubtract(evidence.end_ns, evidence.start_ns);
      if (length <= longest) continue;
      longest = length;
      range = {evidence.start_ns, evidence.end_ns};
    }
  }
  return ranges;
}

ResultTable ProblemTable(const Trace& trace) {
  std::vector<PageProblem> problems(trace.problems().size());
  for (size_t row = 0; row < problems.size(); ++row)
    problems[row].row = row;
  return MakeResultTable<PageProblem>(PageProblemResult(), kPageProblemFields, trace, problems);
}

// As the verb with --sort would order it. REQUIRES: the table has the column.
ResultTable Sorted(ResultTable table, std::string_view key) {
  const Status sorted = table.Sort(key);
  OPSCOPE_CHECK(sorted.ok());
  return table;
}

// The operator summary by name and one more key, whose texts the rows with the largest self time have.
PageTable GroupedOperators(std::string_view key, const Trace& trace, const OpSummary& summary, std::string why_empty) {
  return {.key = key,
          .table = Sorted(SummaryTable(trace, summary), "self_ns"),
          .why_empty = std::move(why_empty),
          .weight = 2,
          .left_out = summary.left_out};
}

// Of the tabs Overview and About.
void AddOverviewTables(const PageResults& results, std::vector<PageTable>* tables) {
  const std::string no_memory = PageSentence(kNoAllocations);
  const Trace& trace = *results.trace;
  tables->push_back(
      {"steps", StepTimesTable(trace, results.steps), "The trace has no steps.", RangesOfSteps(results.steps), 2});
  tables->push_back(
      {"devices", DeviceTable(trace, results.devices), "No kernels, copies or sets of a device were recorded."});
  tables->push_back({"findings", AdviceTable(trace, results.advice), "Nothing was found that slows the program down.",
                     RangesOfFindings(results.advice)});
  tables->push_back({"memory_devices", MemoryDeviceTable(trace, results.memory), no_memory});
  tables->push_back({"memory_rows", MemoryTable(trace, results.memory), no_memory, {}, 2});
  tables->push_back({"problems", ProblemTable(trace), "The input has no problems."});
}

std::string WhyNoLeaks(const Trace& trace) {
  if (!HasMemoryEvents(trace)) return PageSentence(kNoAllocations);
  return trace.allocations().size() == 0
             ? "Leak candidates are found among allocations. The input has lives of tensors instead."
             : "Every allocation that was made after the first step and whose address is known was freed.";
}

// Of the tabs Operators, Kernels, Modules, Memory and Compare.
void AddOtherTables(const PageResults& results, std::vector<PageTable>* tables) {
  const Trace& trace = *results.trace;
  const std::string no_spans = "The trace has no spans.";
  const auto or_no_spans = [&](const char* why) { return trace.spans().size() == 0 ? no_spans : PageSentence(why); };
  tables->push_back({"operators", Sorted(SummaryTable(trace, results.operators), "self_ns"), no_spans, {}, 6});
  tables->push_back(GroupedOperators("operators_by_shape", trace, results.operators_by_shape, or_no_spans(kNoShapes)));
  tables->push_back(GroupedOperators("operators_by_stack", trace, results.operators_by_stack, or_no_spans(kNoStacks)));
  tables->push_back(
      GroupedOperators("operators_by_module", trace, results.operators_by_module, or_no_spans(kNoModules)));
  tables->push_back({"roofline",
                     RooflineTable(trace, results.roofline),
                     or_no_spans("no FLOPs and bytes are known; they take input shapes: record_shapes=True"),
                     {},
                     2});
  tables->push_back(
      {"kernels",
       Sorted(MakeResultTable<OpSummaryRow>(PageWorkResult(), kPageWorkFields, trace, results.works.rows), "total_ns"),
       "No kernels, copies or sets of a device were recorded.",
       {},
       3});
  tables->push_back(
      {"modules",
       Sorted(MakeResultTable<OpSummaryRow>(PageModuleResult(), kPageModuleFields, trace, results.modules.rows),
              "self_ns"),
       or_no_spans(kNoModules),
       {},
       2});
  tables->push_back({"leaks",
                     MakeResultTable<LeakCandidateRow>(PageLeakResult(), kPageLeakFields, trace, results.leaks),
                     WhyNoLeaks(trace),
                     {},
                     2});
  if (results.diff) tables->push_back({"compare", DiffTable(*results.diff), "Neither trace has spans.", {}, 4});
}

std::vector<PageTable> TablesOf(const PageResults& results) {
  std::vector<PageTable> tables;
  AddOverviewTables(results, &tables);
  if (!results.is_partial) AddOtherTables(results, &tables);
  if (results.job != nullptr) AddJobTables(results, &tables);
  return tables;
}

// [[begin, end], null, ...]: of the first `rows` rows.
void AppendRanges(const std::vector<PageRange>& ranges, size_t rows, std::string* out) {
  out->append("[");
  for (size_t row = 0; row < std::min(rows, ranges.size()); ++row) {
    if (row > 0) *out += ',';
    if (const PageRange& range = ranges[row]; range) {
      out->append("[");
      AppendPageInteger(range->first, out);
      out->append(",");
      AppendPageInteger(range->second, out);
      out->append("]");
    } else {
      out->append("null");
    }
  }
  out->append("]");
}

// How many rows are not among the first `rows`, and the sums of their columns; "null": the page has all rows.
void AppendFolded(const PageTable& page, size_t rows, std::string* out) {
  const OpSummary::LeftOut& left_out = page.left_out;
  if (rows == page.table.size() && left_out.rows == 0) {
    out->append("null");
    return;
  }
  JsonObject folded(out);
  folded.Uint("rows", page.table.size() - rows + left_out.rows);
  folded.Key("sums");
  JsonObject sums(out);
  const std::pair<std::string_view, int64_t> left_out_sums[] = {
      {"count", left_out.count},
      {"self_ns", left_out.self_ns},
      {"total_with_recursion_ns", left_out.total_with_recursion_ns}};
  for (const auto& [key, of_left_out] : left_out_sums) {
    if (const std::optional<int64_t> sum = page.table.SumFrom(rows, key))
      sums.Int(key, SaturatingAdd(*sum, of_left_out));
  }
  sums.Close();
  folded.Close();
}

// The page has the first `rows` rows of the table.
void AppendPageTable(const PageTable& page, size_t rows, PageStrings* strings, std::string* out) {
  JsonObject object(out);
  page.table.AppendJsonColumns(rows, [&](std::string_view text) { return strings->Of(text); }, out);
  if (!page.ranges.empty() || page.key == "steps" || page.key == "findings") {
    AppendRanges(page.ranges, rows, &object.Key("ranges"));
  }
  if (!page.timeline_ranks.empty()) {
    object.Key("timeline_ranks").append("[");
    for (size_t row = 0; row < std::min(rows, page.timeline_ranks.size()); ++row) {
      if (row > 0) *out += ',';
      const auto& rank = page.timeline_ranks[row];
      out->append(rank ? std::to_string(*rank) : "null");
    }
    out->append("]");
  }
  AppendFolded(page, rows, &object.Key("folded"));
  object.Text("why_empty", page.table.size() == 0 ? page.why_empty : "");
  object.Close();
}

}  // namespace

const ResultDescription& PageWorkResult() {
  static const ResultDescription description = DescribeResult<OpSummaryRow>(
      "report", "kernels", "All kernels, copies and sets of devices that have one name.", kPageWorkFields);
  return description;
}

const ResultDescription& PageModuleResult() {
  static const ResultDescription description =
      DescribeResult<OpSummaryRow>("report", "modules", "All calls of modules that have one name.", kPageModuleFields);
  return description;
}

const ResultDescription& PageLeakResult() {
  static const ResultDescription description = DescribeResult<LeakCandidateRow>(
      "report", "leaks",
      "Allocations that were made after the first step and never freed, of one device, "
      "operator and call stack.",
      kPageLeakFields);
  return description;
}

const ResultDescription& PageProblemResult() {
  static const ResultDescription description = DescribeResult<PageProblem>(
      "report", "problems", "What was repaired, dropped or guessed in the input.", kPageProblemFields);
  return description;
}

namespace {

// All tables whole; false: they take more than max_bytes.
bool AppendWholeTables(const std::vector<PageTable>& tables, size_t max_bytes, PageStrings* strings, std::string* out) {
  const size_t begin = out->size();
  JsonObject object(out);
  for (const PageTable& page : tables) {
    AppendPageTable(page, page.table.size(), strings, &object.Key(page.key));
    if (out->size() - begin + strings->uncommitted_bytes() <= max_bytes) continue;
    strings->RollBack();
    out->resize(begin);
    return false;
  }
  object.Close();
  strings->Commit();
  return true;
}

}  // namespace

std::string PageSentence(std::string part) {
  if (part.empty()) return part;
  part.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(part.front())));
  return part + ".";
}

void AppendPageTables(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out) {
  const std::vector<PageTable> tables = TablesOf(results);
  const bool may_fit = std::all_of(tables.begin(), tables.end(), [&](const PageTable& table) {
    return table.table.size() <= max_bytes / (2 * table.table.description().columns.size());
  });
  if (may_fit && AppendWholeTables(tables, max_bytes, strings, out)) return;
  // Bytes of each table with all rows, but for those that cannot fit, as a cell takes two bytes.
  std::vector<size_t> rows, order;
  std::vector<size_t> bytes;
  std::string scratch;
  for (const PageTable& table : tables) {
    const size_t most = max_bytes / (2 * table.table.description().columns.size());
    rows.push_back(std::min(table.table.size(), most));
    scratch.clear();
    AppendPageTable(table, rows.back(), strings, &scratch);
    bytes.push_back(scratch.size() + strings->uncommitted_bytes());
    strings->RollBack();
    order.push_back(order.size());
  }
  // Tables that need less than their share leave the rest to the others.
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return bytes[a] * tables[b].weight < bytes[b] * tables[a].weight; });
  size_t weights = 0;
  for (const PageTable& table : tables)
    weights += table.weight;
  std::vector<std::string> written(tables.size());
  for (const size_t i : order) {
    const size_t share = max_bytes * tables[i].weight / weights;
    for (;;) {
      written[i].clear();
      AppendPageTable(tables[i], rows[i], strings, &written[i]);
      const size_t used = written[i].size() + strings->uncommitted_bytes();
      if (used <= share || rows[i] == 0) break;
      rows[i] = std::min(rows[i] * 9 / 10, rows[i] * share / used);
      strings->RollBack();
    }
    max_bytes -= std::min(max_bytes, written[i].size() + strings->uncommitted_bytes());
    weights -= tables[i].weight;
    strings->Commit();
  }
  JsonObject object(out);
  for (size_t i = 0; i < tables.size(); ++i)
    object.Json(tables[i].key, written[i]);
  object.Close();
}

}  // namespace opscope
