// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "export/export_for_test.h"
#include "opscope/table.h"

namespace opscope {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Csv(const Trace& trace, const std::string& table) {
  return ExportAll(trace, ExportFormat::kCsv, {.table = table}).bytes;
}

TEST(CsvExport, HasAHeaderAndALinePerRow) {
  EXPECT_EQ(Csv(MakeEverything(), "counters"), "time,name,series,track,value\r\n20,load,cpu,0,0.5\r\n");
  EXPECT_EQ(Csv(MakeEverything(), "processes"),
            "pid,pid_text,name,labels,sort_index,rank,host\r\n12,,python,,,,\r\n0,,python,GPU 0,,,\r\n");
  EXPECT_EQ(Csv(Trace(), "steps"), "number,name,span\r\n");
}

TEST(CsvExport, GivesSpansTheirTextsAndArguments) {
  const std::string csv = Csv(MakeEverything(), "spans");
  EXPECT_THAT(csv, StartsWith("start,duration,name,overload,category,track,parent,depth,flags,scope,kind,sequence,"
                              "forward_thread,correlation,external_id,args,stack,extra\r\n"
                              "-100,1100,step,,user_annotation,0,,0,0,,9,,,,,,,\r\n"));
  EXPECT_THAT(csv, HasSubstr("\r\n100,400,a,Tensor,cpu_op,0,0,1,0,,1,3,,,1,"
                             "\"{\"\"Concrete Inputs\"\": [\"\"\"\"], \"\"Input type\"\": [\"\"float\"\"], "
                             "\"\"Input Strides\"\": [[]], \"\"Input Dims\"\": [[2, 4]]}\",,\r\n"));
}

TEST(CsvExport, QuotesAndDisarmsHostileNames) {
  EXPECT_THAT(Csv(MakeEverything(true), "spans"), HasSubstr(",\"'=b\\xff\\x5cx41;\n\"\",\\x00\",,cpu_op,"));
  for (const std::string_view name : {"=1+1", "+1", "-1", "@x", "\tx", "'x"}) {
    TraceBuilder builder;
    builder.AddProcess({.pid = 1, .name = builder.Intern(name)});
    EXPECT_THAT(Csv(builder.Build(), "processes"), HasSubstr("1,,'" + std::string(name) + ",,"));
  }
}

TEST(CsvExport, TellsAnEmptyTextFromNone) {
  TraceBuilder builder;
  builder.AddProcess({.pid = 1, .name = StringId::kEmpty});
  EXPECT_THAT(Csv(builder.Build(), "processes"), HasSubstr("1,,\"\",,"));
}

TEST(CsvExport, KnowsEveryTable) {
  for (const std::string_view name : TableNames()) {
    const std::string csv = Csv(MakeEverything(), std::string(name));
    EXPECT_EQ(static_cast<size_t>(std::count(csv.begin(), csv.end(), '\n')),
              FindTable(MakeEverything(), name)->rows + 1)
        << name;
  }
}

TEST(CsvExport, OfAnUnknownTableNamesThoseThereAre) {
  const Result<Exported> exported = ExportTrace(Trace(), ExportFormat::kCsv, "/nowhere/x", {.table = "rows"});
  ASSERT_FALSE(exported.ok());
  EXPECT_EQ(exported.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(exported.error().message, StartsWith("there is no table \"rows\"; tables: processes tracks spans "));
}

}  // namespace
}  // namespace opscope
