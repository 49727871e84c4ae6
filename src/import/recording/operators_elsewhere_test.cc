// SPDX-License-Identifier: Apache-2.0
#include "import/recording/operators_elsewhere.h"

#include <gtest/gtest.h>

#include "import/recording/recorded_bytes_for_test.h"
#include "opscope/import.h"
#include "trace/problem_count_for_test.h"

namespace opscope {
namespace {

TEST(RecordingElsewhere, IsToldWhereOtherThreadsRanAndThereIsNoOperator) {
  for (const bool others_ran : {false, true}) {
    for (const bool has_operator : {false, true}) {
      ChunkBytes chunk(ChunkFacts{.size = 8192});
      chunk.Scope("range", 100, 50, 0, {}, static_cast<uint8_t>(ScopeType::kUserScope));
      if (has_operator) chunk.Scope("aten::mm", 200, 50, 0);
      RecordingBytes recording;
      recording.Add(block_types::kWindowInfo,
                    WindowInfoText(others_ran ? "\"metadata\":{\"opscope.other_threads_ran\":1}" : ""));
      recording.Add(block_types::kRawChunk, chunk.bytes());
      const Result<Trace> trace = ImportRecording(recording.blocks);
      ASSERT_TRUE(trace.ok());
      EXPECT_EQ(ProblemCount(trace.value(), "operators_elsewhere"), others_ran && !has_operator ? 1u : 0u);
      EXPECT_EQ(trace.value().metadata().size(), 0u);
    }
  }
}

}  // namespace
}  // namespace opscope
