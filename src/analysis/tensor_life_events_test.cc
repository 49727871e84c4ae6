// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "opscope/analysis/memory_curves.h"
#include "trace/builder.h"

namespace opscope {
namespace {

TEST(TensorLifeEvents, MemoryThatTensorsShareCountsOnce) {
  TraceBuilder builder;
  const TrackId stream = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 7});
  builder.AddTensorLife({.produced = {10}, .duration = {20}, .track = stream, .address = 1000, .bytes = 100});
  builder.AddTensorLife({.produced = {20}, .duration = {-1}, .track = stream, .address = 1040, .bytes = 20});
  builder.AddTensorLife({.produced = {25}, .duration = {15}, .track = stream, .address = 0, .bytes = 7});
  builder.AddTensorLife({.produced = {35}, .duration = {0}, .track = stream, .address = 9000, .bytes = 500});
  const std::vector<MemoryCurve> curves = MeasureMemoryCurves(builder.Build());
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].track, stream);
  EXPECT_EQ(curves[0].category, "");
  EXPECT_EQ(curves[0].times_ns, (std::vector<int64_t>{10, 25, 30, 35, 40}));
  EXPECT_EQ(curves[0].bytes, (std::vector<int64_t>{100, 107, 27, 27, 20}));
}

// Against a set of addresses at each time.
TEST(TensorLifeEvents, EqualsThePlainUnionOfRandomLives) {
  std::mt19937 random(5);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint32_t>(end)); };
  for (int round = 0; round < 200; ++round) {
    TraceBuilder builder;
    const TrackId stream = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 7});
    struct PlainLife {
      int64_t begin, end;
      uint64_t address, bytes;
    };
    std::vector<PlainLife> lives;
    for (int64_t i = 0, count = 1 + below(30); i < count; ++i) {
      const int64_t begin = below(40), duration = below(20);
      lives.push_back(
          {begin, begin + duration, static_cast<uint64_t>(1 + below(60)), static_cast<uint64_t>(below(30))});
      builder.AddTensorLife({.produced = {begin},
                             .duration = {duration},
                             .track = stream,
                             .address = lives.back().address,
                             .bytes = lives.back().bytes});
    }
    for (const MemoryCurve& curve : MeasureMemoryCurves(builder.Build())) {
      for (size_t i = 0; i < curve.times_ns.size(); ++i) {
        const int64_t time = curve.times_ns[i];
        std::set<uint64_t> covered;
        for (const PlainLife& life : lives) {
          for (uint64_t byte = 0; life.begin <= time && time < life.end && byte < life.bytes; ++byte)
            covered.insert(life.address + byte);
        }
        EXPECT_EQ(curve.bytes[i], static_cast<int64_t>(covered.size())) << "at " << time;
      }
      EXPECT_EQ(curve.bytes.back(), 0);
    }
  }
}

}  // namespace
}  // namespace opscope
