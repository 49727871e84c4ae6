// Mutates the golden inputs of every format in twelve ways (mutators.h) and imports the results: no crash, no endless
// loop, no excessive memory, and every error names the input and the byte. 20,000 mutations here, a million with
// OPSCOPE_SOAK=1; the seed of one is its number (OPSCOPE_SEED=N runs it alone).
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "opscope/export.h"
#include "opscope/import.h"
#include "tests/mutators.h"
#include "tests/reliability/soak.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

struct Seed {
  std::string format, name, bytes;
};

std::string ReadBytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Seed> FindSeeds() {
  std::vector<Seed> seeds;
  for (const auto& format : fs::directory_iterator(OPSCOPE_GOLDEN_DIR)) {
    for (const auto& folder : fs::directory_iterator(format.path())) {
      if (!folder.is_directory()) continue;
      for (const auto& file : fs::directory_iterator(folder.path())) {
        if (file.path().stem() != "input") continue;
        seeds.push_back({format.path().filename().string(), folder.path().filename().string(), ReadBytes(file.path())});
      }
    }
  }
  std::sort(seeds.begin(), seeds.end(),
            [](const Seed& a, const Seed& b) { return std::tie(a.format, a.name) < std::tie(b.format, b.name); });
  return seeds;
}

// The same trace behind gzip and zstd, in blocks: what is spoilt there is the compression.
void AddCompressed(std::vector<Seed>* seeds) {
  const auto small = std::find_if(seeds->begin(), seeds->end(), [](const Seed& seed) {
    return seed.format == "chrome_json" && seed.bytes.size() > 1000;
  });
  ASSERT_NE(small, seeds->end());
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(small->bytes)), small->name);
  ASSERT_TRUE(trace.ok());
  for (const char* suffix : {"gz", "zst"}) {
    const std::string path = testing::TempDir() + "mutation_seed_" + std::to_string(getpid()) + ".json." + suffix;
    ASSERT_TRUE(ExportChromeTrace(trace.value(), path).ok());
    seeds->push_back({suffix, suffix, ReadBytes(path)});
    fs::remove(path);
  }
}

double CpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

long MaxMemoryMib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

char current[160];  // for the handler

void ReportAndExit(int) {
  constexpr char kText[] = "an import does not end: ";
  (void)!write(2, kText, sizeof kText - 1);
  (void)!write(2, current, strlen(current));
  _exit(3);
}

// An import that takes this much processor time counts as endless.
void StartAlarm() {
  itimerval time = {};
  time.it_value.tv_sec = kSanitized ? 60 : 20;
  setitimer(ITIMER_PROF, &time, nullptr);
}

// "NAME: at byte N: ...", and N is a place in the input, unless that is compressed or UTF-16, which is read as UTF-8.
void ExpectPlace(const Error& error, const std::string& input) {
  EXPECT_TRUE(error.code == ErrorCode::kMalformed || error.code == ErrorCode::kUnsupported) << error.message;
  ASSERT_THAT(error.message, testing::StartsWith("spoilt: at byte "));
  const bool is_compressed = input.starts_with("\x1f\x8b") || input.starts_with("\x28\xb5\x2f\xfd");
  const bool is_utf16 = input.starts_with("\xff\xfe") || input.starts_with("\xfe\xff");
  if (is_compressed || is_utf16) return;
  EXPECT_LE(std::strtoull(error.message.c_str() + 16, nullptr, 10), input.size()) << error.message;
}

class Spoiler {
 public:
  Spoiler() : seeds_(FindSeeds()) {
    AddCompressed(&seeds_);
    for (const Seed& seed : seeds_) {
      inputs_of_[seed.format].push_back(seed.bytes);
      if (formats_.empty() || formats_.back() != seed.format) formats_.push_back(seed.format);
    }
  }

  // Every format in turn with every mutator, independent of how many inputs a format has.
  void Import(uint64_t number) {
    const std::string& format = formats_[number / Mutators::kCount % formats_.size()];
    const size_t way = number % Mutators::kCount;
    const std::vector<std::string>& inputs = inputs_of_[format];
    Mutators mutators(number, inputs);
    std::string text = inputs[mutators.Below(inputs.size())];
    text = mutators.Apply(way, std::move(text));
    if (number % 5 == 0) text = mutators.Apply(mutators.Below(Mutators::kCount), std::move(text));
    snprintf(current, sizeof current, "OPSCOPE_SEED=%llu %s %s\n", static_cast<unsigned long long>(number),
             format.c_str(), Mutators::Name(way));
    SCOPED_TRACE(current);
    StartAlarm();
    const double began = CpuSeconds();
    // A copy of its own, so that the sanitizer sees a read behind the end.
    const std::vector<char> bytes(text.begin(), text.end());
    const uint32_t threads = number % 3 == 0 ? 2 : 1;
    const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(bytes)), "spoilt", {.max_threads = threads});
    if (!trace.ok()) return ExpectPlace(trace.error(), text);
    ++read_;
    if (number % 16 == 0) ExpectItLeavesAgain(trace.value());
    // Twice what is promised: the other half is the machine's.
    EXPECT_LT(CpuSeconds() - began, kSanitized ? 40.0 : 4.0);
  }

  uint64_t read() const { return read_; }
  size_t formats() const { return formats_.size(); }

 private:
  void ExpectItLeavesAgain(const Trace& trace) {
    const Result<std::string> stored = OpscopeBytes(trace);
    ASSERT_TRUE(stored.ok());
    const Result<Trace> again = ImportBytes(std::as_bytes(std::span(stored.value())), "stored");
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again.value().spans().size(), trace.spans().size());
    EXPECT_TRUE(ChromeTraceText(trace).ok());
  }

  std::vector<Seed> seeds_;
  std::vector<std::string> formats_;
  std::map<std::string, std::vector<std::string>> inputs_of_;
  uint64_t read_ = 0;
};

TEST(SpoiltInputs, AreReadOrRefusedWithTheirPlace) {
  signal(SIGPROF, ReportAndExit);
  Spoiler spoiler;
  EXPECT_GE(spoiler.formats(), 9u);
  const char* chosen = std::getenv("OPSCOPE_SEED");
  if (chosen != nullptr) return spoiler.Import(std::strtoull(chosen, nullptr, 10));
  const uint64_t count = InFull<uint64_t>(1'000'000, kSanitized ? 6'000 : 20'000);
  const long before = MaxMemoryMib();
  for (uint64_t number = 0; number < count && !testing::Test::HasFailure(); ++number) {
    spoiler.Import(number);
    ASSERT_LE(kSanitized ? 0 : MaxMemoryMib(), std::max(before, 512L)) << current;
  }
  RecordProperty("read", std::to_string(spoiler.read()));
  EXPECT_GT(spoiler.read(), count / 10);
  EXPECT_LT(spoiler.read(), count);
  itimerval none = {};
  setitimer(ITIMER_PROF, &none, nullptr);
}

}  // namespace
}  // namespace opscope
