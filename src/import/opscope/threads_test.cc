// Column files give the same Trace however many threads read them, damaged ones too.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/debug_text_for_test.h"
#include "trace/random_tables_for_test.h"

namespace opscope {
namespace {

// The Trace as text and as a file again, or what is wrong with it.
std::string ReadBy(uint32_t threads, std::string_view file, uint64_t max_memory = 0) {
  ImportOptions options;
  options.max_threads = threads;
  options.max_memory = max_memory;
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(file)), "file.opscope", options);
  if (!trace.ok()) return trace.error().message;
  return ToDebugText(trace.value()) + OpscopeBytes(trace.value()).value();
}

void ExpectSameBy(std::string_view file, uint64_t max_memory = 0) {
  const std::string alone = ReadBy(1, file, max_memory);
  for (const uint32_t threads : {2u, 5u}) {
    if (ReadBy(threads, file, max_memory) != alone) ADD_FAILURE() << "differs with " << threads << " threads";
  }
}

uint64_t FirstSeed() {
  const char* chosen = std::getenv("OPSCOPE_TEST_SEED");
  return chosen == nullptr ? 1 : std::strtoull(chosen, nullptr, 10);
}

TEST(OpscopeThreads, GiveTheSameTraceOfEveryTable) {
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + 10; ++seed) {
    SCOPED_TRACE("OPSCOPE_TEST_SEED=" + std::to_string(seed));
    ExpectSameBy(OpscopeBytes(RandomTables(seed).Make(300)).value());
  }
}

// Slices of several tracks, each by itself in order.
std::string FileOfManyBlocks() {
  TraceBuilder builder;
  builder.info().format = "opscope";
  builder.info().format_version = "1.0";
  const ProcessId process = builder.AddProcess({.pid = 1});
  TrackId tracks[3];
  for (int64_t i = 0; i < 3; ++i)
    tracks[i] = builder.AddTrack({.process = process, .tid = i});
  for (int64_t i = 0; i < 150'000; ++i) {
    builder.AddSpan({.start = {i * 40'000},
                     .duration = {i % 7 * 30'000},
                     .name = builder.Intern(std::to_string(i % 80'000)),
                     .track = tracks[i * 5 / 7 % 3],
                     .flags = i % 11 == 0 ? span_flags::kAsync : uint8_t{0},
                     .sequence = i % 3 == 0 ? i : -1});
  }
  return OpscopeBytes(builder.Build()).value();
}

TEST(OpscopeThreads, GiveTheSameTraceOfManyBlocks) {
  const std::string file = FileOfManyBlocks();
  ExpectSameBy(file);
  EXPECT_NE(ReadBy(1, file).find(file), std::string::npos) << "what was read is written as it was";
}

TEST(OpscopeThreads, StopAtTheSameLimitOfMemory) {
  const std::string file = FileOfManyBlocks();
  for (const uint64_t more : {100'000u, 2'000'000u, 6'000'000u, 12'000'000u})
    ExpectSameBy(file, file.size() + more);
}

TEST(OpscopeThreads, GiveTheSameTraceOfDamagedFiles) {
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + 60; ++seed) {
    SCOPED_TRACE("OPSCOPE_TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::string file = OpscopeBytes(RandomTables(seed).Make(40)).value();
    for (size_t times = 1 + random() % 3; times > 0; --times)
      file[16 + random() % (file.size() - 16)] = static_cast<char>(random());
    if (random() % 3 == 0) file.resize(16 + random() % (file.size() - 16));
    ExpectSameBy(file);
  }
}

}  // namespace
}  // namespace opscope
