// SPDX-License-Identifier: Apache-2.0
#include "sources/got/got_entries.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "sources/got/patched_entries.h"

namespace opscope {
namespace {

constexpr const char* kAnswer = "OpscopeGotAnswer";

int Two() {
  return 2;
}
void* const kTwo = reinterpret_cast<void*>(&Two);

struct Caller {
  const char* file;
  const char* library;  // the begin of its file's name
};

// The rights of the page that holds this place, as the system sees them: "rw-p".
std::string RightsAt(const void* place) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string rights;
    words >> std::hex >> begin >> dash >> end >> rights;
    if (reinterpret_cast<uintptr_t>(place) >= begin && reinterpret_cast<uintptr_t>(place) < end) return rights;
  }
  return "none";
}

class GotEntries : public testing::TestWithParam<Caller> {
 protected:
  void SetUp() override {
    library_ = dlopen(GetParam().file, RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    ask_ = reinterpret_cast<int (*)()>(dlsym(library_, "OpscopeAskThroughGot"));
    const std::vector<GotEntry> found = FindGotEntries(GetParam().library, kAnswer);
    ASSERT_EQ(found.size(), 1u);
    entry_ = found[0];
  }
  void TearDown() override { dlclose(library_); }

  void* library_ = nullptr;
  int (*ask_)() = nullptr;
  GotEntry entry_;
};

TEST_P(GotEntries, LeadToOursAndBack) {
  const std::lock_guard lock(GotLock());
  PatchedEntries patched;
  EXPECT_EQ(ask_(), 1);
  ASSERT_TRUE(patched.Patch(entry_, kTwo));
  EXPECT_EQ(ask_(), 2);
  patched.Restore();
  EXPECT_EQ(ask_(), 1);
}

TEST_P(GotEntries, LieInPagesWithTheRightsOfBefore) {
  const std::lock_guard lock(GotLock());
  const std::string before = RightsAt(entry_.address);
  EXPECT_EQ(before, entry_.is_protected ? "r--p" : "rw-p");
  PatchedEntries patched;
  ASSERT_TRUE(patched.Patch(entry_, kTwo));
  EXPECT_EQ(RightsAt(entry_.address), before);
  patched.Restore();
  EXPECT_EQ(RightsAt(entry_.address), before);
}

TEST_P(GotEntries, StayWithSomebodyWhoCameLater) {
  const std::lock_guard lock(GotLock());
  PatchedEntries ours, theirs;
  ASSERT_TRUE(ours.Patch(entry_, kTwo));
  int (*three)() = [] { return 3; };
  ASSERT_TRUE(theirs.Patch(entry_, reinterpret_cast<void*>(three)));
  ours.Restore();
  EXPECT_EQ(ask_(), 3);
  theirs.Restore();
  ASSERT_TRUE(WriteGotEntry(entry_, dlsym(library_, kAnswer)));
  EXPECT_EQ(ask_(), 1);
}

TEST_P(GotEntries, OfAChildAreItsOwnAffair) {
  static PatchedEntries* patched = nullptr;
  PatchedEntries here;
  {
    const std::lock_guard lock(GotLock());
    ASSERT_TRUE(here.Patch(entry_, kTwo));
    patched = &here;
  }
  CallInForkedChild([] {
    if (patched != nullptr) patched->Restore();
  });
  const pid_t child = fork();
  if (child == 0) {
    const bool is_free = GotLock().try_lock();
    _exit(ask_() == 1 && is_free ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ask_(), 2);
  const std::lock_guard lock(GotLock());
  here.Restore();
  patched = nullptr;
}

// Without one lock the second writer of a protected page finds it read-only again.
TEST_P(GotEntries, CanBeWrittenByManyThreadsWhileOthersCall) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0};
  std::thread caller([&] {
    while (!stop.load()) {
      const int answer = ask_();
      if (answer != 1 && answer != 2) wrong.fetch_add(1);
    }
  });
  const auto write = [&] {
    for (int i = 0; i < 500; ++i) {
      const std::lock_guard lock(GotLock());
      PatchedEntries patched;
      if (!patched.Patch(entry_, kTwo)) wrong.fetch_add(1);
      patched.Restore();
    }
  };
  std::thread first(write), second(write);
  first.join();
  second.join();
  stop.store(true);
  caller.join();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(ask_(), 1);
}

INSTANTIATE_TEST_SUITE_P(Bindings, GotEntries,
                         testing::Values(Caller{OPSCOPE_GOT_LAZY, "libopscope_got_lazy"},
                                         Caller{OPSCOPE_GOT_NOW, "libopscope_got_now"}),
                         [](const auto& suite) { return suite.index == 0 ? "lazy" : "now"; });

TEST(ProtectedCallSlots, AreLeftAloneWhereTheSystemRefusesTheRight) {
  void* library = dlopen(OPSCOPE_GOT_NOW, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* ask = reinterpret_cast<int (*)()>(dlsym(library, "OpscopeAskThroughGot"));
  const std::vector<GotEntry> found = FindGotEntries("libopscope_got_now", kAnswer);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_TRUE(found[0].is_protected);
  const std::lock_guard lock(GotLock());
  PatchedEntries patched([](void*, size_t, int) { return -1; });
  EXPECT_FALSE(patched.Patch(found[0], kTwo));
  EXPECT_TRUE(patched.empty());
  EXPECT_EQ(ask(), 1);
  patched.Restore();
  EXPECT_EQ(ask(), 1);
  dlclose(library);
}

TEST(FindGotEntries, FindsNothingWhereThereIsNone) {
  EXPECT_TRUE(FindGotEntries("libno_such_library.so", kAnswer).empty());
  EXPECT_TRUE(FindGotEntries("libc.so", "OpscopeNoSuchFunction").empty());
}

TEST(SegmentsOf, TellsWhatMayBeWritten) {
  bool has_code = false, has_data = false;
  for (const Segment& each : SegmentsOf("libstdc++")) {
    EXPECT_LT(each.begin, each.end);
    (each.is_writable ? has_data : has_code) = true;
  }
  EXPECT_TRUE(has_code && has_data);
}

TEST(SegmentsOf, HaveReadOnlyPartsWhereverTheLinkerHasPutRelro) {
  const auto parts = [](Segment segment, Segment relro) {
    std::vector<Segment> found;
    AppendParts(segment, relro, &found);
    return found;
  };
  const std::vector<Segment> shared = parts({0x1000, 0x9000, true}, {0x1000, 0x3000, false});
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_FALSE(shared[0].is_writable);
  EXPECT_EQ(shared[0].end, 0x3000u);
  EXPECT_TRUE(shared[1].is_writable);
  EXPECT_EQ(shared[1].begin, 0x3000u);
  for (const uintptr_t relro_end : {0x3000u, 0x4000u}) {
    const std::vector<Segment> alone = parts({0x1640, 0x3000, true}, {0x1000, relro_end, false});
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_FALSE(alone[0].is_writable);
    EXPECT_EQ(alone[0].end, 0x3000u);
  }
  const std::vector<Segment> before = parts({0x400, 0x800, true}, {0x1000, 0x3000, false});
  ASSERT_EQ(before.size(), 1u);
  EXPECT_TRUE(before[0].is_writable);
}

}  // namespace
}  // namespace opscope
