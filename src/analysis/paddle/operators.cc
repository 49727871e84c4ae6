// Collects the rows of Paddle's operator tables: per operator its inner parts and the device events of both. Device
// time includes that of descendants, added up in one pass from the last node to the first. Rows come in the order of
// Paddle's walk, which visits the last sibling first; PaddleWalkOrder produces it without recursion, since a hostile
// file may nest a million levels.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/paddle/operators.h"

#include <algorithm>

#include "analysis/paddle/flops.h"
#include "base/saturating.h"

namespace opscope {

void PaddleTimes::Add(int64_t time) {
  total = SaturatingAdd(total, time);
  most = std::max(most, time);
  least = std::min(least, time);
}

void PaddleTimes::Add(const PaddleTimes& other) {
  total = SaturatingAdd(total, other.total);
  most = std::max(most, other.most);
  least = std::min(least, other.least);
}

void PaddleItem::Add(const PaddleItem& other) {
  calls += other.calls;
  host.Add(other.host);
  kernels.Add(other.kernels);
  device.Add(other.device);
  flops = SaturatingAdd(flops, other.flops);
}

void PaddleNodeMeasures::AddTo(size_t node, PaddleItem* item) const {
  ++item->calls;
  item->host.Add(host(node));
  item->kernels.Add(kernels.empty() ? 0 : kernels[node]);
  item->device.Add(device.empty() ? 0 : device[node]);
  if (!flops.empty()) item->flops = SaturatingAdd(item->flops, flops[node]);
}

PaddleNodeMeasures MeasurePaddleNodes(const Trace& trace, const PaddleNodeTrees& trees) {
  PaddleNodeMeasures measures{PaddleEventTypes(trace), trace.spans(), &trees, {}, {}, PaddleFlopsOfNodes(trace, trees)};
  if (trees.device.empty() && measures.flops.empty()) return measures;
  const bool has_devices = !trees.device.empty();
  if (has_devices) measures.kernels.resize(trees.size()), measures.device.resize(trees.size());
  for (size_t node = trees.size(); node-- > 0;) {
    for (uint32_t call = trees.first_call[node]; call < trees.first_call[node + 1]; ++call) {
      for (const SpanId span : trees.devices_of(call)) {
        const int64_t time = measures.spans.duration[Row(span)].ns;
        measures.device[node] = SaturatingAdd(measures.device[node], time);
        if (measures.types.Of(Row(span)) != PaddleEventType::kKernel) continue;
        measures.kernels[node] = SaturatingAdd(measures.kernels[node], time);
      }
    }
    if (trees.is_root(node)) continue;
    const uint32_t parent = trees.parent[node];
    const auto add_up = [&](std::vector<int64_t>* values) {
      if (!values->empty()) (*values)[parent] = SaturatingAdd((*values)[parent], (*values)[node]);
    };
    add_up(&measures.kernels), add_up(&measures.device), add_up(&measures.flops);
  }
  return measures;
}

std::vector<uint32_t> PaddleWalkOrder(const PaddleNodeTrees& trees) {
  constexpr uint32_t kNone = PaddleNodeTrees::kNone;
  std::vector<uint32_t> last_child(trees.size(), kNone), previous(trees.size(), kNone), order;
  order.reserve(trees.size());
  for (uint32_t node = 0; node < trees.size(); ++node) {
    if (trees.is_root(node)) continue;
    previous[node] = std::exchange(last_child[trees.parent[node]], node);
  }
  for (const PaddleThread& thread : trees.threads) {
    for (uint32_t node = thread.first_node; node != kNone;) {
      order.push_back(node);
      if (last_child[node] != kNone) {
        node = last_child[node];
        continue;
      }
      while (node != kNone && previous[node] == kNone)
        node = trees.parent[node];
      if (node != kNone) node = previous[node];
    }
  }
  return order;
}

void PaddleOperatorRows::Add(uint32_t node) {
  const StringId name = spans_.name[Row(trees_.span[node])];
  const auto [row, is_new] = operator_numbers_.Of(0, name);
  if (is_new) operators_.emplace_back().item.name = name;
  measures_.AddTo(node, &operators_[row].item);
  for (uint32_t child = node + 1; child < trees_.end[node]; child = trees_.end[child]) {
    if (trees_.type[child] == PaddleEventType::kOperator) continue;
    const StringId inner_name = spans_.name[Row(trees_.span[child])];
    const auto [inner, is_new_inner] = inner_numbers_.Of(row, inner_name);
    if (is_new_inner) inner_.push_back({row, {}}), inner_.back().item.name = inner_name;
    measures_.AddTo(child, &inner_[inner].item);
    AddDevices(child, inner, &inner_device_numbers_, &inner_devices_);
  }
  AddDevices(node, row, &device_numbers_, &devices_);
}

void PaddleOperatorRows::AddDevices(uint32_t node, uint32_t row, PaddleRowNumbers* numbers,
                                    std::vector<Part>* devices) {
  for (uint32_t call = trees_.first_call[node]; call < trees_.first_call[node + 1]; ++call) {
    for (const SpanId span : trees_.devices_of(call)) {
      const StringId name = spans_.name[Row(span)];
      const auto [number, is_new] = numbers->Of(row, name);
      if (is_new) devices->push_back({row, {}}), devices->back().item.name = name;
      PaddleItem& item = (*devices)[number].item;
      ++item.calls;
      item.kernels.Add(spans_.duration[Row(span)].ns);
    }
  }
}

std::vector<PaddleOperatorItem> PaddleOperatorRows::Take() {
  std::vector<uint32_t> index_in_parent(inner_.size());
  for (size_t i = 0; i < inner_.size(); ++i) {
    auto& inner = operators_[inner_[i].of].inner;
    index_in_parent[i] = static_cast<uint32_t>(inner.size());
    inner.push_back({inner_[i].item, {}});
  }
  for (const Part& part : inner_devices_)
    operators_[inner_[part.of].of].inner[index_in_parent[part.of]].devices.push_back(part.item);
  for (const Part& part : devices_)
    operators_[part.of].devices.push_back(part.item);
  return std::move(operators_);
}

namespace {

// Merges the rows of several threads by name, in order of first appearance below each row.
class MergedRows {
 public:
  // The row with this name in `rows`, the rows below row `above`, and its number among all rows.
  template <typename Item>
  std::pair<Item*, uint32_t> Of(uint32_t above, StringId name, std::vector<Item>* rows) {
    const auto [number, is_new] = numbers_.Of(above, name);
    if (is_new) {
      index_in_parent_.push_back(static_cast<uint32_t>(rows->size()));
      rows->emplace_back();
    }
    return {&(*rows)[index_in_parent_[number]], number};
  }
  void Merge(uint32_t above, const std::vector<PaddleItem>& from, std::vector<PaddleItem>* to) {
    for (const PaddleItem& item : from) {
      PaddleItem* const into = Of(above, item.name, to).first;
      into->name = item.name;
      into->Add(item);
    }
  }

