// The one table of the variables by which launchers tell a process its rank. A family counts only as a whole: a shell
// that has RANK=0 alone, left over from an earlier experiment, must not turn every process into rank 0. Values must be
// integers within their range, without anything behind them, because some schedulers set lists ("2(x3)").
// SPDX-License-Identifier: Apache-2.0
#include "opscope/process_identity.h"

#include <sys/timex.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/parse_whole.h"

namespace opscope {
namespace {

struct RankFamily {
  const char* name;
  const char* rank;
  const char* world_size;             // null: the family has none
  const char* also_needed = nullptr;  // must be an integer, too
  const char* must_be_unset = nullptr;
};

constexpr RankFamily kRankFamilies[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"paddle", "PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM"},
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"pmi", "PMI_RANK", "PMI_SIZE"},
    {"pmix", "PMIX_RANK", nullptr},
    {"slurm", "SLURM_PROCID", "SLURM_NTASKS", nullptr, "TORCHELASTIC_RUN_ID"},
};

// From 0 to INT_MAX.
std::optional<int32_t> NumberInVariable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  const std::optional<int32_t> number = ParseWhole<int32_t>(value);
  return number && *number >= 0 ? number : std::nullopt;
}

void ReadRank(ProcessIdentity* identity) {
  for (const RankFamily& family : kRankFamilies) {
    if (family.must_be_unset != nullptr && std::getenv(family.must_be_unset) != nullptr) continue;
    const std::optional<int32_t> rank = NumberInVariable(family.rank);
    const std::optional<int32_t> size = family.world_size == nullptr ? 0 : NumberInVariable(family.world_size);
    if (!rank || !size || (family.also_needed != nullptr && !NumberInVariable(family.also_needed))) continue;
    identity->rank = *rank;
    identity->world_size = static_cast<uint32_t>(*size);
    identity->family = family.name;
    return;
  }
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

// The kernel counts the estimate up between two corrections by NTP; without NTP it stays at its largest value, 16 s.
int64_t WallErrorNs() {
  timex state = {};  // modes 0: reads only
  return adjtimex(&state) < 0 || state.maxerror < 0 ? -1 : int64_t{state.maxerror} * 1000;
}

}  // namespace

ProcessIdentity FindProcessIdentity() {
  ProcessIdentity identity;
  ReadRank(&identity);
  identity.attempt = NumberInVariable("TORCHELASTIC_RESTART_COUNT").value_or(-1);
  identity.host = HostName();
  identity.wall_error_ns = WallErrorNs();
  return identity;
}

}  // namespace opscope
