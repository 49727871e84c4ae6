// The file of record_to while it is written, or when a part of it is lost: it opens, and what is in it is right.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "flight/temporary_folder_for_test.h"
#include "opscope/import.h"
#include "opscope/profiler.h"
#include "opscope/recorder.h"
#include "trace/problem_count_for_test.h"
#include "wire/block_header.h"

namespace opscope {
namespace {

// The thread sanitizer makes reading ten times as long, so there is a part of it.
#if defined(__SANITIZE_THREAD__)
constexpr int kOneOf = 10;
#else
constexpr int kOneOf = 1;
#endif

constexpr std::array<StaticName, 7> kNames = {{{"n0"}, {"n1"}, {"n2"}, {"n3"}, {"n4"}, {"n5"}, {"n6"}}};

// The finished spans of every track follow each other as they were recorded. Returns how many there are.
uint64_t CheckOrder(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  uint64_t count = 0;
  for (size_t track = 0; track < trace.tracks().size(); ++track) {
    const uint32_t first = trace.tracks().first_span[track], end = first + trace.tracks().span_count[track];
    std::string_view expected;
    for (uint32_t i = first; i < end; ++i) {
      const std::string_view name = trace.text(spans.name[i]);
      if (name == "outer" || (spans.flags[i] & span_flags::kUnfinished) != 0) continue;  // at the cap one may be open
      EXPECT_TRUE(expected.empty() || name == expected) << name << " where " << expected << " should be";
      const size_t number = name.size() == 2 ? static_cast<size_t>(name[1] - '0') : kNames.size();
      if (number >= kNames.size()) {
        ADD_FAILURE() << "a torn name: " << name;
        return count;
      }
      expected = kNames[(number + 1) % kNames.size()].text;
      ++count;
    }
  }
  return count;
}

// A thread that comes when the cap is reached has nothing in the file, and its drops are counted when the file ends. So
// all begin before one goes on.
void RecordTurns(const std::atomic<bool>* going, std::atomic<uint64_t>* done, std::latch* begun) {
  const Scope outer("outer");
  begun->arrive_and_wait();
  for (uint64_t serial = 0; going->load(std::memory_order_relaxed); ++serial) {
    {
      const Scope scope(kNames[serial % kNames.size()]);
    }
    done->store(serial + 1, std::memory_order_release);
  }
}

// Reads the file again and again while four threads record into it.
void ReadWhileRecording(uint64_t max_bytes, AtCap at_cap, int readings) {
  const TemporaryFolder folder;
  const std::string path = folder.File("x.opscope");
  Profiler profiler({.max_bytes = max_bytes, .at_cap = at_cap, .record_to = path});
  ASSERT_TRUE(profiler.Start().ok());
  std::atomic<bool> going{true};
  std::array<std::atomic<uint64_t>, 4> done{};
  std::latch begun(done.size());
  std::vector<std::thread> threads;
  for (auto& count : done)
    threads.emplace_back([&] { RecordTurns(&going, &count, &begun); });
  uint64_t least = 0;
  for (int i = 0; i < readings && !testing::Test::HasFailure(); ++i) {
    uint64_t sum = 0;
    while (sum <= least + 1000) {  // until there is something new
      sum = 0;
      for (const auto& count : done)
        sum += count.load(std::memory_order_acquire);
      std::this_thread::yield();
    }
    least = sum;
    const Result<Trace> trace = ImportFile(path);
    if (!trace.ok()) {
      ADD_FAILURE() << trace.error().message;
      break;
    }
    EXPECT_EQ(ProblemCount(trace.value(), "damaged_block"), 0u);
    EXPECT_EQ(ProblemCount(trace.value(), "recording_not_ended"), 1u);
    EXPECT_EQ(ProblemCount(trace.value(), "truncated"), 0u);
    const uint64_t count = CheckOrder(trace.value());
    if (at_cap == AtCap::kStop) {
      EXPECT_GE(count + trace.value().info().dropped, least) << "read " << i;
      EXPECT_EQ(ProblemCount(trace.value(), "missing_chunk"), 0u);
    }
  }
  going.store(false);
  for (std::thread& thread : threads)
    thread.join();
  ASSERT_TRUE(profiler.Stop().ok());
  const Result<Trace> trace = ImportFile(path);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(ProblemCount(trace.value(), "recording_not_ended"), 0u);
  EXPECT_EQ(trace.value().info().recorded, profiler.recorded());
}

TEST(RecordToReading, AReaderSeesEverythingThatWasPublishedBeforeItCame) {
  ReadWhileRecording(uint64_t{1} << 24, AtCap::kStop, std::max(3, 10 / kOneOf));
}

TEST(RecordToReading, AReaderNeverSeesTwoChunksMixed) {
  ReadWhileRecording(uint64_t{1} << 23, AtCap::kKeepNewest, 30 / kOneOf);
}

// The file of a process that was killed: two threads, some chunks, scopes open.
std::string KilledFile() {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    Profiler profiler({.record_to = folder.File("x.opscope")});
    (void)profiler.Start();
    const Scope outer("outer");
    std::thread([] {
      for (size_t i = 0; i < 20000; ++i)
        const Scope scope(kNames[i % kNames.size()]);
    }).join();
    for (size_t i = 0; i < 1000; ++i)
      const Scope scope(kNames[i % kNames.size()]);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  std::ifstream file(folder.File("x." + std::to_string(child) + ".opscope"), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<Trace> Import(std::string_view file) {
  return ImportBytes(std::as_bytes(std::span(file)), "killed.opscope");
}

// Every place near the borders of what is in the file, and some of all others.
std::vector<size_t> PlacesOf(const std::string& file) {
  std::vector<size_t> places;
  for (const char* border : {"OBLK", "OPEN", "OCHK"}) {
    for (size_t at = file.find(border); at != std::string::npos; at = file.find(border, at + 1)) {
      for (size_t i = 0; i < 200; i += kOneOf)
        places.push_back(at - std::min<size_t>(at, 40) + i);
    }
  }
  for (size_t i = 0; i < file.size(); i += 4099 * kOneOf)
    places.push_back(i);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  while (!places.empty() && places.back() >= file.size())
    places.pop_back();
  return places;
}

TEST(RecordToReading, AKilledFileOpensWhereverItIsCut) {
  const std::string file = KilledFile();
  const Result<Trace> whole = Import(file);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(CheckOrder(whole.value()), 21000u);
  uint64_t last = 0;
  size_t opened = 0;
  for (const size_t size : PlacesOf(file)) {
    SCOPED_TRACE("cut at " + std::to_string(size));
    const Result<Trace> trace = Import(std::string_view(file).substr(0, size));
    if (!trace.ok()) {
      ASSERT_EQ(opened, 0u) << "a longer file must not open worse: " << trace.error().message;
      continue;
    }
    ASSERT_TRUE(trace.value().is_partial());
    ASSERT_EQ(ProblemCount(trace.value(), "damaged_block"), 0u);
    const uint64_t count = CheckOrder(trace.value());
    if (count > 0) ++opened;  // a cut before the first whole event may be an error or an empty trace
    ASSERT_GE(count, last);
    last = count;
  }
  EXPECT_EQ(last, 21000u);
  EXPECT_GT(opened, 1000 / kOneOf);
}

TEST(RecordToReading, AKilledFileOpensWithAnyByteDamaged) {
  const std::string file = KilledFile();
  const char* chosen = std::getenv("OPSCOPE_TEST_SEED");
  const uint64_t seed = chosen == nullptr ? std::random_device()() : std::strtoull(chosen, nullptr, 10);
  SCOPED_TRACE("OPSCOPE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const size_t at : PlacesOf(file)) {
    if (at < kFileHeaderBytes || random() % 3 != 0) continue;
    SCOPED_TRACE("damaged at " + std::to_string(at));
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1 + random() % 255));
    const Result<Trace> trace = Import(damaged);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    ASSERT_TRUE(trace.value().is_partial());
  }
}

}  // namespace
}  // namespace opscope
