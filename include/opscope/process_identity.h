// Which process of a distributed job this is: its rank, the number of processes, the
// attempt, the host. Recorders store these facts in every recording, so that
// a reader can tell recordings of one job apart and put them in order.
//
//   const opscope::ProcessIdentity identity = opscope::FindProcessIdentity();
//   if (identity.rank >= 0) ...                        // RANK=3 WORLD_SIZE=8 LOCAL_RANK=3: 3
//
// Launchers tell a process its rank by environment variables. The first family whose
// variables are all set to integers counts:
//
//   torchrun   RANK, LOCAL_RANK, WORLD_SIZE
//   paddle     PADDLE_TRAINER_ID, PADDLE_TRAINERS_NUM
//   openmpi    OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE
//   pmi        PMI_RANK, PMI_SIZE
//   pmix       PMIX_RANK
//   slurm      SLURM_PROCID, SLURM_NTASKS; only if TORCHELASTIC_RUN_ID is not set,
//              because under torchrun they describe the agent, not its workers
//
// Cost: a few microseconds; reads the environment, the host's name and the state of
// the clock.
// Thread rule: as getenv: no thread may change the environment meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace opscope {

struct ProcessIdentity {
  // From 0; -1: no family is complete.
  int32_t rank = -1;
  // Number of processes of the job; 0: unknown.
  uint32_t world_size = 0;
  // "torchrun", "paddle", ...: the family that `rank` comes from; "": none.
  std::string family = {};
  // How often the job was started anew (TORCHELASTIC_RESTART_COUNT); -1: unknown.
  int32_t attempt = -1;
  // The host's name; "": unknown.
  std::string host = {};
  // By how many nanoseconds the wall clock may be wrong, as the kernel estimates it
  // (`maxerror` of adjtimex); -1: unknown.
  int64_t wall_error_ns = -1;
};

[[nodiscard]] ProcessIdentity FindProcessIdentity();

}  // namespace opscope
