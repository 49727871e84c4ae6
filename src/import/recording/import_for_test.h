// Thread rule: as GoogleTest's assertions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "import/recording/recorded_bytes_for_test.h"
#include "import/recording/recording.h"

namespace opscope {

// Of one window with this chunk.
inline Trace ImportChunk(const ChunkBytes& chunk, std::string_view info_members = {}) {
  RecordingBytes bytes;
  bytes.Add(block_types::kWindowInfo, WindowInfoText(info_members));
  bytes.Add(block_types::kRawChunk, chunk.bytes());
  Result<Trace> trace = ImportRecording(bytes.blocks);
  EXPECT_TRUE(trace.ok());
  return std::move(trace).value();
}

}  // namespace opscope
