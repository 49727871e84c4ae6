// The results of analyses: the operator summary, modules, devices, critical paths. Rows are passed to Python as tables
// (OwnedTable), so that numbers stay numbers, and pandas or Arrow can read them without a copy.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "opscope/analysis/advise.h"
#include "opscope/analysis/critical_path.h"
#include "opscope/analysis/device_report.h"
#include "opscope/analysis/memory_usage.h"
#include "opscope/analysis/modules.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/roofline.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/analysis/steps.h"
#include "opscope/report.h"

namespace opscope::python {
namespace {

using Where = nb::object;  // of `WhereArgument`
using Selected = const std::vector<uint8_t>*;

// What `compute` gives for the spans that `where` chooses.
template <typename Compute>
auto OfSelected(const SharedTrace& self, const Where& where, Compute compute) {
  const std::optional<std::string> condition = WhereArgument(where);
  return Unwrap(WithoutGil([&]() -> decltype(compute(*self.trace, nullptr)) {
    if (!condition) return compute(*self.trace, nullptr);
    const Result<SpanFilter> filter = ParseWhere(*condition);
    if (!filter.ok()) return filter.error();
    const std::vector<uint8_t> selected = filter.value().Select(*self.trace);
    return compute(*self.trace, &selected);
  }));
}

// The rows as a table of Python.
template <typename Compute>
ComputedTable RowsOf(const SharedTrace& self, const Where& where, Compute compute) {
  return ToComputedTable(OfSelected(self, where, [&](const Trace& trace, Selected spans) {
    return Result<std::shared_ptr<const OwnedTable>>(compute(trace, spans).ToTable());
  }));
}

GroupKey GroupKeyOf(const std::string& name) {
  if (const std::optional<GroupKey> key = GroupKeyFromName(name)) return *key;
  std::string known;
  for (const std::string_view key : GroupKeyNames())
    known.append(known.empty() ? "" : ", ").append(key);
  Raise({ErrorCode::kInvalidArgument, "cannot group by '" + name + "'; known: " + known});
}

ComputedTable SummaryRows(const SharedTrace& self, nb::list group_by, nb::handle sort, std::optional<size_t> limit,
                          bool corrected, const Where& where) {
  const std::string sort_key = TextArgument(sort, "sort");
  OpSummaryOptions options{.group_by = GroupKeysArgument(group_by)};
  using Rows = Result<std::shared_ptr<const OwnedTable>>;
  return ToComputedTable(OfSelected(self, where, [&](const Trace& trace, Selected spans) -> Rows {
    Result<SpanOverheads> overhead = SpanOverheads{};
    if (corrected) {
      overhead = MeasureOverhead(trace);
      if (!overhead.ok()) return overhead.error();
      options.overhead = &overhead.value();
    }
    options.selected = spans;
    ResultTable table = SummaryTable(trace, SummarizeOps(trace, options));
    OPSCOPE_TRY(table.Sort(sort_key));
    return table.ToTable(limit);
  }));
}

ComputedTable StepRows(const SharedTrace& self, const Where& where) {
  return RowsOf(self, where,
                [](const Trace& trace, Selected spans) { return StepTimesTable(trace, MeasureSteps(trace, spans)); });
}

ComputedTable StepDurationRow(const SharedTrace& self, const Where& where) {
  return RowsOf(self, where, [](const Trace& trace, Selected spans) {
    return StepDurationsTable(trace, MeasureSteps(trace, spans));
  });
}

// The findings, the evidence of all of them, and how many each has.
nb::tuple AdviceRows(const SharedTrace& self, const Where& where) {
  std::vector<size_t> counts;
  std::shared_ptr<const OwnedTable> evidence;
  ComputedTable findings = RowsOf(self, where, [&](const Trace& trace, Selected spans) {
    const Advice advice = Advise(trace, {.selected = spans});
    for (const Finding& finding : advice.findings)
      counts.push_back(finding.evidence.size());
    evidence = EvidenceTable(trace, advice).ToTable();
    return AdviceTable(trace, advice);
  });
  return nb::make_tuple(std::move(findings), ToComputedTable(std::move(evidence)), counts);
}

ComputedTable DeviceRows(const SharedTrace& self, const Where& where, int64_t kernel_gap_ns) {
  return RowsOf(self, where, [&](const Trace& trace, Selected spans) {
    return DeviceTable(trace, MeasureDevices(trace, {.selected = spans, .kernel_gap_ns = kernel_gap_ns}));
  });
}

nb::object DeviceText(const SharedTrace& self, const Where& where, int64_t kernel_gap_ns) {
  return ToText(OfSelected(self, where, [&](const Trace& trace, Selected spans) {
    return Result<std::string>(
        DeviceTable(trace, MeasureDevices(trace, {.selected = spans, .kernel_gap_ns = kernel_gap_ns})).Text());
  }));
}

ComputedTable KernelRows(const SharedTrace& self, const Where& where) {
  return RowsOf(self, where,
                [](const Trace& trace, Selected spans) { return KernelTable(trace, MeasureKernels(trace, spans)); });
}

ComputedTable CopyRows(const SharedTrace& self, const Where& where, uint64_t small_bytes) {
  return RowsOf(self, where, [&](const Trace& trace, Selected spans) {
    return CopyTable(trace, MeasureCopies(trace, {.selected = spans, .small_bytes = small_bytes}));
  });
}

template <ResultTable (*kTable)(const Trace&, const MemoryUsage&)>
ComputedTable MemoryRows(const SharedTrace& self, const Where& where) {
  return RowsOf(self, where,
                [](const Trace& trace, Selected spans) { return kTable(trace, MeasureMemoryUsage(trace, spans)); });
}

ComputedTable CriticalPathRows(const SharedTrace& self, const Where& where) {
  return RowsOf(self, where, [](const Trace& trace, Selected spans) {
    return CriticalPathTable(trace, FindCriticalPaths(trace, {.selected = spans, .rows = false}).paths);
  });
}

ComputedTable CriticalPathEdgeRows(const SharedTrace& self, const Where& where) {
  return RowsOf(self, where, [](const Trace& trace, Selected spans) {
    return CriticalPathEdgeTable(trace, FindCriticalPaths(trace, {.selected = spans}));
  });
}

nb::object CriticalPathTextOf(const SharedTrace& self, const Where& where) {
  return ToText(OfSelected(self, where, [](const Trace& trace, Selected spans) {
    return Result<std::string>(CriticalPathText(trace, FindCriticalPaths(trace, {.selected = spans})));
  }));
}

RooflineReport RooflineOf(const Trace& trace, Selected spans, std::optional<double> peak_flops,
                          std::optional<double> peak_bandwidth) {
  return MeasureRoofline(trace, {.selected = spans, .peak_flops = peak_flops, .peak_bandwidth = peak_bandwidth});
}

ComputedTable RooflineRows(const SharedTrace& self, const Where& where, std::optional<double> peak_flops,
                           std::optional<double> peak_bandwidth) {
  return RowsOf(self, where, [&](const Trace& trace, Selected spans) {
    return RooflineTable(trace, RooflineOf(trace, spans, peak_flops, peak_bandwidth));
  });
}

ComputedTable RooflineMachine(const SharedTrace& self, const Where& where, std::optional<double> peak_flops,
                              std::optional<double> peak_bandwidth) {
  return RowsOf(self, where, [&](const Trace& trace, Selected spans) {
    return RooflineMachineTable(trace, RooflineOf(trace, spans, peak_flops, peak_bandwidth));
  });
}

ComputedTable ModuleRows(const SharedTrace& self, const Where& where) {
  return RowsOf(self, where,
                [](const Trace& trace, Selected spans) { return ModuleTable(trace, SummarizeModules(trace, spans)); });
}

nb::object ModuleText(const SharedTrace& self, const Where& where) {
  return ToText(OfSelected(self, where, [](const Trace& trace, Selected spans) {
    const ModuleSummary summary = SummarizeModules(trace, spans);
    return Result<std::string>(summary.nodes.size() < 2 ? std::string() : ModuleTable(trace, summary).Text());
  }));
}

nb::list DescribedResults() {
  nb::list results;
  for (const ResultDescription* result : ResultDescriptions()) {
    nb::list fields;
    for (const ResultColumn& column : result->columns) {
      if (!column.key.empty()) fields.append(nb::make_tuple(ToText(column.key), ToText(column.documentation)));
    }
    results.append(nb::make_tuple(ToText(result->verb), ToText(result->list), ToText(result->documentation), fields));
  }
  return results;
}

}  // namespace

std::vector<GroupKey> GroupKeysArgument(nb::list names) {
  std::vector<GroupKey> keys;
  for (const nb::handle name : names)
    keys.push_back(GroupKeyOf(TextArgument(name, "group_by")));
  return keys;
}

void BindResults(nb::module_& module) {
  const auto define = [&](const char* name, auto function, const auto&... arguments) {
    module.def(name, function, nb::arg("trace"), nb::arg("where").none() = nb::none(), arguments...);
  };
  const auto gap = nb::arg("kernel_gap_ns") = DeviceOptions().kernel_gap_ns;
  module.def("summary", &SummaryRows, nb::arg("trace"), nb::arg("group_by"), nb::arg("sort"), nb::arg("limit").none(),
             nb::arg("corrected") = false, nb::arg("where").none() = nb::none(),
             "The operator summary, at most `limit` rows.");
  module.def("result_descriptions", &DescribedResults,
             "(verb, list, documentation, (field, documentation) of each) of all results; docs/reference/results.md.");
  define("modules", &ModuleRows);
  define("module_table", &ModuleText);
  define("steps_summary", &StepRows);
  define("step_durations", &StepDurationRow);
  define("advise", &AdviceRows);
  define("devices", &DeviceRows, gap);
  define("device_table", &DeviceText, gap);
  define("device_kernels", &KernelRows);
  define("memory", &MemoryRows<&MemoryTable>);
  define("memory_devices", &MemoryRows<&MemoryDeviceTable>);
  define("memory_steps", &MemoryRows<&MemoryStepTable>);
  define("critical_paths", &CriticalPathRows);
  define("critical_path_edges", &CriticalPathEdgeRows);
  define("critical_path_table", &CriticalPathTextOf);
  const auto peak_flops = nb::arg("peak_flops").none() = nb::none();
  const auto peak_bandwidth = nb::arg("peak_bandwidth").none() = nb::none();
  define("roofline", &RooflineRows, peak_flops, peak_bandwidth);
  define("roofline_machine", &RooflineMachine, peak_flops, peak_bandwidth);
  define("device_copies", &CopyRows, nb::arg("small_bytes") = DeviceCopyOptions().small_bytes);
}

}  // namespace opscope::python
