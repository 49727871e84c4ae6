// The answers of `opscope check`. JUnit has no standard, but all readers take <testsuite> with counts and <testcase>
// with an optional <failure>.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/check.h"

#include <algorithm>
#include <string_view>

#include "base/escaped_text.h"
#include "base/xml_text.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

std::string_view MetricName(const CheckRow& row) {
  return CheckMetricNames()[static_cast<size_t>(row.limit.metric)];
}

constexpr ResultField<CheckRow> kCheckFields[] = {
    {{"metric", "Metric", kText, "What the limit is for."}, [](const CheckRow& r) { return MetricName(r); }},
    {{"name", "Name", kOptionalText, "Name of the operator; null unless the metric is one of operators."},
     [](const CheckRow& r) { return r.limit.name; }},
    {{"limit_kind", "Kind", kText, "`min`, `max`, `max_increase` or `max_decrease`."},
     [](const CheckRow& r) { return LimitKindName(r.limit.kind); }},
    {{"value", "Value", kDouble, "Of the trace; null if it does not have the metric."},
     [](const CheckRow& r) { return r.value; }},
    {{"baseline", "Baseline", kDouble, "Of the baseline; null for `min` and `max`.", kIfKnown},
     [](const CheckRow& r) { return r.baseline; }},
    {{"limit", "Limit", kDouble, "The number that the value is compared with."},
     [](const CheckRow& r) { return r.bound; }},
    {{"passed", "Passed", kTruth, "False if the limit is crossed."}, [](const CheckRow& r) { return r.passed; }},
    {{"message", "", kText, "The comparison in a sentence."}, [](const CheckRow& r) { return r.message; }},
};

void AppendTestCase(const CheckRow& row, std::string* out) {
  *out += "  <testcase classname=\"opscope.check\" name=\"";
  AppendXml(MetricName(row), out);
  if (!row.limit.name.empty()) AppendXml(":" + row.limit.name, out);
  out->append(" ").append(LimitKindName(row.limit.kind)).append("\"");
  if (row.passed) {
    *out += "/>\n";
    return;
  }
  *out += ">\n    <failure message=\"";
  AppendXml(row.message, out);
  *out += "\"/>\n  </testcase>\n";
}

}  // namespace

const ResultDescription& CheckResult() {
  static const ResultDescription description =
      DescribeResult<CheckRow>("check", "rows", "A limit, in the order in which they are given.", kCheckFields);
  return description;
}

ResultTable CheckTable(const std::vector<CheckRow>& rows) {
  return MakeResultTable<CheckRow>(CheckResult(), kCheckFields, Trace(), rows);
}

VerbResult CheckVerbResult(const std::vector<CheckRow>& rows) {
  const bool passed = std::all_of(rows.begin(), rows.end(), [](const CheckRow& row) { return row.passed; });
  VerbResult result;
  result.tables.push_back(CheckTable(rows));
  result.facts_json = passed ? "\"passed\":true" : "\"passed\":false";
  for (const CheckRow& row : rows)
    if (!row.passed) result.note += "Crossed: " + EscapedText(row.message) + "\n";
  return result;
}

std::string CheckJUnit(const std::vector<CheckRow>& rows) {
  const auto failures = std::count_if(rows.begin(), rows.end(), [](const CheckRow& row) { return !row.passed; });
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"opscope check\" tests=\"" +
                    std::to_string(rows.size()) + "\" failures=\"" + std::to_string(failures) + "\">\n";
  for (const CheckRow& row : rows)
    AppendTestCase(row, &out);
  return out + "</testsuite>\n";
}

}  // namespace opscope
