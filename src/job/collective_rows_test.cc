// Files of Kineto as rows of a JOB: what the arguments of NCCL's kernels say.
// SPDX-License-Identifier: Apache-2.0
#include "job/collective_rows.h"

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "job/file_identity.h"
#include "opscope/import.h"

namespace opscope {
namespace {

std::string Step(int number, int begin_us) {
  return R"({"ph": "X", "name": "ProfilerStep#)" + std::to_string(number) +
         R"(", "cat": "user_annotation", "pid": 1, "tid": 1, "dur": 1000, "ts": )" + std::to_string(begin_us) + "}";
}

// Launched by the host at `launch_us`.
std::string Kernel(const std::string& name, int launch_us, int begin_us, const std::string& arguments) {
  const std::string correlation = "\"correlation\": " + std::to_string(begin_us);
  return R"({"ph": "X", "name": "cudaLaunchKernel", "cat": "cuda_runtime", "pid": 1, "tid": 1, "dur": 5, "ts": )" +
         std::to_string(launch_us) + ", \"args\": {" + correlation + R"(}}, {"ph": "X", "cat": "kernel", "pid": 0, )" +
         R"("tid": 7, "dur": 50, "name": ")" + name + "\", \"ts\": " + std::to_string(begin_us) +
         R"(, "args": {"device": 0, "stream": 7, )" + correlation + (arguments.empty() ? "" : ", ") + arguments + "}}";
}

// The rows of rank 0. The members of `more` stand beside the rank.
CollectiveRows RowsOf(const std::vector<std::string>& events, const std::string& more = "") {
  std::string text =
      R"({"baseTimeNanoseconds": 0, "distributedInfo": {"rank": 0, "world_size": 40)" + more + R"(}, "traceEvents": [)";
  for (const std::string& event : events)
    text.append(&event == events.data() ? "" : ", ").append(event);
  text += "]}";
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "rank0.json");
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  CollectiveRows rows = FindCollectiveRows(trace.value(), IdentifyFile(trace.value(), "rank0.json", std::nullopt));
  return rows;
}

constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

TEST(CollectiveRows, TheStepIsThatOfTheLaunch) {
  const CollectiveRows found =
      RowsOf({Step(4, 0), Step(5, 1000), Kernel(kReduce, 900, 1100, ""), Kernel(kReduce, 1200, 1300, "")});
  ASSERT_EQ(found.rows.size(), 2u);
  EXPECT_EQ(found.rows[0].step, 4);
  EXPECT_EQ(found.rows[1].step, 5);
  EXPECT_EQ(found.rows[1].position, 0);
}

TEST(CollectiveRows, TheArgumentTellsTheKindBeforeTheName) {
  const CollectiveRows found =
      RowsOf({Kernel("ncclDevKernel_Generic_4", 0, 100, R"("Collective name": "_allgather_base")"),
              Kernel(kReduce, 200, 300, R"("Collective name": "_reduce_scatter_base")"), Kernel(kReduce, 400, 500, ""),
              Kernel("ncclDevKernel_SendRecv", 600, 700, R"("Collective name": "alltoallv")"),
              Kernel("ncclDevKernel_SendRecv", 800, 900, R"("Collective name": "send")")});
  std::vector<std::string> kinds;
  for (const CollectiveRow& row : found.rows)
    kinds.emplace_back(row.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}));
}

