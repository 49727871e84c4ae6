// SPDX-License-Identifier: Apache-2.0
#include "recorder/ended_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

void RunThreads(int count, const std::function<void(int)>& body) {
  for (int i = 0; i < count; ++i)
    std::thread(body, i).join();
}

TEST(EndedThreads, HoldNoMoreThanTheirRecordsNeedAndLoseNothing) {
  constexpr int kCount = 200;
  static constexpr const char* kNames[] = {"one", "a name that is longer than a word", "three"};
  OwnedWindow window = OpenTestWindow();
  const uint64_t before = opscope_window_counts(window.get()).bytes;
  RunThreads(kCount, [&](int number) {
    SetThreadName(("thread " + std::to_string(number)).c_str());
    Stream* stream = StreamIn(window);
    OpenScope* outer = OpenNumbered(stream, "outer", static_cast<uint64_t>(number));
    for (int i = 0; i < number; ++i)
      End(OpenNumbered(stream, kNames[i % 3], static_cast<uint64_t>(i)));
    End(outer);
  });
  EXPECT_LE(opscope_window_counts(window.get()).bytes - before, kCount * uint64_t{48 * 1024});
  const DecodedWindow decoded = CloseAndDecode(window.get());
  int found = 0;
  for (const auto& [index, thread] : decoded.threads) {
    if (thread.records.empty()) continue;  // the opener
    const uint64_t number = thread.records.back().handle;
    ASSERT_EQ(thread.name, "thread " + std::to_string(number));
    ASSERT_EQ(thread.records.size(), number + 1);
    for (size_t i = 0; i < number; ++i) {
      const DecodedRecord& record = thread.records[i];
      ASSERT_EQ(record.name, kNames[i % 3]);
      ASSERT_EQ(record.handle, i);
      ASSERT_EQ(record.record.depth, 1);
    }
    ++found;
  }
  EXPECT_EQ(found, kCount);
}

// One tensor that an object references, as a source of tensors records it.
void AppendReferenced(Stream* stream, const char* name) {
  struct {
    PayloadHeader header;
    uint32_t count = 1, reserved = 0;
    ReferencedTensor tensor;
  } payload;
  payload.header.bytes = sizeof(payload);
  payload.header.fields = payload_fields::kHeld;
  const Writing writing(stream);
  const NameAndRoom room = InternAndReserve(
      stream, sizeof(payload), [&] { return payload.tensor.name = InternText(stream, name, std::strlen(name)); });
  ASSERT_NE(room.payload, nullptr);
  std::memcpy(room.payload, &payload, sizeof(payload));
  AppendRecord(stream, Record{.payload = OffsetInChunk(stream, room.payload), .kind = RecordKind::kHeld});
}

// Name of the tensor of the chunk's first record.
void ReadNameOfReferenced(void* context, uint16_t type, const void* data, uint64_t bytes) {
  const auto* chunk = static_cast<const ChunkHeader*>(data);
  if (type != block_types::kRawChunk || LoadPublished(chunk).record_count == 0) return;
  const char* base = static_cast<const char*>(data);
  ReferencedTensor tensor;
  std::memcpy(&tensor, base + reinterpret_cast<const Record*>(chunk + 1)->payload + 16, sizeof(tensor));
  ASSERT_LT(tensor.name + sizeof(NameEntry), bytes) << "an offset in another chunk";
  NameEntry name;
  std::memcpy(&name, base + tensor.name, sizeof(name));
  static_cast<std::string*>(context)->assign(base + tensor.name + sizeof(name), name.size);
}

TEST(EndedThreads, KeepTheNamesOfReferencedTensors) {
  OwnedWindow window = OpenTestWindow();
  std::thread([&] { AppendReferenced(StreamIn(window), "layer.weight"); }).join();
  opscope_window_close(window.get());
  std::string name;
  opscope_window_read(window.get(), ReadNameOfReferenced, &name);
  EXPECT_EQ(name, "layer.weight");
}

