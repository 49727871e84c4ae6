// After a crash of the system some pages of the file never reached the disk: images of a recording with
// random pages zero, old or cut off. Reading never fails, takes nothing of a saved file for true that was not
// recorded, and says what is missing. OPSCOPE_SOAK=1: 1,000 images of each kind. Prints its seed; OPSCOPE_SEED=N
// repeats one.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "opscope/import.h"
#include "opscope/profiler.h"
#include "soak.h"

namespace opscope {
namespace {

constexpr size_t kPage = 4096;

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

enum class Image { kSaved, kStillRecording };

// A recording's file, after Save or while it is being recorded into. Each span has a name of its own, and
// each name stands for one span.
std::string Record(Image image, int threads, int spans) {
  const std::string path = testing::TempDir() + "torn_test_" + std::to_string(getpid()) + ".opscope";
  Profiler profiler(image == Image::kSaved ? Options{} : Options{.record_to = path});
  EXPECT_TRUE(profiler.Start().ok());
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([=] {
      OPSCOPE_SCOPE("thread");
      for (int i = 0; i < spans; ++i)
        Scope(("thread " + std::to_string(t) + " span " + std::to_string(i)).c_str()).Arg("number", i);
    });
  }
  for (std::thread& worker : workers)
    worker.join();
  std::string bytes = ReadBytes(path);
  EXPECT_TRUE(profiler.Stop().ok());
  if (image == Image::kSaved) {
    EXPECT_TRUE(profiler.Save(path).ok());
    bytes = ReadBytes(path);
  }
  std::remove(path.c_str());
  return bytes;
}

std::string KeyOf(const Trace& trace, size_t row) {
  const SpanColumns& spans = trace.spans();
  return std::string(trace.text(spans.name[row])) + " " + std::to_string(spans.duration[row].ns) + " " +
         (spans.extra[row] == StringId::kNone ? "" : std::string(trace.text(spans.extra[row])));
}

Result<Trace> Read(const std::string& image) {
  return ImportBytes(std::as_bytes(std::span(image)), "torn");
}

// Loses each page with the probability `lost`: to zeroes, as room that was allocated and never written reads, or in a
// file that was written anew to what lay there before.
std::string Tear(const std::string& whole, Image kind, double lost, std::mt19937_64* random) {
  std::string torn = whole;
  std::bernoulli_distribution is_lost(lost);
  for (size_t at = kPage; at < torn.size(); at += kPage) {  // the first page was written long before
    if (!is_lost(*random)) continue;
    const size_t size = std::min(kPage, torn.size() - at);
    if (kind == Image::kStillRecording || (*random)() % 2 == 0) {
      std::memset(torn.data() + at, 0, size);
    } else {
      std::memcpy(torn.data() + at, whole.data() + (*random)() % (whole.size() - size), size);
    }
  }
  if ((*random)() % 4 == 0) torn.resize(kPage + (*random)() % (torn.size() - kPage));
  return torn;
}

void ReadTornImages(Image kind) {
  const int images = InFull(1000, kSanitized ? 30 : 150);
  const char* chosen = std::getenv("OPSCOPE_SEED");
  const uint64_t seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : std::random_device{}();
  std::mt19937_64 random(seed);
  const std::string whole = Record(kind, 4, 5000);
  const Result<Trace> complete = Read(whole);
  ASSERT_TRUE(complete.ok()) << complete.error().message;
  const size_t spans = complete.value().spans().start.size();
  ASSERT_EQ(spans, 4u * 5001);
  std::unordered_set<std::string> recorded;
  for (size_t row = 0; row < spans; ++row)
    recorded.insert(KeyOf(complete.value(), row));
  for (const double lost : {0.001, 0.01, 0.1, 0.5}) {
    uint64_t found = 0, wrong = 0;
    int unreadable = 0;
    for (int image = 0; image < images / 4; ++image) {
      const Result<Trace> read = Read(Tear(whole, kind, lost, &random));
      if (!read.ok()) {
        EXPECT_FALSE(read.error().message.empty());
        ++unreadable;
        continue;
      }
      const Trace& trace = read.value();
      const size_t rows = trace.spans().start.size();
      found += rows;
      for (size_t row = 0; row < rows; ++row)
        wrong += !recorded.contains(KeyOf(trace, row));
      if (kind == Image::kStillRecording) continue;  // its chunks get their check words when it ends
      EXPECT_TRUE(rows == spans || !trace.problems().kind.empty()) << "OPSCOPE_SEED=" << seed;
      ASSERT_EQ(wrong, 0u) << "OPSCOPE_SEED=" << seed;
    }
    const double all = static_cast<double>(spans) * (images / 4);
    std::printf(
        "%.1f %% of the pages lost: %d images, %d without a whole event, %.1f %% of the spans read, %.2f %% wrong\n",
        lost * 100, images / 4, unreadable, 100 * static_cast<double>(found - wrong) / all,
        100 * static_cast<double>(wrong) / all);
  }
}

TEST(Torn, ImagesAreReadAsFarAsTheyAreWholeAndSaySo) {
  ReadTornImages(Image::kSaved);
}

TEST(Torn, ImagesOfAFileThatWasBeingRecordedEndNoReader) {
  ReadTornImages(Image::kStillRecording);
}

}  // namespace
}  // namespace opscope
