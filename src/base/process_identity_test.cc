// The rank of a process, from the variables of its launcher.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/process_identity.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace opscope {
namespace {

const char* const kVariables[] = {"RANK",
                                  "LOCAL_RANK",
                                  "WORLD_SIZE",
                                  "PADDLE_TRAINER_ID",
                                  "PADDLE_TRAINERS_NUM",
                                  "OMPI_COMM_WORLD_RANK",
                                  "OMPI_COMM_WORLD_SIZE",
                                  "PMI_RANK",
                                  "PMI_SIZE",
                                  "PMIX_RANK",
                                  "SLURM_PROCID",
                                  "SLURM_NTASKS",
                                  "TORCHELASTIC_RUN_ID",
                                  "TORCHELASTIC_RESTART_COUNT"};

ProcessIdentity IdentityWith(const std::map<std::string, std::string>& environment) {
  for (const char* name : kVariables)
    unsetenv(name);
  for (const auto& [name, value] : environment)
    setenv(name.c_str(), value.c_str(), 1);
  const ProcessIdentity identity = FindProcessIdentity();
  for (const char* name : kVariables)
    unsetenv(name);
  return identity;
}

std::string RankWith(const std::map<std::string, std::string>& environment) {
  const ProcessIdentity identity = IdentityWith(environment);
  return identity.family + " " + std::to_string(identity.rank) + "/" + std::to_string(identity.world_size);
}

TEST(ProcessIdentity, EachFamilyTellsTheRank) {
  EXPECT_EQ(RankWith({{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}}), "torchrun 3/8");
  EXPECT_EQ(RankWith({{"PADDLE_TRAINER_ID", "2"}, {"PADDLE_TRAINERS_NUM", "4"}}), "paddle 2/4");
  EXPECT_EQ(RankWith({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}), "openmpi 0/2");
  EXPECT_EQ(RankWith({{"PMI_RANK", "5"}, {"PMI_SIZE", "6"}}), "pmi 5/6");
  EXPECT_EQ(RankWith({{"PMIX_RANK", "7"}}), "pmix 7/0");
  EXPECT_EQ(RankWith({{"SLURM_PROCID", "9"}, {"SLURM_NTASKS", "16"}}), "slurm 9/16");
}

TEST(ProcessIdentity, TheFirstCompleteFamilyCounts) {
  EXPECT_EQ(RankWith({{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"PMI_RANK", "5"}, {"PMI_SIZE", "6"}}), "pmi 5/6")
      << "LOCAL_RANK is missing";
  EXPECT_EQ(RankWith({{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}, {"PMI_RANK", "5"}, {"PMI_SIZE", "6"}}),
            "torchrun 3/8");
  EXPECT_EQ(RankWith({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "1"}}),
            "openmpi 1/2");
}

TEST(ProcessIdentity, SlurmDoesNotCountUnderTorchrun) {
  EXPECT_EQ(RankWith({{"SLURM_PROCID", "9"}, {"SLURM_NTASKS", "16"}, {"TORCHELASTIC_RUN_ID", "none"}}), " -1/0");
}

TEST(ProcessIdentity, OnlyIntegersCount) {
  for (const char* odd : {"", " 3", "3 ", "3x", "-1", "0x3", "2(x3)", "3.0", "4294967296", "99999999999999999999"}) {
    EXPECT_EQ(RankWith({{"PMIX_RANK", odd}}), " -1/0") << odd;
    EXPECT_EQ(RankWith({{"RANK", "1"}, {"LOCAL_RANK", odd}, {"WORLD_SIZE", "2"}}), " -1/0") << odd;
  }
  EXPECT_EQ(RankWith({}), " -1/0");
}

TEST(ProcessIdentity, TheAttemptIsTorchrunsRestartCount) {
  EXPECT_EQ(IdentityWith({}).attempt, -1);
  EXPECT_EQ(IdentityWith({{"TORCHELASTIC_RESTART_COUNT", "2"}}).attempt, 2);
  EXPECT_EQ(IdentityWith({{"TORCHELASTIC_RESTART_COUNT", "x"}}).attempt, -1);
}

TEST(ProcessIdentity, HostAndClockAreThoseOfTheMachine) {
  const ProcessIdentity identity = IdentityWith({});
  EXPECT_FALSE(identity.host.empty());
  EXPECT_GE(identity.wall_error_ns, -1);
}

}  // namespace
}  // namespace opscope
