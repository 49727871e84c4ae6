// Pairs the allocations of each device with the frees that end them and keeps the largest rectangles.
//
//   time 10  +100 at A     block [10, 30) x [A, A + 100)
//   time 20   +50 at B     block [20, end of the recording) x [B, B + 50): kept
//   time 30  -100 at A
//   time 40  -120 at X     block [begin of the recording, 40) x [X, X + 120): from before
//
// A free of an unknown address shows a block from before the recording only if the address was never seen: later on it
// is the free of an allocation that was lost, of which no begin is known. Candidates are numbers of events with a
// weight; when twice as many have come as are kept, the lighter half goes, so ten million allocations need no list of
// ten million blocks.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/memory_map.h"

#include <tsl/robin_set.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/allocation_spans.h"
#include "analysis/memory_blocks.h"
#include "analysis/memory_events.h"
#include "analysis/tensor_life_events.h"
#include "base/hash.h"
#include "base/saturating.h"
#include "opscope/analysis/contents.h"
#include "opscope/torch/memory_timeline.h"

namespace opscope {
namespace {

// The heaviest of many items, each with a number that is also their order.
class HeaviestItems {
 public:
  explicit HeaviestItems(size_t most) : most_(most) {}

  void Add(double weight, uint32_t number) {
    items_.push_back({weight, number});
    if (items_.size() / 2 > most_) Cut();
  }
  // Numbers of the heaviest ones, the heaviest first.
  std::vector<uint32_t> Take() {
    if (items_.size() > most_) Cut();
    std::sort(items_.begin(), items_.end(), IsHeavier);
    std::vector<uint32_t> numbers;
    numbers.reserve(items_.size());
    for (const Item& item : items_)
      numbers.push_back(item.number);
    return numbers;
  }

 private:
  struct Item {
    double weight;
    uint32_t number;
  };
  static bool IsHeavier(const Item& a, const Item& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.number < b.number;
  }
  void Cut() {
    std::nth_element(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(most_), items_.end(), IsHeavier);
    items_.resize(most_);
  }

