// The operator summary and the texts of reports for C. Names are copied when the summary is made, because C
// needs texts that end with a 0 byte and those of a Trace do not.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "c_api/handles.h"
#include "c_api/structs.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/report.h"

using opscope::ErrorCode;
using opscope::c_api::Fail;
using opscope::c_api::Guard;
using opscope::c_api::NullArgument;

struct opscope_summary {
  const opscope::Trace* trace;
  opscope::OpSummary summary;
  std::vector<std::string> names;              // of rows
  std::vector<std::vector<const char*>> keys;  // of rows, into summary.rows
};

namespace opscope::c_api {
namespace {

// "name,shape" -> keys. Empty: a word that is no key, which is then in *wrong.
std::vector<GroupKey> ReadGroupKeys(std::string_view names, std::string_view* wrong) {
  std::vector<GroupKey> keys;
  while (true) {
    const size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    const std::optional<GroupKey> key = GroupKeyFromName(name);
    if (!key) {
      *wrong = name;
      return {};
    }
    keys.push_back(*key);
    if (comma == std::string_view::npos) return keys;
    names.remove_prefix(comma + 1);
  }
}

void CopyTexts(opscope_summary* summary) {
  for (const OpSummaryRow& row : summary->summary.rows) {
    summary->names.emplace_back(summary->trace->text(row.name));
    std::vector<const char*>& keys = summary->keys.emplace_back();
    for (const std::string& key : row.keys)
      keys.push_back(key.c_str());
  }
}

opscope_code Summarize(const opscope_trace* trace, const opscope_summary_options& options, opscope_summary** summary,
                       opscope_error* error) {
  std::string_view wrong;
  OpSummaryOptions wanted;
  wanted.group_by = ReadGroupKeys(options.group_by == nullptr ? "name" : options.group_by, &wrong);
  if (wanted.group_by.empty()) {
    return Fail(error, ErrorCode::kInvalidArgument, "summary: no group key '" + std::string(wrong) + "'");
  }
  Result<SpanOverheads> overhead = SpanOverheads{};
  if (options.corrected != 0) {
    overhead = MeasureOverhead(trace->trace);
    if (!overhead.ok()) return Report(overhead.error(), error);
    wanted.overhead = &overhead.value();
  }
  std::vector<uint8_t> selected;
  if (options.where != nullptr) {
    const Result<SpanFilter> filter = SpanFilter::Parse(options.where);
    if (!filter.ok()) return Fail(error, filter.error().code, "summary: where: " + filter.error().message);
    selected = filter.value().Select(trace->trace);
    wanted.selected = &selected;
  }
  auto made = std::make_unique<opscope_summary>();
  made->trace = &trace->trace;
  made->summary = SummarizeOps(trace->trace, wanted);
  if (options.sort_by != nullptr) {
    const Status sorted = SortOpSummary(trace->trace, &made->summary, options.sort_by);
    if (!sorted.ok()) return Report(sorted, error);
  }
  CopyTexts(made.get());
  *summary = made.release();
  return OPSCOPE_OK;
}

opscope_code WrongStyle(opscope_error* error) {
  return Fail(error, ErrorCode::kInvalidArgument, "there is no such style of text");
}

Result<std::string> TorchTable(const Trace& trace, const char* sort_by, int64_t row_limit) {
  const FunctionEvents events = BuildFunctionEvents(trace);
  const std::vector<FunctionEventAverage> averages = AverageFunctionEvents(trace, events, {});
  TorchTableOptions table;
  if (sort_by != nullptr) table.sort_by = sort_by;
  table.row_limit = row_limit;
  table.profile_memory = events.profile_memory;
  table.with_flops = events.with_flops;
  table.use_device = events.use_device;
  table.fail_like_torch = false;
  return FormatTorchTable(TorchTableRows(trace, events, averages), table);
}

}  // namespace
}  // namespace opscope::c_api

