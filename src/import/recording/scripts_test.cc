// The place of a TorchScript interpreter before the keyword members of a payload (kFramesMark).
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "import/recording/recorded_bytes_for_test.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

// The line of one operator whose keyword text is this.
std::string Read(const std::string& text) {
  ChunkBytes chunk(ChunkFacts{.size = 8192});
  const uint32_t name = chunk.Name(text);
  chunk.Scope("aten::mul", 1000, 10, 0, PayloadBytes().Field(payload_fields::kKeywords, {name}).Finish());
  RecordingBytes recording;
  recording.Add(block_types::kWindowInfo, WindowInfoText());
  recording.Add(block_types::kRawChunk, chunk.bytes());
  const Result<Trace> trace = ImportRecording(recording.blocks);
  if (!trace.ok()) return trace.error().message;
  const std::string all = ToDebugText(trace.value(), {.info = false});
  const size_t at = all.find("external_id=1");
  return at == std::string::npos ? all : all.substr(at, all.find('\n', at) - at);
}

TEST(RecordingScripts, GiveTheSpanItsStackAndKeepTheMembers) {
  EXPECT_EQ(Read("\x01"
                 "a.py(3): inner\nb.py(9): forward\n\x01\"k\": 1"),
            "external_id=1 stack=\"a.py(3): inner\" < \"b.py(9): forward\" extra=\"\\\"k\\\": 1\"");
  EXPECT_EQ(Read("\x01"
                 "f\n\x01"),
            "external_id=1 stack=\"f\"");
}

TEST(RecordingScripts, LeaveMembersWithoutAStackAsTheyAre) {
  EXPECT_EQ(Read("\"k\": \"\\u0001\""), "external_id=1 extra=\"\\\"k\\\": \\\"\\\\u0001\\\"\"");
}

TEST(RecordingScripts, ThatAreDamagedCostNothingElse) {
  EXPECT_EQ(Read("\x01"
                 "cut off"),
            "external_id=1");
  EXPECT_EQ(Read("\x01\x01"), "external_id=1");
  EXPECT_EQ(Read("\x01\n\n\x01"), "external_id=1 stack=\"\" < \"\"");
}

}  // namespace
}  // namespace opscope
