// `opscope merge` as users run it.
// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include <string>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

using MergeVerb = Cli;

// Of a job of two ranks whose clocks are 2 ms apart: five all-reduces that end at the same moments.
std::string RankText(int rank) {
  const int offset_us = rank * 2000;
  std::string text = R"({"baseTimeNanoseconds":1700000000000000000,"distributedInfo":{"backend":"gloo","rank":)" +
                     std::to_string(rank) + R"(,"world_size":2},"traceEvents":[)";
  for (const int end_us : {1000, 2300, 3100, 4700, 5200}) {
    text += text.back() == '[' ? "" : ",";
    text += R"({"ph":"X","cat":"user_annotation","name":"gloo:all_reduce","pid":10,"tid":1,"dur":100,"ts":)" +
            std::to_string(end_us + offset_us - 100) + "}";
  }
  return text + "]}";
}

TEST_F(MergeVerb, BringsTheClocksOfTwoRanksTogether) {
  const std::string files = Quoted(Put("a.json", RankText(0))) + " " + Quoted(Put("b.json", RankText(1)));
  const Outcome outcome = Run("merge " + files + " -o all.opscope --json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(outcome.out);
  EXPECT_EQ(std::string_view(json["schema"]), "opscope.merge/1");
  EXPECT_EQ(uint64_t(json["world_size"]), 2u);
  EXPECT_EQ(std::string_view(json["inputs"].at(0)["clock"]), "reference");
  EXPECT_EQ(std::string_view(json["inputs"].at(1)["clock"]), "collectives");
  EXPECT_EQ(int64_t(json["inputs"].at(1)["offset_ns"]), -2'000'000);
  EXPECT_EQ(uint64_t(json["inputs"].at(1)["sync_points"]), 5u);
  const Outcome info = Run("info --json all.opscope");
  EXPECT_EQ(uint64_t(parser.parse(info.out)["processes"]), 2u);
  EXPECT_EQ(uint64_t(parser.parse(info.out)["spans"]), 10u);
}

TEST_F(MergeVerb, ShowsATableAndWritesChromeJson) {
  const std::string files = Quoted(Put("a.json", RankText(0))) + " " + Quoted(Put("b.json", RankText(1)));
  const Outcome outcome = Run("merge " + files + " -o all.json --to chrome");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_TRUE(outcome.out.starts_with("Rank  File")) << outcome.out;
  EXPECT_NE(outcome.out.find("collectives  -2.000 ms"), std::string::npos) << outcome.out;
  EXPECT_NE(ReadText(Path("all.json")).find("\"labels\":\"rank 1"), std::string::npos);
}

TEST_F(MergeVerb, CallsStandardInputAndOutputByTheirNames) {
  Put("a.json", RankText(0));
  Put("cut.json", RankText(1).substr(0, 300));
  const Outcome table = Run("merge - a.json -o all.opscope < cut.json");
  EXPECT_EQ(table.exit_code, 3);
  EXPECT_NE(table.out.find("   1  standard input"), std::string::npos) << table.out;
  EXPECT_TRUE(table.error.starts_with("opscope: all.opscope: the input ends")) << table.error;
  EXPECT_NE(table.error.find("(standard input)"), std::string::npos) << table.error;
  const Outcome out = Run("merge - a.json -o - < cut.json");
  EXPECT_TRUE(out.error.starts_with("opscope: standard output: the input ends")) << out.error;
}

TEST_F(MergeVerb, TellsWhatIsMissingAndExitsWithThree) {
  const Outcome outcome = Run("merge -q " + Quoted(Put("b.json", RankText(1))) +
                              " -o - | cat >/dev/null; " OPSCOPE_COMMAND " merge b.json -o one.opscope");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.error,
            "opscope: one.opscope: ranks of the job have no file (0)\n"
            "opscope: one.opscope: doubtful: problem rank_missing\n");
}

TEST_F(MergeVerb, WritesNothingWhenAFileCannotBeRead) {
  const std::string file = Quoted(Put("a.json", RankText(0)));
  const Outcome outcome = Run("merge " + file + " missing.json -o all.opscope");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.error, "opscope: missing.json: No such file or directory\n");
  EXPECT_FALSE(fs::exists(folder_ / "all.opscope"));
  EXPECT_EQ(Run("merge " + file).exit_code, 2) << "without -o";
  EXPECT_EQ(Run("merge " + file + " -o x --max-clock-difference -1").exit_code, 2);
}

}  // namespace
}  // namespace opscope