TEST(EndedThreads, GiveWayAtTheCapOldestFirst) {
  constexpr int kCount = 500;
  OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest, .max_bytes = 16 * kChunkBytes});
  RunThreads(kCount, [](int number) { RecordNow(RecordKind::kInstant, "event", static_cast<uint64_t>(number)); });
  const WindowCounts counts = opscope_window_counts(window.get());
  EXPECT_LE(counts.bytes, 17 * uint64_t{kChunkBytes});
  EXPECT_EQ(counts.recorded + counts.dropped, uint64_t{kCount});
  EXPECT_EQ(counts.threads, kCount + 1u);
  EXPECT_GT(counts.recorded, 100u);
  uint64_t expected = kCount - counts.recorded;
  for (const auto& [index, thread] : CloseAndDecode(window.get()).threads) {
    if (thread.records.empty()) continue;
    ASSERT_EQ(thread.records.at(0).record.value, expected++);
  }
  EXPECT_EQ(expected, uint64_t{kCount});
}

TEST(EndedThreads, BeyondTheCapOfAWindowThatStopsCostNothingAndAreCounted) {
  constexpr int kCount = 2000;
  OwnedWindow window = OpenTestWindow({.max_bytes = 2 * kChunkBytes});
  RunThreads(kCount, [](int) { OPSCOPE_SCOPE("scope"); });
  const DecodedWindow decoded = CloseAndDecode(window.get());
  uint64_t recorded = 0, dropped = 0;
  for (const auto& [index, thread] : decoded.threads) {
    recorded += thread.recorded;
    dropped += thread.dropped;
  }
  EXPECT_GT(recorded, 0u);
  EXPECT_EQ(recorded + dropped, uint64_t{kCount});
  EXPECT_LT(decoded.threads.size(), 400u) << "there is a row for threads that left nothing";
  EXPECT_GT(decoded.threads.at(0).dropped, 0u);
}

TEST(EndedThreads, AScopeThatIsLeftOpenKeepsItsThread) {
  OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest, .max_bytes = 4 * kChunkBytes});
  OpenScope* open = nullptr;
  std::thread([&] { open = OpenNumbered(StreamIn(window), "left open", 7); }).join();
  RunThreads(300, [](int) { OPSCOPE_SCOPE("scope"); });
  End(open);
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const DecodedThread& own = decoded.threads.at(opscope_tls->index);
  ASSERT_EQ(own.records.size(), 1u);
  EXPECT_EQ(own.records[0].name, "left open");
  EXPECT_EQ(own.records[0].handle, 7u);
}

struct DumpTotals {
  uint64_t recorded = 0, dropped = 0, records = 0;
};

bool AddDump(void* context, uint16_t type, const void* data, uint64_t bytes) {
  auto* totals = static_cast<DumpTotals*>(context);
  if (type == block_types::kRawChunk) {
    totals->records += LoadPublished(static_cast<const ChunkHeader*>(data)).record_count;
    return true;
  }
  const std::string info(static_cast<const char*>(data), bytes);
  for (size_t at = info.find("{\"index\":"); at != std::string::npos; at = info.find("{\"index\":", at + 1)) {
    totals->recorded += NumberAfter(info, "recorded", at);
    totals->dropped += NumberAfter(info, "dropped", at);
  }
  return true;
}

TEST(EndedThreads, AreAccountedForInDumpsThatRunBesideThem) {
  OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest, .max_bytes = 8 * kChunkBytes});
  std::atomic<uint64_t> ended{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> starters;
  for (int t = 0; t < 3; ++t) {
    starters.emplace_back([&] {
      while (!done) {
        std::thread([] { OPSCOPE_SCOPE("scope"); }).join();
        ++ended;
      }
    });
  }
  int dumps = 0;
  while (dumps < 50 || ended < 3000) {
    const uint64_t least = ended;
    DumpTotals totals;
    ASSERT_TRUE(opscope_window_dump(window.get(), nullptr, AddDump, &totals));
    EXPECT_EQ(totals.records, totals.recorded);
    EXPECT_GE(totals.recorded + totals.dropped, least);
    ++dumps;
  }
  done = true;
  for (std::thread& starter : starters)
    starter.join();
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const WindowCounts counts = opscope_window_counts(window.get());
  EXPECT_EQ(counts.recorded + counts.dropped, ended);
}

}  // namespace
}  // namespace opscope
