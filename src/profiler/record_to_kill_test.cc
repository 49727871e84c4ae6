// kill -9 at any instant: whatever was published before it is in the file, whatever was open is shown as open.
// A child records on eight threads at full speed and notes in a page that it shares with us what it has done;
// then it is killed, and its file must agree with its notes. OPSCOPE_SOAK=1: 1000 kills instead of 20.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "flight/temporary_folder_for_test.h"
#include "opscope/import.h"
#include "opscope/profiler.h"

namespace opscope {
namespace {

constexpr int kWriters = 8;
constexpr uint64_t kInner = 97;  // scopes within one "middle"

// What a thread of the child has done. It notes the end of a scope after the end, so the file has that many, or
// one more that was published and not noted yet; likewise with what is open.
struct alignas(64) Notes {
  std::atomic<uint64_t> ended;        // scopes "n0" to "n15" in turn, and "middle" after each kInner
  std::atomic<uint64_t> serial;       // of the first only
  std::atomic<uint64_t> outer_began;  // 1: "outer" was open at that time and stays so
  std::atomic<uint64_t> middle_open;
};

bool Soaks() {
  return std::getenv("OPSCOPE_SOAK") != nullptr;
}

uint64_t Seed() {
  const char* chosen = std::getenv("OPSCOPE_TEST_SEED");
  return chosen == nullptr ? std::random_device()() : std::strtoull(chosen, nullptr, 10);
}

constexpr std::array<StaticName, 16> kTurnNames = {{{"n0"},
                                                    {"n1"},
                                                    {"n2"},
                                                    {"n3"},
                                                    {"n4"},
                                                    {"n5"},
                                                    {"n6"},
                                                    {"n7"},
                                                    {"n8"},
                                                    {"n9"},
                                                    {"n10"},
                                                    {"n11"},
                                                    {"n12"},
                                                    {"n13"},
                                                    {"n14"},
                                                    {"n15"}}};

void RecordOneMiddle(Notes* notes, uint64_t* serial) {
  Scope middle("middle");
  notes->middle_open.store(1, std::memory_order_release);
  for (uint64_t i = 0; i < kInner; ++i) {
    {
      const Scope scope(kTurnNames[*serial % kTurnNames.size()]);
    }
    notes->serial.store(++*serial, std::memory_order_release);
    notes->ended.fetch_add(1, std::memory_order_release);
  }
  notes->middle_open.store(0, std::memory_order_release);
}

constexpr uint64_t kSmallCap = uint64_t{6} << 20;

[[noreturn]] void RecordUntilKilled(const std::string& path, AtCap at_cap, Notes* notes, uint64_t most) {
  alarm(120);
  Profiler profiler(
      {.max_bytes = at_cap == AtCap::kStop ? uint64_t{1} << 30 : kSmallCap, .at_cap = at_cap, .record_to = path});
  if (!profiler.Start().ok()) _exit(3);
  std::vector<std::thread> threads;
  for (int t = 0; t < kWriters; ++t) {
    threads.emplace_back([=] {
      SetThreadName(("t" + std::to_string(t)).c_str());
      const Scope outer("outer");
      notes[t].outer_began.store(1, std::memory_order_release);
      uint64_t serial = 0;
      while (serial < most) {
        RecordOneMiddle(&notes[t], &serial);
        notes[t].ended.fetch_add(1, std::memory_order_release);
      }
      while (true)  // "outer" stays open
        pause();
    });
  }
  while (true)
    pause();
}

struct Figures {
  uint64_t noted = 0, found = 0, open = 0, bytes = 0, kills_before_the_file = 0;
  uint64_t at_work = 0, empty = 0;  // threads that had noted something; of these, those that show none of it
};

struct ThreadSeen {
  uint64_t ended = 0, serial = 0, outer = 0, middle = 0;
  size_t next = kTurnNames.size();  // number of the name that should come; kTurnNames.size(): any
};

// The rows of one track, in the order of their beginning.
ThreadSeen LookAt(const Trace& trace, size_t track) {
  ThreadSeen seen;
  const SpanColumns& spans = trace.spans();
  const uint32_t first = trace.tracks().first_span[track];
  for (uint32_t i = first; i < first + trace.tracks().span_count[track]; ++i) {
    const std::string_view name = trace.text(spans.name[i]);
    const bool open = (spans.flags[i] & span_flags::kUnfinished) != 0;
    if (!open) ++seen.ended;
    if (name[0] == 'n' && !open) {
      const auto number = static_cast<size_t>(std::atoi(std::string(name.substr(1)).c_str()));
      EXPECT_TRUE(seen.next == kTurnNames.size() || number == seen.next) << "a gap before " << name;
      seen.next = (number + 1) % kTurnNames.size();
      ++seen.serial;
    }
    if (open && name == "outer") ++seen.outer;
    if (open && name == "middle") ++seen.middle;
  }
  return seen;
}

void CompareThread(const ThreadSeen& seen, AtCap at_cap, const Notes& notes) {
  const uint64_t ended = notes.ended.load(), serial = notes.serial.load();
  EXPECT_LE(seen.ended, ended + 1);
  if (at_cap == AtCap::kStop) {
    EXPECT_GE(seen.ended, ended);
    EXPECT_GE(seen.serial, serial);
  }
  // The newest is there: the last that was noted, or the one after it. Where the cap leaves a thread one chunk only,
  // that one may have begun just now.
  const bool may_be_empty = at_cap == AtCap::kKeepNewest && seen.serial == 0;
  if (serial > 0 && !may_be_empty) {
    EXPECT_TRUE(seen.next == serial % kTurnNames.size() || seen.next == (serial + 1) % kTurnNames.size()) << seen.next;
  }
  EXPECT_GE(seen.outer, notes.outer_began.load());
  EXPECT_GE(seen.middle, notes.middle_open.load());
  EXPECT_LE(std::max(seen.outer, seen.middle), 1u);
}

void Compare(const Trace& trace, AtCap at_cap, const Notes* notes, Figures* figures) {
  for (size_t i = 0; i < trace.problems().size(); ++i) {
    const std::string_view kind = trace.text(trace.problems().kind[i]);
    EXPECT_TRUE(kind == "recording_not_ended" || kind == "unfinished_scope" ||
                (kind == "dropped_at_cap" && at_cap == AtCap::kKeepNewest))
        << kind;
  }
  std::array<bool, kWriters> found{};
  for (size_t track = 0; track < trace.tracks().size(); ++track) {
    const std::string_view name = trace.text(trace.tracks().name[track]);
    if (name.size() != 2 || name[0] != 't') continue;  // the main thread, or one that was not named yet
    const auto t = static_cast<size_t>(name[1] - '0');
    SCOPED_TRACE("thread " + std::string(name));
    found[t] = true;
    const ThreadSeen seen = LookAt(trace, track);
    CompareThread(seen, at_cap, notes[t]);
    const bool has_noted = notes[t].serial.load() > 0;
    figures->at_work += has_noted;
    figures->empty += has_noted && seen.serial == 0;
    if (at_cap == AtCap::kStop) {
      figures->noted += notes[t].ended.load();
      figures->found += seen.ended;
    }
    figures->open += seen.outer + seen.middle;
  }
  for (size_t t = 0; t < kWriters; ++t)
    EXPECT_TRUE(found[t] || notes[t].outer_began.load() == 0) << "thread " << t << " is missing";
}

uint64_t Done(const Notes* notes) {
  uint64_t done = 0;
  for (int t = 0; t < kWriters; ++t)
    done += notes[t].ended.load(std::memory_order_acquire);
  return done;
}

// Every fourth kill comes a random time after the fork, most of these while the recording starts; the others
// when the child has done a random amount.
void WaitForTheInstant(std::mt19937_64& random, int number, const Notes* notes, uint64_t most) {
  const auto begin = std::chrono::steady_clock::now();
  const auto microseconds = number % 4 == 0 ? random() % 8000 : 60'000'000;
  const uint64_t target = number % 4 == 0 ? UINT64_MAX : random() % (most * kWriters);
  while (Done(notes) < target && std::chrono::steady_clock::now() - begin < std::chrono::microseconds(microseconds))
    sched_yield();
}

void KillOnce(std::mt19937_64& random, int number, uint64_t most, Figures* figures) {
  const TemporaryFolder folder;
  constexpr size_t kNotesBytes = sizeof(Notes) * kWriters;
  void* shared = mmap(nullptr, kNotesBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* notes = static_cast<Notes*>(shared);
  const pid_t child = fork();
  const AtCap at_cap = number % 3 == 2 ? AtCap::kKeepNewest : AtCap::kStop;
  if (child == 0) RecordUntilKilled(folder.File("x.opscope"), at_cap, notes, most);
  WaitForTheInstant(random, number, notes, most);
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  const std::string path = folder.File("x." + std::to_string(child) + ".opscope");
  if (!std::filesystem::exists(path)) {  // killed before the file had its name
    EXPECT_EQ(Done(notes), 0u);
    ++figures->kills_before_the_file;
  } else {
    figures->bytes += std::filesystem::file_size(path);
    const Result<Trace> trace = ImportFile(path);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    Compare(trace.value(), at_cap, notes, figures);
  }
  munmap(shared, kNotesBytes);
}

TEST(RecordToKill, EverythingPublishedIsReadBackAndWhatWasOpenIsShown) {
  const int kills = Soaks() ? 1000 : 20;
  const uint64_t most = Soaks() ? 200000 : 40000;
  const uint64_t seed = Seed();
  std::mt19937_64 random(seed);
  Figures figures;
  for (int i = 0; i < kills && !HasFatalFailure(); ++i) {
    SCOPED_TRACE("kill " + std::to_string(i) + ", OPSCOPE_TEST_SEED=" + std::to_string(seed));
    KillOnce(random, i, most, &figures);
  }
  EXPECT_GE(figures.found, figures.noted);
  EXPECT_GT(figures.noted, 0u);
  EXPECT_LE(figures.empty, 1 + figures.at_work / 100) << "of " << figures.at_work << ": an instant, not a habit";
  std::printf(
      "OPSCOPE_TEST_SEED=%lu: %d kills (%lu before the file was there), %lu of %lu noted records read back, "
      "%lu open scopes shown, %lu MB of files\n",
      seed, kills, figures.kills_before_the_file, figures.found, figures.noted, figures.open, figures.bytes >> 20);
}

}  // namespace
}  // namespace opscope