  size_t most_;
  std::vector<Item> items_;
};

double WeightOf(int64_t bytes, int64_t begin, int64_t end) {
  return static_cast<double>(bytes) * (static_cast<double>(SaturatingSubtract(end, begin)) + 1);
}

// [first begin, last end) of the recording, memory included.
TraceWindow WindowWithMemory(const Trace& trace) {
  const bool has_spans = trace.spans().size() > 0;
  const TraceWindow of_spans = WindowOfSpans(trace);
  TraceWindow window = has_spans ? of_spans : TraceWindow{INT64_MAX, INT64_MIN};
  const auto extend = [&](int64_t begin, int64_t end) {
    window.start_ns = std::min(window.start_ns, begin);
    window.end_ns = std::max(window.end_ns, end);
  };
  for (const Timestamp time : trace.allocations().time)
    extend(time.ns, time.ns);
  const TensorLifeColumns& lives = trace.tensor_lives();
  for (uint32_t i = 0; i < lives.size(); ++i)
    extend(lives.produced[i].ns, SaturatingAdd(lives.produced[i].ns, std::max<int64_t>(0, lives.duration[i].ns)));
  return window;
}

// Adds the larger blocks to the device and counts the others. `block_of(number)` gives a block.
template <typename BlockOf>
void AddBlocks(uint32_t count, size_t max_blocks, const BlockOf& block_of, MemoryMapDevice* device) {
  HeaviestItems heaviest(max_blocks);
  uint64_t blocks = 0;
  int64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const MemoryMapBlock block = block_of(i);
    if (block.bytes <= 0) continue;
    if (block.address == 0) {
      ++device->without_address;
      continue;
    }
    ++blocks;
    bytes = SaturatingAdd(bytes, block.bytes);
    heaviest.Add(WeightOf(block.bytes, block.begin_ns, block.end_ns), i);
  }
  for (const uint32_t number : heaviest.Take()) {
    device->blocks.push_back(block_of(number));
    bytes = SaturatingSubtract(bytes, device->blocks.back().bytes);
  }
  device->left_out = blocks - device->blocks.size();
  device->left_out_bytes = device->left_out == 0 ? 0 : bytes;
}

MemoryMapDevice DeviceOfEvents(const Trace& trace, const TraceWindow& window, const std::vector<StringId>& names,
                               const MemoryPlace& place, const std::vector<uint32_t>& rows, size_t max_blocks) {
  const AllocationColumns& events = trace.allocations();
  const MemoryBlocks pairs(trace, rows);
  std::vector<uint8_t> is_from_before(rows.size(), 0);
  {
    tsl::robin_set<uint64_t, MixedHash> seen;
    for (uint32_t i = 0; i < rows.size(); ++i) {
      const bool is_new = seen.insert(events.address[rows[i]]).second;
      is_from_before[i] = is_new && events.bytes[rows[i]] < 0 && events.address[rows[i]] != 0;
    }
  }
  MemoryMapDevice device{.place = place, .blocks = {}};
  const auto block_of = [&](uint32_t i) {
    const uint32_t row = rows[i];
    const int64_t time = events.time[row].ns;
    if (is_from_before[i] != 0) {
      const int64_t bytes = SaturatingSubtract(0, events.bytes[row]);
      return MemoryMapBlock{.address = events.address[row],
                            .bytes = bytes,
                            .begin_ns = window.start_ns,
                            .end_ns = time,
                            .is_before = true};
    }
    if (events.bytes[row] <= 0) return MemoryMapBlock{};
    const uint32_t end = pairs.EndOf(i);
    const bool is_kept = end == MemoryBlocks::kNever;
    return MemoryMapBlock{.address = events.address[row],
                          .bytes = events.bytes[row],
                          .begin_ns = time,
                          .end_ns = is_kept ? window.end_ns : events.time[rows[end]].ns,
                          .is_kept = is_kept,
                          .name = names[row],
                          .stack = events.stack[row]};
  };
  AddBlocks(static_cast<uint32_t>(rows.size()), max_blocks, block_of, &device);
  return device;
}

MemoryMapDevice DeviceOfLives(const Trace& trace, const TraceWindow& window, TrackId track,
                              const std::vector<uint32_t>& rows, size_t max_blocks) {
  const TensorLifeColumns& lives = trace.tensor_lives();
  MemoryMapDevice device{.place = PlaceOfStream(trace, track), .track = track, .blocks = {}};
  const auto block_of = [&](uint32_t i) {
    const uint32_t row = rows[i];
    const int64_t begin = lives.produced[row].ns, duration = lives.duration[row].ns;
    return MemoryMapBlock{.address = lives.address[row],
                          .bytes = static_cast<int64_t>(std::min<uint64_t>(lives.bytes[row], INT64_MAX)),
                          .begin_ns = begin,
                          .end_ns = duration < 0 ? std::max(begin, window.end_ns) : SaturatingAdd(begin, duration),
                          .is_kept = duration < 0,
                          .name = lives.name[row]};
  };
  AddBlocks(static_cast<uint32_t>(rows.size()), max_blocks, block_of, &device);
  return device;
}

// Gives the blocks of one device, which no other rank uses, their last category. The rows of the timeline are in order
// of time, so the block of an address is the one that was created there last. `rows`: those of the device.
void AddCategories(const MemoryTimeline& timeline, const std::vector<uint32_t>& rows, MemoryMapDevice* device) {
  std::map<std::pair<uint64_t, int64_t>, MemoryMapBlock*> created;  // by address and time
  std::map<uint64_t, MemoryMapBlock*> before, current;              // by address
  for (MemoryMapBlock& block : device->blocks) {
    if (block.is_before) {
      before[block.address] = &block;
    } else {
      created[{block.address, block.begin_ns}] = &block;
    }
  }
  for (const uint32_t number : rows) {
    const MemoryTimelineRow& row = timeline.rows[number];
    if (row.action == MemoryAction::kDestroy) {
      current.erase(row.address);
      continue;
    }
    const bool is_next = row.action == MemoryAction::kIncrementVersion;
    MemoryMapBlock* block = nullptr;
    if (row.action == MemoryAction::kPreexisting) {
      if (const auto found = before.find(row.address); found != before.end()) block = found->second;
    } else if (row.action == MemoryAction::kCreate) {
      if (const auto found = created.find({row.address, row.time.ns}); found != created.end()) block = found->second;
    } else if (const auto found = current.find(row.address); found != current.end()) {
      block = found->second;
    }
    if (!is_next) current.erase(row.address);
    if (block == nullptr) continue;
    if (!is_next) current[row.address] = block;
    block->category = MemoryCategoryName(is_next ? row.next_category : row.category);
  }
}

}  // namespace

std::vector<MemoryMapDevice> MapMemory(const Trace& trace, const MemoryTimeline& timeline, size_t max_blocks) {
  std::vector<MemoryMapDevice> devices;
  if (!HasMemoryEvents(trace)) return devices;
  const TraceWindow window = WindowWithMemory(trace);
  if (trace.allocations().size() == 0) {
    for (const auto& [key, rows] : TensorLivesByStream(trace)) {
      devices.push_back(DeviceOfLives(trace, window, TrackId{key.second}, rows, max_blocks));
      if (devices.back().blocks.empty() && devices.back().without_address == 0) devices.pop_back();
    }
    return devices;
  }
  const std::vector<StringId> names = OperatorsOfAllocations(trace, AllocationsByTrack(trace));
  const std::map<MemoryPlace, std::vector<uint32_t>> events = MemoryEventsByPlace(trace);
  for (const auto& [place, rows] : events)
    devices.push_back(DeviceOfEvents(trace, window, names, place, rows, max_blocks));
  if (timeline.has_operators && !HasDeviceOfSeveralRanks(events)) {
    RowsByDevice timeline_rows = TimelineRowsByDevice(timeline);
    for (MemoryMapDevice& device : devices)
      AddCategories(timeline, timeline_rows[{device.place.device_type, device.place.device}], &device);
  }
  return devices;
}

}  // namespace opscope
