// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle/layers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// A layer and an operator of 1 FLOP.
Trace LayerAndOperator() {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1})});
  builder.AddSpan({.start = {0}, .duration = {100}, .name = builder.Intern("Net"), .track = track});
  builder.AddSpan({.start = {10},
                   .duration = {20},
                   .name = builder.Intern("relu"),
                   .track = track,
                   .extra = builder.Intern(R"("input_shapes": {"X": [[1]]})")});
  return builder.Build();
}

void AddNode(uint32_t span, PaddleEventType type, uint32_t parent, PaddleNodeTrees* trees) {
  trees->span.push_back(SpanId{span});
  trees->type.push_back(type);
  trees->parent.push_back(parent);
  trees->end.push_back(static_cast<uint32_t>(trees->span.size()));
}

TEST(PaddleLayers, HaveTheFlopsOfAllOperatorsInThemAtAnyDepth) {
  constexpr uint32_t kDepth = 20'000;
  PaddleNodeTrees trees;
  AddNode(Row(SpanId::kNone), PaddleEventType::kOperator, PaddleNodeTrees::kNone, &trees);
  trees.threads.push_back({.first_node = 0, .end_node = 1});  // Paddle leaves out the first thread
  const uint32_t root = 1;
  AddNode(Row(SpanId::kNone), PaddleEventType::kOperator, PaddleNodeTrees::kNone, &trees);
  for (uint32_t i = 0; i < kDepth; ++i) {  // each layer has an operator, and then the next layer
    const uint32_t layer = root + 1 + 2 * i;
    AddNode(0, PaddleEventType::kForward, i == 0 ? root : layer - 2, &trees);
    AddNode(1, PaddleEventType::kOperator, layer, &trees);
  }
  const auto nodes = static_cast<uint32_t>(trees.size());
  for (uint32_t node = root; node < nodes; ++node) {
    if (trees.span[node] != SpanId{1}) trees.end[node] = nodes;
  }
  trees.threads.push_back({.first_node = root, .end_node = nodes});

  const std::vector<PaddleLayer> layers = FindPaddleLayers(LayerAndOperator(), trees);
  ASSERT_EQ(layers.size(), size_t{2 * kDepth});
  for (uint32_t i = 0; i < kDepth; ++i) {
    ASSERT_EQ(layers[2 * i].flops, int64_t{kDepth - i});
    ASSERT_EQ(layers[2 * i + 1].flops, 1);
  }
}

}  // namespace
}  // namespace opscope
