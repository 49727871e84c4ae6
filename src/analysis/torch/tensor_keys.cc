// Gives each storage and tensor of a run a stable key. Addresses are reused as soon as memory is freed, so events are
// followed in order of time: a storage lives at its address from its first use or allocation to its free. Storages that
// one tensor object used belong to one tensor, even if the object's storage changed. Pairs (first storage, storage) are
// grouped in the order in which torch groups them, so that the keys agree with torch's.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/tensor_keys.h"

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <algorithm>
#include <utility>

namespace opscope {
namespace {

// An address with the process and device in which it is valid.
struct DeviceAddress {
  uint64_t address = 0;
  ProcessId process = ProcessId::kNone;
  int32_t device_type = 0, device = -1;
  bool operator==(const DeviceAddress&) const = default;
};
struct DeviceAddressHash {
  size_t operator()(const DeviceAddress& at) const {
    const uint64_t home = uint64_t{Row(at.process)} << 40 ^ uint64_t { static_cast<uint32_t>(at.device) } << 20 ^
                          static_cast<uint32_t>(at.device_type);
    return static_cast<size_t>((at.address ^ home << 8) * 0x9e3779b97f4a7c15u >> 7);
  }
};

ProcessId ProcessOf(const Trace& trace, TrackId track) {
  return Row(track) < trace.tracks().size() ? trace.tracks().process[Row(track)] : ProcessId::kNone;
}

// An event that uses, allocates or frees storage. Sorted by time; at equal times operators first.
struct StorageEvent {
  Timestamp time;
  enum Kind : uint8_t { kOperator, kHeld, kAllocation } kind = kOperator;
  uint32_t first = 0;  // rows of the table
  uint32_t end = 0;
};

std::vector<StorageEvent> EventsInOrder(const Trace& trace) {
  std::vector<StorageEvent> events;
  const TensorColumns& tensors = trace.tensors();
  for (uint32_t first = 0, end = 0; first < tensors.size(); first = end) {
    for (end = first + 1; end < tensors.size() && tensors.span[end] == tensors.span[first];)
      ++end;
    if (Row(tensors.span[first]) >= trace.spans().size()) continue;
    events.push_back({trace.spans().start[Row(tensors.span[first])], StorageEvent::kOperator, first, end});
  }
  // Objects may be recorded repeatedly; only the rows at an object's first time count.
  const ReferencedTensorColumns& held = trace.held_tensors();
  tsl::robin_map<DeviceAddress, Timestamp, DeviceAddressHash> first_time;
  const auto owner = [&](uint32_t row) { return DeviceAddress{held.owner[row], ProcessOf(trace, held.track[row])}; };
  for (uint32_t row = 0; row < held.size(); ++row) {
    const auto [known, is_new] = first_time.try_emplace(owner(row), held.time[row]);
    if (!is_new && held.time[row] < known->second) known.value() = held.time[row];
  }
  for (uint32_t row = 0; row < held.size(); ++row) {
    if (first_time.at(owner(row)) == held.time[row])
      events.push_back({held.time[row], StorageEvent::kHeld, row, row + 1});
  }
  const AllocationColumns& allocations = trace.allocations();
  for (uint32_t row = 0; row < allocations.size(); ++row)
    events.push_back({allocations.time[row], StorageEvent::kAllocation, row, row + 1});
  std::stable_sort(events.begin(), events.end(),
                   [](const StorageEvent& a, const StorageEvent& b) { return a.time < b.time; });
  return events;
}

class Finder {
 public:
  explicit Finder(const Trace& trace) : trace_(trace) {
    found_.of_tensor.assign(trace.tensors().size(), kNoKey);
    found_.of_held.assign(trace.held_tensors().size(), kNoKey);
    found_.of_allocation.assign(trace.allocations().size(), kNoKey);
  }

  TensorKeys Find(TensorStorages* storages) {
    for (const StorageEvent& event : EventsInOrder(trace_))
      ProcessEvent(event);
    if (storages != nullptr) *storages = {found_.of_tensor, found_.of_held, found_.of_allocation, {}};
    std::vector<uint32_t> tensor_of = NumberTensors();
    if (storages != nullptr) storages->tensor = std::move(tensor_of);
    return std::move(found_);
  }

 private:
  struct Storage {
    StorageKey key;
    bool is_tensor = false;     // an operator or an object has used it
    bool is_allocated = false;  // its allocation was seen
  };