opscope_code opscope_summarize(const opscope_trace* trace, const opscope_summary_options* options,
                               opscope_summary** summary, opscope_error* error) {
  if (trace == nullptr || summary == nullptr) return NullArgument(error);
  *summary = nullptr;
  opscope_summary_options given = OPSCOPE_SUMMARY_OPTIONS_INIT;
  if (!opscope::c_api::ReadStruct(options, &given)) return opscope::c_api::UnknownMembers(error);
  return Guard(error, [&] { return opscope::c_api::Summarize(trace, given, summary, error); });
}

void opscope_summary_free(opscope_summary* summary) {
  delete summary;
}

uint64_t opscope_summary_row_count(const opscope_summary* summary) {
  return summary == nullptr ? 0 : summary->names.size();
}

opscope_code opscope_summary_get_row(const opscope_summary* summary, uint64_t index, opscope_summary_row* row) {
  if (summary == nullptr || row == nullptr || index >= summary->names.size()) return OPSCOPE_INVALID_ARGUMENT;
  const opscope::OpSummaryRow& from = summary->summary.rows[index];
  opscope_summary_row to = OPSCOPE_SUMMARY_ROW_INIT;
  to.name = summary->names[index].c_str();
  to.keys = summary->keys[index].data();
  to.key_count = summary->keys[index].size();
  to.count = from.count;
  to.total_ns = from.total_ns;
  to.total_with_recursion_ns = from.total_with_recursion_ns;
  to.self_ns = from.self_ns;
  to.min_ns = from.min_ns;
  to.max_ns = from.max_ns;
  to.mean_ns = from.mean_ns();
  to.device_total_ns = from.device_total_ns;
  to.device_self_ns = from.device_self_ns;
  to.self_memory_bytes = from.self_memory_bytes;
  to.flops = from.flops;
  to.p50_ns = from.p50_ns;
  to.p99_ns = from.p99_ns;
  to.stddev_ns = from.stddev_ns;
  to.on_device = from.on_device ? 1 : 0;
  return opscope::c_api::WriteStruct(to, row);
}

opscope_code opscope_summary_text(const opscope_summary* summary, int style, size_t limit, char** text,
                                  opscope_error* error) {
  if (summary == nullptr || text == nullptr) return NullArgument(error);
  *text = nullptr;
  return Guard(error, [&] {
    opscope::VerbResult result = opscope::SummaryVerbResult(*summary->trace, summary->summary);
    switch (style) {
      case OPSCOPE_TEXT_TABLE:
        return opscope::c_api::ReturnText(ResultText(result, {.limit = limit}), text, error);
      case OPSCOPE_TEXT_JSON:
        result.quality = opscope::JudgeQuality(*summary->trace);
        return opscope::c_api::ReturnText(ResultJson(result, *summary->trace, {.limit = limit}), text, error);
      case OPSCOPE_TEXT_CSV:
        return opscope::c_api::ReturnText(result.tables[0].Csv(limit), text, error);
      default:
        return opscope::c_api::WrongStyle(error);
    }
  });
}

opscope_code opscope_trace_info_text(const opscope_trace* trace, int style, char** text, opscope_error* error) {
  if (trace == nullptr || text == nullptr) return NullArgument(error);
  *text = nullptr;
  if (style != OPSCOPE_TEXT_TABLE && style != OPSCOPE_TEXT_JSON) return opscope::c_api::WrongStyle(error);
  return Guard(error, [&] {
    const bool json = style == OPSCOPE_TEXT_JSON;
    return opscope::c_api::ReturnText(
        json ? opscope::InfoJson(trace->trace, opscope::JudgeQuality(trace->trace)) : opscope::FormatInfo(trace->trace),
        text, error);
  });
}

opscope_code opscope_torch_table(const opscope_trace* trace, const char* sort_by, int64_t row_limit, char** text,
                                 opscope_error* error) {
  if (trace == nullptr || text == nullptr) return NullArgument(error);
  *text = nullptr;
  return Guard(error, [&] {
    const opscope::Result<std::string> table = opscope::c_api::TorchTable(trace->trace, sort_by, row_limit);
    if (!table.ok()) return opscope::c_api::Report(table.error(), error);
    return opscope::c_api::ReturnText(table.value(), text, error);
  });
}

void opscope_text_free(char* text) {
  std::free(text);
}
