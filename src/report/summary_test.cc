// The operator summary as a table for people.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace/builder.h"

namespace opscope {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two rows: an operator that launched 30 us on a device, and the kernel that it launched, beside 10 us of another.
struct DeviceRows {
  DeviceRows() {
    TraceBuilder builder;
    for (const char* name : {"aten::mm", "gemm", "memset"}) {
      OpSummaryRow row;
      row.name = builder.Intern(name);
      row.count = 1;
      row.total_ns = row.self_ns = 20'000;
      summary.rows.push_back(row);
    }
    summary.rows[0].device_self_ns = summary.rows[0].device_total_ns = 30'000;
    summary.rows[1].device_self_ns = summary.rows[1].device_total_ns = 30'000;
    summary.rows[2].device_self_ns = summary.rows[2].device_total_ns = 10'000;
    summary.device_self_ns = 40'000;
    trace = builder.Build();
  }
  Trace trace;
  OpSummary summary;
};

TEST(SummaryTable, HasTheSharesOfDeviceTimeBesideTheTimes) {
  const DeviceRows rows;
  const std::string table = FormatSummaryTable(rows.trace, rows.summary);
  EXPECT_THAT(table, HasSubstr("Self %  Device total  Device self  Device %  Mean"));
  EXPECT_THAT(table, HasSubstr("     -     30.000 us    30.000 us     75.0%"));
  EXPECT_THAT(table, HasSubstr("     -     10.000 us    10.000 us     25.0%"));
}

TEST(SummaryTable, HasNoDeviceColumnsWithoutADevice) {
  DeviceRows rows;
  for (OpSummaryRow& row : rows.summary.rows)
    row.device_self_ns = row.device_total_ns = 0;
  rows.summary.device_self_ns = 0;
  EXPECT_THAT(FormatSummaryTable(rows.trace, rows.summary), Not(HasSubstr("Device")));
}

TEST(SummaryTable, KeepsWhatWasAskedForInANarrowTerminal) {
  DeviceRows rows;
  rows.summary.rows[0].flops = 1'000'000;
  const std::string table =
      FormatSummaryTable(rows.trace, rows.summary, {.width = 60, .peak_flops = 1e12, .sort = "p99_ns"});
  const std::string titles = table.substr(0, table.find('\n'));
  for (const char* title : {"P99", "FLOP/s", "% of peak"})
    EXPECT_THAT(titles, HasSubstr(title));
  EXPECT_THAT(table, HasSubstr("\nLeft out: "));
}

}  // namespace
}  // namespace opscope
