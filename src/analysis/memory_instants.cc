// Importers of Chrome JSON keep a "[memory]" event twice: as a row of `allocations` and as an instant with its
// remaining members. Both are added together, so the n-th allocation and the n-th such instant belong together, and one
// pass pairs them.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/memory_instants.h"

#include <string_view>

namespace opscope {

MemoryInstants::MemoryInstants(const Trace& trace) {
  const InstantColumns& instants = trace.instants();
  const AllocationColumns& allocations = trace.allocations();
  const auto name = trace.FindString("[memory]");
  const auto category = trace.FindString("cpu_instant_event");
  const auto belongs = [&](size_t i) {
    const size_t n = of_allocation_.size();
    if (!name || !category || instants.name[i] != *name || instants.category[i] != *category) return false;
    if (n >= allocations.size() || allocations.time[n] != instants.time[i]) return false;
    // An instant that still has these members was not complete enough to become an allocation.
    const std::string_view extra = trace.text(instants.extra[i]);
    return allocations.track[n] == instants.track[i] && extra.find("\"Bytes\"") == std::string_view::npos &&
           extra.find("\"Addr\"") == std::string_view::npos;
  };
  for (size_t i = 0; i < instants.size(); ++i)
    (belongs(i) ? of_allocation_ : others_).push_back(static_cast<uint32_t>(i));
}

}  // namespace opscope
