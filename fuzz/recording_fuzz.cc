// Raw recordings in memory: one window description and chunks of 512 bytes, all from the input.
// u8 size of the description in units of 4, the description, chunks until the end.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "opscope/import.h"
#include "opscope/recorder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChunk = 512;
  auto rest = std::as_bytes(std::span(data, size));
  std::vector<opscope::RecordingBlock> blocks;
  if (!rest.empty()) {
    const size_t info = std::min<size_t>(static_cast<size_t>(rest[0]) * 4, rest.size() - 1);
    blocks.push_back({opscope::block_types::kWindowInfo, rest.subspan(1, info)});
    rest = rest.subspan(1 + info);
  }
  while (!rest.empty()) {
    const size_t chunk = std::min(kChunk, rest.size());
    blocks.push_back({opscope::block_types::kRawChunk, rest.first(chunk)});
    rest = rest.subspan(chunk);
  }
  const auto trace = opscope::ImportRecording(blocks);
  if (!trace.ok()) std::abort();
  // Every record is kept once or counted as damaged; none is made up.
  if (trace.value().spans().size() > size / sizeof(opscope::Record)) std::abort();
  return 0;
}