TEST(CollectiveRows, ElementsAndNumberAreThoseOfTheArguments) {
  const CollectiveRows found = RowsOf({Kernel(kReduce, 0, 100, R"("In msg nelems": 1024, "Seq": 17)"),
                                       Kernel(kReduce, 200, 300, R"("In msg nelems": 7, "Seq": 18)"),
                                       Kernel(kReduce, 400, 500, R"("Seq": "19")"), Kernel(kReduce, 600, 700, "")});
  ASSERT_EQ(found.rows.size(), 4u);
  EXPECT_EQ(found.rows[0].elements, 1024);
  EXPECT_EQ(found.rows[0].seq, 17);
  EXPECT_EQ(found.rows[2].elements, 0);
  EXPECT_EQ(found.rows[2].seq, std::nullopt) << "a text is no number";
  EXPECT_EQ(found.rows[3].seq, std::nullopt);
  ASSERT_EQ(found.groups.size(), 1u);
  EXPECT_EQ(found.groups[0].spans, 4);
  EXPECT_EQ(found.groups[0].with_seq, 2);
  EXPECT_EQ(found.groups[0].first_seq, 17);
  EXPECT_EQ(found.groups[0].last_seq, 18);
}

// "[0, 1, ..., 28, ..., 39]", as Kineto shortens it.
std::string ShortenedRanks(int shown) {
  std::string text = "[";
  for (int rank = 0; rank < shown; ++rank)
    text += std::to_string(rank) + ", ";
  return text + "..., 39]";
}

TEST(CollectiveRows, AGroupHasTheMembersThatItsShortenedListShows) {
  std::string expected = "dp/40/";
  for (int rank = 0; rank < 29; ++rank)
    expected += (rank == 0 ? "" : ",") + std::to_string(rank);
  const std::string group = R"("Process Group Name": "dp", "Group size": 40, "Process Group Ranks": )";
  for (const int shown : {29, 35}) {
    const CollectiveRows found = RowsOf({Kernel(kReduce, 0, 100, group + "\"" + ShortenedRanks(shown) + "\"")});
    ASSERT_EQ(found.groups.size(), 1u);
    EXPECT_EQ(found.groups[0].key, expected);
    EXPECT_EQ(found.groups[0].size, 40);
  }
}

TEST(CollectiveRows, TheListOfTheGroupsInTheMetadataComesFirst) {
  std::vector<int> ranks(40);
  std::iota(ranks.begin(), ranks.end(), 0);
  std::string listed;
  for (const int rank : ranks)
    listed += (rank == 0 ? "" : ", ") + std::to_string(rank);
  const std::string groups =
      R"(, "pg_config": [{"pg_name": "dp", "pg_desc": "default_pg", "pg_size": 40, "ranks": [)" + listed + "]}]";
  const CollectiveRows found = RowsOf(
      {Kernel(kReduce, 0, 100, R"("Process Group Name": "dp", "Group size": 40, "Process Group Ranks": "[0, 1]")"),
       Kernel(kReduce, 200, 300, R"("Process Group Name": "pair", "Group size": 2, "Process Group Ranks": "[0, 1]")"),
       Kernel(kReduce, 400, 500, "")},
      groups);
  ASSERT_EQ(found.groups.size(), 3u);
  EXPECT_EQ(found.groups[0].members.size(), 40u);
  EXPECT_EQ(found.groups[1].key, "pair/2/0,1");
  EXPECT_EQ(found.groups[2].key, "/40/");
  EXPECT_EQ(found.rows[1].group, 1u);
}

TEST(CollectiveRows, TheGapReachesFromTheEndOfTheGroupsLastOne) {
  const std::string dp = R"("Process Group Name": "dp")", tp = R"("Process Group Name": "tp")";
  const CollectiveRows found = RowsOf({Step(0, 0), Kernel(kReduce, 90, 100, dp), Kernel(kReduce, 190, 200, tp),
                                       Kernel(kReduce, 390, 400, dp), Kernel("ncclDevKernel_Broadcast", 480, 500, dp)});
  ASSERT_EQ(found.rows.size(), 4u);
  EXPECT_EQ(found.rows[0].gap->duration_ns, 100'000) << "from the begin of the first step";
  EXPECT_EQ(found.rows[1].gap->duration_ns, 200'000);
  EXPECT_EQ(found.rows[2].gap->duration_ns, 250'000);
  EXPECT_FALSE(found.rows[3].gap);
}

}  // namespace
}  // namespace opscope
