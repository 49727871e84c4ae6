// A recording gives the same Trace, down to the numbers of its strings and argument lists, whatever number of threads
// reads it. Random recordings: several threads and windows, chunks small enough that scopes span many of them,
// every kind of record, lost and doubled chunks, flipped bytes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "import/recording/recorded_bytes_for_test.h"
#include "opscope/export.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

class RandomRecording {
 public:
  explicit RandomRecording(uint64_t seed) : random_(seed) {
    bytes_.Add(block_types::kWindowInfo, WindowInfoText());
    for (uint32_t thread = 1 + static_cast<uint32_t>(Below(3)); thread > 0; --thread) {
      for (uint64_t window = 1 + Below(2); window > 0; --window)
        RecordThread(thread, window);
    }
    std::shuffle(bytes_.blocks.begin() + 1, bytes_.blocks.end(), random_);
    if (Below(2) == 0 && bytes_.blocks.size() > 2) bytes_.blocks.push_back(bytes_.blocks.back());  // twice
    if (Below(2) == 0) Damage();
  }

  Trace Import(uint32_t threads) const {
    Result<Trace> trace = ImportRecording(bytes_.blocks, {.max_threads = threads});
    EXPECT_TRUE(trace.ok());
    return std::move(trace).value();
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  void Write() {
    if (Below(12) != 0) bytes_.Add(block_types::kRawChunk, chunk_->bytes());  // or it is lost
    ++facts_.sequence;
    chunk_ = std::make_unique<ChunkBytes>(facts_);
  }

  void Add(Record record, const std::string& name, const std::string& payload) {
    if (!chunk_->HasRoomFor(payload.size() + name.size() + 32)) Write();
    record.name = chunk_->Name(name);
    if (!payload.empty()) record.payload = chunk_->Side(payload);
    chunk_->Add(record);
  }

  std::string Payload() {
    PayloadBytes payload;
    if (Below(2) == 0) payload.Sequence(static_cast<int64_t>(Below(12)) - 1, Below(4));
    if (Below(20) == 0) payload.Field(payload_fields::kStartThread, {Below(4)});
    if (Below(20) == 0) payload.Field(payload_fields::kRecordHandle, {1 + Below(90)});
    for (uint64_t count = Below(3); count > 0; --count) {
      payload.Argument(ArgKind::kTensor, 1, arg_flags::kContiguous, 6, {static_cast<uint32_t>(Below(9))});
    }
    if (Below(40) == 0) payload.Argument(ArgKind::kTensor, 60000);  // contradicts the format
    return payload.Finish();
  }

  void Scopes(uint16_t depth) {
    static const char* const kNames[] = {
        "aten::add",      "aten::mul", "MulBackward0",
        "ProfilerStep#7", "",          "autograd::engine::evaluate_function: MulBackward0"};
    for (uint64_t count = Below(depth == 0 ? 40 : 4); count > 0; --count) {
      Record record;
      record.kind = Below(15) == 0 ? RecordKind::kAsync : RecordKind::kScope;
      record.source = Below(4) == 0 ? RecordSource::kAnnotation : RecordSource::kTorch;
      record.scope = static_cast<uint8_t>(Below(3) == 0 ? Below(9) : Below(2));
      record.depth = static_cast<uint16_t>(Below(30) == 0 ? Below(8) : depth);
      record.flags = static_cast<uint8_t>(Below(20) == 0 ? Below(8) : 0);
      record.start = now_ += Below(3);
      if (depth < 6 && Below(3) != 0) Scopes(static_cast<uint16_t>(depth + 1));
      now_ += Below(3);
      record.value = Below(50) == 0 ? random_() : now_ - record.start;
      Add(record, kNames[Below(std::size(kNames))], Below(3) == 0 ? std::string() : Payload());
      if (Below(6) == 0) Event();
    }
  }

  void Event() {
    static constexpr RecordKind kKinds[] = {RecordKind::kEnter,   RecordKind::kExit,       RecordKind::kAllocation,
                                            RecordKind::kCounter, RecordKind::kInstant,    RecordKind::kFlowBegin,
                                            RecordKind::kFlowEnd, RecordKind::kDeviceSpan, RecordKind::kNone};
    Record record;
    // Calls make their whole track nest by time: only some threads have them.
    record.kind = kKinds[facts_.thread_index == 2 ? Below(std::size(kKinds)) : 2 + Below(std::size(kKinds) - 2)];
    record.start = now_ += Below(2);
    record.value = Below(4);
    std::string payload;
    if (record.kind == RecordKind::kAllocation)
      payload = PayloadBytes().Field(payload_fields::kAddress, {1, 0}).Finish();
    if (record.kind == RecordKind::kDeviceSpan)
      payload = PayloadBytes().Field(payload_fields::kDevice, {1, 2}).Finish();
    Add(record, "event", payload);
  }

  void RecordThread(uint32_t thread, uint64_t window) {
    facts_ = {.size = static_cast<uint32_t>(512 + 8 * Below(200)), .window = window, .os_thread = 100 + thread};
    facts_.thread_index = thread;
    facts_.logical_thread = thread;
    now_ = 1000 + Below(100);
    chunk_ = std::make_unique<ChunkBytes>(facts_);
    Scopes(0);
    Write();
  }

  void Damage() {
    for (uint64_t count = 1 + Below(4); count > 0; --count) {
      std::string& payload = bytes_.payloads[Below(bytes_.payloads.size())];
      payload[Below(payload.size())] ^= static_cast<char>(1u << Below(8));
    }
  }

  std::mt19937_64 random_;
  RecordingBytes bytes_;
  ChunkFacts facts_;
  std::unique_ptr<ChunkBytes> chunk_;
  uint64_t now_ = 0;
};

// The dump tells contents, the file also the numbers of strings and lists.
std::string Fingerprint(const Trace& trace) {
  Result<std::string> file = OpscopeBytes(trace);
  EXPECT_TRUE(file.ok());
  return ToDebugText(trace) + file.value();
}

TEST(RecordingThreads, AnyNumberOfThreadsGivesTheSameTrace) {
  const char* chosen = std::getenv("OPSCOPE_SEED");
  const uint64_t first = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
  const uint64_t seeds = chosen != nullptr ? 1 : std::getenv("OPSCOPE_SOAK") != nullptr ? 20000 : 150;
  size_t spans = 0;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE("OPSCOPE_SEED=" + std::to_string(seed));
    const RandomRecording recording(seed);
    const Trace alone = recording.Import(1);
    spans += alone.spans().size();
    const std::string expected = Fingerprint(alone);
    for (const uint32_t threads : {2u, 3u, 8u})
      ASSERT_EQ(Fingerprint(recording.Import(threads)), expected) << threads << " threads";
  }
  EXPECT_GT(spans, 100 * seeds);
}

}  // namespace
}  // namespace opscope