  // The storage currently at this address; a new one if none is alive.
  uint32_t StorageAt(const DeviceAddress& at) {
    const auto next = static_cast<uint32_t>(storages_.size());
    const auto [found, is_new] = alive_.try_emplace(at, next);
    if (is_new) storages_.push_back({{0, at.device_type, at.device, at.address}});
    return found->second;
  }

  uint32_t Use(uint64_t tensor, const DeviceAddress& at) {
    const uint32_t storage = StorageAt(at);
    storages_[storage].is_tensor = true;
    // A tensor without a known identity is its storage alone.
    const uint32_t first = tensor == 0 ? storage : first_storage_.try_emplace(tensor, storage).first->second;
    const std::pair<uint32_t, uint32_t> pair = std::minmax(first, storage);
    if (pair != last_pair_) pairs_.emplace_back(pair);
    last_pair_ = pair;
    return storage;
  }

  void ProcessEvent(const StorageEvent& event) {
    for (uint32_t row = event.first; row < event.end; ++row) {
      if (event.kind == StorageEvent::kOperator) {
        const TensorColumns& rows = trace_.tensors();
        const TrackId track = trace_.spans().track[Row(rows.span[row])];
        found_.of_tensor[row] = Use(rows.tensor[row], AddressIn(rows, row, rows.storage[row], track));
      } else if (event.kind == StorageEvent::kHeld) {
        const ReferencedTensorColumns& rows = trace_.held_tensors();
        found_.of_held[row] = Use(rows.tensor[row], AddressIn(rows, row, rows.storage[row], rows.track[row]));
      } else {
        ProcessAllocation(row);
      }
    }
  }

  template <typename Columns>
  DeviceAddress AddressIn(const Columns& rows, uint32_t row, uint64_t address, TrackId track) const {
    return {address, ProcessOf(trace_, track), rows.device_type[row], rows.device[row]};
  }

  void ProcessAllocation(uint32_t row) {
    const AllocationColumns& rows = trace_.allocations();
    const DeviceAddress at = AddressIn(rows, row, rows.address[row], rows.track[row]);
    const auto alive = alive_.find(at);
    const bool is_free = rows.bytes[row] < 0;
    // Allocated again: the free in between was not recorded (another thread, or between two recordings).
    if (!is_free && alive != alive_.end() && storages_[alive->second].is_allocated) alive_.erase(alive);
    const uint32_t storage = StorageAt(at);
    found_.of_allocation[row] = storage;
    if (is_free) alive_.erase(at);
    if (!is_free) storages_[storage].is_allocated = true;
  }

  // torch's grouping: pairs in sorted order; each storage stays with the first tensor that it joins.
  std::vector<uint32_t> NumberTensors() {
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    std::vector<uint32_t> tensor_of(storages_.size(), kNoKey);
    for (const auto& [first, second] : pairs_) {
      if (tensor_of[first] == kNoKey) tensor_of[first] = found_.tensor_count++;
      if (tensor_of[second] == kNoKey) tensor_of[second] = tensor_of[first];
    }
    std::vector<uint32_t> order;
    for (uint32_t storage = 0; storage < storages_.size(); ++storage) {
      storages_[storage].key.tensor = tensor_of[storage];
      if (storages_[storage].is_tensor && storages_[storage].key.address != 0) order.push_back(storage);
    }
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return tensor_of[a] < tensor_of[b]; });
    std::vector<uint32_t> key_of(storages_.size(), kNoKey);
    for (const uint32_t storage : order) {
      key_of[storage] = static_cast<uint32_t>(found_.keys.size());
      found_.keys.push_back(storages_[storage].key);
    }
    for (auto* rows : {&found_.of_tensor, &found_.of_held, &found_.of_allocation}) {
      for (uint32_t& row : *rows)
        if (row != kNoKey) row = key_of[row];
    }
    return tensor_of;
  }

  const Trace& trace_;
  TensorKeys found_;
  std::vector<Storage> storages_;  // in order of first appearance
  tsl::robin_map<DeviceAddress, uint32_t, DeviceAddressHash> alive_;
  tsl::robin_map<uint64_t, uint32_t> first_storage_;  // by tensor object
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;  // storages that belong to one tensor
  std::pair<uint32_t, uint32_t> last_pair_{kNoKey, kNoKey};
};

}  // namespace

TensorKeys FindTensorKeys(const Trace& trace, TensorStorages* storages) {
  return Finder(trace).Find(storages);
}

}  // namespace opscope
