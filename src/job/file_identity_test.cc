// SPDX-License-Identifier: Apache-2.0
#include "job/file_identity.h"

#include <gtest/gtest.h>

#include <string>

#include "opscope/import.h"

namespace opscope {
namespace {

Trace WithMetadata(const std::string& members) {
  const std::string json =
      "{" + members + R"("traceEvents":[{"ph":"X","name":"aten::add","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":2}]})";
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(json.data(), json.size())), "test.json");
  EXPECT_TRUE(trace.ok());
  return std::move(trace).value();
}

TEST(FileIdentityTest, TakesTheRankOfTheMetadataBeforeThatOfTheName) {
  const Trace trace = WithMetadata(R"("distributedInfo":{"rank":3,"world_size":8},)");
  const FileIdentity identity = IdentifyFile(trace, "run/rank5.json", std::nullopt);
  EXPECT_EQ(identity.rank, 3);
  EXPECT_EQ(identity.rank_from, "metadata");
  EXPECT_EQ(identity.rank_of_name, 5);
  EXPECT_EQ(identity.world_size, 8);
  EXPECT_EQ(IdentifyFile(trace, "run/rank3.json", std::nullopt).rank_of_name, std::nullopt);
}

TEST(FileIdentityTest, TakesTheRankOfTheNameElseNone) {
  const Trace trace = WithMetadata("");
  EXPECT_EQ(IdentifyFile(trace, "rank_7.json", std::nullopt).rank, 7);
  EXPECT_EQ(IdentifyFile(trace, "rank_7.json", std::nullopt).rank_from, "file_name");
  EXPECT_EQ(IdentifyFile(trace, "run.json", std::nullopt).rank, -1);
  EXPECT_EQ(IdentifyFile(trace, "run.json", std::nullopt).rank_from, "none");
  EXPECT_EQ(IdentifyFile(trace, "run.json", std::nullopt).world_size, -1);
}

TEST(FileIdentityTest, FindsTheAttempt) {
  const Trace trace = WithMetadata(R"("opscope_attempt":2,)");
  EXPECT_EQ(IdentifyFile(trace, "attempt-4/run.json", std::nullopt).attempt, 2);
  EXPECT_EQ(IdentifyFile(trace, "attempt-4/run.json", 9).attempt, 9);
  EXPECT_EQ(IdentifyFile(WithMetadata(""), "attempt-4/run.json", std::nullopt).attempt, 4);
  EXPECT_EQ(AttemptFromPath("a/attempt_1/attempt12/x.json"), 12);
  EXPECT_EQ(AttemptFromPath("a/attempt1x/x.json"), std::nullopt);
  EXPECT_EQ(AttemptFromPath("a/attempt-3.json"), std::nullopt);
}

TEST(FileIdentityTest, FindsTheStageInThePipelineGroup) {
  const auto stage_with = [](const std::string& description) {
    const Trace trace = WithMetadata(R"("distributedInfo":{"rank":6,"world_size":8,"pg_config":[
        {"pg_name":"0","pg_desc":"default_pg","ranks":[0,1,2,3,4,5,6,7]},
        {"pg_name":"2","pg_desc":")" +
                                     description + R"(","ranks":[2,6]}]},)");
    return IdentifyFile(trace, "x.json", std::nullopt).stage;
  };
  EXPECT_EQ(stage_with("PIPELINE_MODEL_PARALLEL_GROUP"), 1);
  EXPECT_EQ(stage_with("mesh_pp"), 1);
  EXPECT_EQ(stage_with("pp"), 1);
  EXPECT_EQ(stage_with("apple"), -1);
  EXPECT_EQ(stage_with("tp"), -1);
}

TEST(FileIdentityTest, IgnoresMetadataOfAnotherShape) {
  const Trace trace = WithMetadata(R"("distributedInfo":[1],"host_name":5,"opscope_attempt":"x",)");
  const FileIdentity identity = IdentifyFile(trace, "x.json", std::nullopt);
  EXPECT_EQ(identity.rank, -1);
  EXPECT_EQ(identity.host, "");
  EXPECT_EQ(identity.attempt, 0);
}

}  // namespace
}  // namespace opscope
