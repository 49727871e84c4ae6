// One pass with a table from addresses to their newest live allocation. Older live allocations of an address, which
// exist only if a free is missing, form a list through `older_`, so the table needs no list per address. It has the
// live addresses alone, so that it stays small where a program allocates at ever new addresses.
//
//   events   0: +A   1: +A   2: -A   3: -B      2 ends 1; A's newest is then 0, which is kept; 3 ends nothing
// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory_blocks.h"

#include <tsl/robin_map.h>

#include "base/hash.h"

namespace opscope {

MemoryBlocks::MemoryBlocks(const Trace& trace, std::span<const uint32_t> rows)
    : ends_(rows.size(), kNever), older_(rows.size(), kNever) {
  const AllocationColumns& allocations = trace.allocations();
  tsl::robin_map<uint64_t, uint32_t, MixedHash> newest;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const uint64_t address = allocations.address[rows[i]];
    if (const int64_t bytes = allocations.bytes[rows[i]]; bytes > 0) {
      const auto [found, is_new] = newest.try_emplace(address, i);
      if (is_new) continue;
      older_[i] = found->second;
      found.value() = i;
    } else if (bytes < 0) {
      const auto found = newest.find(address);
      if (found == newest.end()) continue;
      const uint32_t ended = found->second;
      ends_[ended] = i;
      if (older_[ended] == kNever) {
        newest.erase(found);
      } else {
        found.value() = older_[ended];
      }
    }
  }
  for (const auto& [address, i] : newest)
    newest_kept_.push_back(i);
}

}  // namespace opscope
