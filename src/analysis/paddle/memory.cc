// Sums allocations and frees by place and operator or range. Paddle adds the memory events of an operator's direct
// children to the operator too. Rows come in the order in which Paddle's walk meets them.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/paddle/memory.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/paddle/operators.h"
#include "base/saturating.h"
#include "opscope/paddle/memory_events.h"

namespace opscope {
namespace {

class MemorySummary {
 public:
  MemorySummary(const Trace& trace, const PaddleNodeTrees& trees) : trace_(trace), trees_(trees) {}

  std::vector<PaddlePlaceMemory> Summarize(const std::vector<uint32_t>& order) {
    if (trees_.memory.empty()) return {};
    for (const uint32_t node : order) {
      if (trees_.is_root(node) || trees_.type[node] == PaddleEventType::kOperatorInner) continue;
      const StringId name = trace_.spans().name[Row(trees_.span[node])];
      if (trees_.type[node] == PaddleEventType::kOperator) {
        for (uint32_t child = node + 1; child < trees_.end[node]; child = trees_.end[child])
          Add(name, child);
      }
      Add(name, node);
    }
    std::vector<PaddlePlaceMemory> memory;
    memory.reserve(with_allocations_.size());
    for (const size_t place : with_allocations_)
      memory.push_back(std::move(places_[place].memory));
    return memory;
  }

 private:
  struct Place {
    PaddlePlaceMemory memory;
    PaddleRowNumbers allocated, reserved;
  };

  void Add(StringId name, uint32_t node) {
    for (const PaddleMemoryRow& row : trees_.memory_of(node)) {
      const PaddleMemoryEvent event = PaddleMemoryEventOf(trace_, row);
      Place& place = PlaceOf(event.place);
      PaddlePlaceMemory& memory = place.memory;
      const bool is_reserved = event.type >= PaddleMemoryType::kReservedAllocate;
      std::vector<PaddleMemoryItem>& items = is_reserved ? memory.reserved : memory.allocated;
      const auto [number, is_new] = (is_reserved ? place.reserved : place.allocated).Of(0, name);
      if (is_new && !is_reserved && items.empty()) with_allocations_.push_back(last_);
      if (is_new) items.emplace_back().name = name;
      PaddleMemoryItem& item = items[number];
      if (event.type == PaddleMemoryType::kAllocate || event.type == PaddleMemoryType::kReservedAllocate) {
        ++item.allocations;
        item.allocated = SaturatingAdd(item.allocated, event.increase_bytes);
      } else {
        ++item.frees;
        item.freed = SaturatingSubtract(item.freed, event.increase_bytes);
      }
      memory.peak_allocated = std::max(memory.peak_allocated, event.peak_allocated);
      memory.peak_reserved = std::max(memory.peak_reserved, event.peak_reserved);
    }
  }

  Place& PlaceOf(const std::string& name) {
    if (last_ < places_.size() && places_[last_].memory.place == name) return places_[last_];
    const auto [found, is_new] = place_rows_.try_emplace(name, places_.size());
    if (is_new) places_.emplace_back().memory.place = name;
    last_ = found->second;
    return places_[last_];
  }

  const Trace& trace_;
  const PaddleNodeTrees& trees_;
  std::vector<Place> places_;
  std::unordered_map<std::string, size_t> place_rows_;  // in places_, by name
  std::vector<size_t> with_allocations_;                // places with allocations, by first appearance
  size_t last_ = 0;                                     // index in places_ of the last hit
};

}  // namespace

std::vector<PaddlePlaceMemory> SummarizePaddleMemory(const Trace& trace, const PaddleNodeTrees& trees,
                                                     const std::vector<uint32_t>& order) {
  return MemorySummary(trace, trees).Summarize(order);
}

}  // namespace opscope
