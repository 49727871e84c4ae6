// The rows of Paddle's operator tables: operators, their inner parts, and the device events of both.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "opscope/paddle/statistics.h"

namespace opscope {

// Measures by node in nanoseconds; device times include those of descendants.
struct PaddleNodeMeasures {
  PaddleEventTypes types;
  SpanColumns spans;
  const PaddleNodeTrees* trees;
  std::vector<int64_t> kernels, device;  // empty: no device events
  std::vector<int64_t> flops;            // empty: no operator has FLOPs

  // REQUIRES: node is no root.
  int64_t host(size_t node) const { return spans.duration[Row(trees->span[node])].ns; }
  void AddTo(size_t node, PaddleItem* item) const;
};
[[nodiscard]] PaddleNodeMeasures MeasurePaddleNodes(const Trace& trace, const PaddleNodeTrees& trees);

// All nodes by thread in the order of Paddle's walk: a parent before its children, the last sibling first. O(nodes).
[[nodiscard]] std::vector<uint32_t> PaddleWalkOrder(const PaddleNodeTrees& trees);

// Numbers pairs (row, name) in order of first appearance.
class PaddleRowNumbers {
 public:
  // The number of the pair, and true if it is new.
  std::pair<uint32_t, bool> Of(uint32_t row, StringId name) {
    const auto [found, is_new] =
        numbers_.try_emplace((uint64_t{row} << 32) | Row(name), static_cast<uint32_t>(numbers_.size()));
    return {found->second, is_new};
  }

 private:
  tsl::robin_map<uint64_t, uint32_t, MixedHash> numbers_;
};

// Rows by name, in order of first appearance.
class PaddleRows {
 public:
  explicit PaddleRows(std::vector<PaddleItem>* rows) : rows_(rows) {}
  // Valid until the next call.
  PaddleItem* Of(StringId name) {
    const auto [number, is_new] = numbers_.Of(0, name);
    if (is_new) rows_->emplace_back().name = name;
    return &(*rows_)[number];
  }

 private:
  std::vector<PaddleItem>* rows_;
  PaddleRowNumbers numbers_;
};

// The operator rows of one thread.
class PaddleOperatorRows {
 public:
  PaddleOperatorRows(const Trace& trace, const PaddleNodeTrees& trees, const PaddleNodeMeasures& measures)
      : spans_(trace.spans()), trees_(trees), measures_(measures) {}

  void Add(uint32_t node);  // REQUIRES: the node is an operator
  std::vector<PaddleOperatorItem> Take();

 private:
  struct Part {
    uint32_t of = 0;  // index of the operator, or of the inner part
    PaddleItem item;
  };

  void AddDevices(uint32_t node, uint32_t row, PaddleRowNumbers* numbers, std::vector<Part>* devices);

  const SpanColumns& spans_;
  const PaddleNodeTrees& trees_;
  const PaddleNodeMeasures& measures_;
  std::vector<PaddleOperatorItem> operators_;
  std::vector<Part> inner_, devices_, inner_devices_;
  PaddleRowNumbers operator_numbers_, inner_numbers_, device_numbers_, inner_device_numbers_;
};

}  // namespace opscope
