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
  const std::string table = SummaryTable(rows.trace, rows.summary).Text();
  EXPECT_THAT(table, HasSubstr("Self %  Device total  Device self  Device %  Mean"));
  EXPECT_THAT(table, HasSubstr("     -     30.000 us    30.000 us     75.0%"));
  EXPECT_THAT(table, HasSubstr("     -     10.000 us    10.000 us     25.0%"));
}

TEST(SummaryTable, HasNoDeviceColumnsWithoutADevice) {
  DeviceRows rows;
  for (OpSummaryRow& row : rows.summary.rows)
    row.device_self_ns = row.device_total_ns = 0;
  rows.summary.device_self_ns = 0;
  EXPECT_THAT(SummaryTable(rows.trace, rows.summary).Text(), Not(HasSubstr("Device")));
}

TEST(SummaryTable, KeepsWhatWasAskedForInANarrowTerminal) {
  DeviceRows rows;
  rows.summary.rows[0].flops = 1'000'000;
  ResultTable result = SummaryTable(rows.trace, rows.summary, {.peak_flops = 1e12});
  ASSERT_TRUE(result.Sort("p99_ns").ok());
  const std::string table = result.Text(0, 60);
  const std::string titles = table.substr(0, table.find('\n'));
  for (const char* title : {"P99", "FLOP/s", "% of peak"})
    EXPECT_THAT(titles, HasSubstr(title));
  EXPECT_THAT(table, HasSubstr("\nLeft out: "));
}

TEST(SortOpSummary, SortsDescendingAndStablyByAnyField) {
  DeviceRows rows;
  rows.summary.rows[2].self_ns = 30'000;
  const auto name = [&](size_t row) { return rows.trace.text(rows.summary.rows[row].name); };
  ASSERT_TRUE(SortOpSummary(rows.trace, &rows.summary, "self_ns").ok());
  EXPECT_EQ(name(0), "memset");
  EXPECT_EQ(name(1), "aten::mm");
  ASSERT_TRUE(SortOpSummary(rows.trace, &rows.summary, "device_total").ok());
  EXPECT_EQ(name(0), "aten::mm");
  EXPECT_EQ(name(2), "memset");
  ASSERT_TRUE(SortOpSummary(rows.trace, &rows.summary, "name").ok());
  EXPECT_EQ(name(1), "gemm");
}

TEST(SortOpSummary, NamesTheFieldsWhenAskedForAnother) {
  DeviceRows rows;
  const Status status = SortOpSummary(rows.trace, &rows.summary, "price");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(status.error().message.find("'price'"), std::string::npos);
  EXPECT_NE(status.error().message.find("device_self_ns"), std::string::npos);
}

}  // namespace
}  // namespace opscope
