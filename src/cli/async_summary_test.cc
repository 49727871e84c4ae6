// A trace of asynchronous spans alone says so, and the summary lists them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

TEST_F(Cli, SummaryListsAsynchronousSpans) {
  constexpr const char kAsync[] =
      R"([{"ph":"b","name":"request","cat":"c","id":1,"pid":1,"tid":1,"ts":0},
{"ph":"b","name":"request","cat":"c","id":2,"pid":1,"tid":1,"ts":1},
{"ph":"e","name":"request","cat":"c","id":1,"pid":1,"tid":1,"ts":10},
{"ph":"e","name":"request","cat":"c","id":2,"pid":1,"tid":1,"ts":31}])";
  const std::string file = Quoted(Put("async.json", kAsync));
  const Outcome people = Run("summary " + file);
  EXPECT_EQ(people.exit_code, 0);
  EXPECT_NE(people.error.find("all its spans are asynchronous"), std::string::npos) << people.error;
  EXPECT_NE(people.out.find("request"), std::string::npos) << people.out;
  EXPECT_NE(people.out.find("40.000 us"), std::string::npos) << people.out;
  simdjson::dom::parser parser;
  const std::string json = Run("summary --json " + file).out;
  const simdjson::dom::element document = parser.parse(json);
  EXPECT_EQ(document["rows"].get_array().value().size(), 0u);
  const simdjson::dom::array rows = document["async_rows"].get_array();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.at(0)["count"].get_int64().value(), 2);
  EXPECT_EQ(rows.at(0)["total_ns"].get_int64().value(), 40'000);
  EXPECT_EQ(rows.at(0)["mean_ns"].get_int64().value(), 20'000);
  EXPECT_EQ(rows.at(0)["min_ns"].get_int64().value(), 10'000);
  EXPECT_EQ(rows.at(0)["max_ns"].get_int64().value(), 30'000);
  const std::string spans = Quoted(Put("spans.json", R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}])"));
  EXPECT_EQ(Run("summary --json " + spans).out.find("async_rows"), std::string::npos);
  EXPECT_NE(Run("flame " + file).error.find("all its spans are asynchronous"), std::string::npos);
}

}  // namespace
}  // namespace opscope