 private:
  PaddleRowNumbers numbers_;
  std::vector<uint32_t> index_in_parent_;
};

}  // namespace

std::vector<PaddleOperatorItem> MergePaddleOperators(const std::vector<PaddleThreadOperators>& threads) {
  std::vector<PaddleOperatorItem> merged;
  MergedRows operators, inner_rows, devices, inner_devices;
  for (const PaddleThreadOperators& thread : threads) {
    for (const PaddleOperatorItem& row : thread.operators) {
      const auto [into, number] = operators.Of(0, row.item.name, &merged);
      into->item.name = row.item.name;
      into->item.Add(row.item);
      devices.Merge(number, row.devices, &into->devices);
      for (const PaddleInnerItem& inner : row.inner) {
        const auto [into_inner, inner_number] = inner_rows.Of(number, inner.item.name, &into->inner);
        into_inner->item.name = inner.item.name;
        into_inner->item.Add(inner.item);
        inner_devices.Merge(inner_number, inner.devices, &into_inner->devices);
      }
    }
  }
  return merged;
}

std::vector<PaddleItem> MergePaddleRanges(const std::vector<PaddleThreadRanges>& threads) {
  std::vector<PaddleItem> merged;
  PaddleRows rows(&merged);
  for (const PaddleThreadRanges& thread : threads) {
    for (const PaddleItem& item : thread.ranges)
      rows.Of(item.name)->Add(item);
  }
  return merged;
}

}  // namespace opscope
