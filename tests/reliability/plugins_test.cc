// Plugins that come and go while a window is open and after it: names outlive them, a name that comes to
// lie where another lay is not taken for it, and the recorder stays.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "job.h"
#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

struct Plugin {
  void* handle;
  void (*work)(int) = nullptr;
  const char* (*name)() = nullptr;

  explicit Plugin(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) return;
    work = reinterpret_cast<void (*)(int)>(dlsym(handle, "plugin_work"));
    name = reinterpret_cast<const char* (*)()>(dlsym(handle, "plugin_name"));
  }
  ~Plugin() { dlclose(handle); }
};

std::map<std::string, uint64_t> CountNames(const DecodedWindow& decoded) {
  std::map<std::string, uint64_t> counts;
  for (const auto& [index, thread] : decoded.threads) {
    for (const DecodedRecord& record : thread.records)
      ++counts[record.name];
  }
  return counts;
}

bool IsLoaded(const char* path) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

TEST(Plugins, NamesOutliveThemAndAreNotMistaken) {
  constexpr int kLoads = 100;  // of each
  constexpr int kScopes = 10;
  OwnedWindow window = OpenTestWindow();
  std::map<std::string, std::set<const void*>> places;
  for (int i = 0; i < kLoads; ++i) {
    for (const char* path : {RELIABILITY_PLUGIN_A, RELIABILITY_PLUGIN_B}) {
      {
        Plugin plugin(path);
        ASSERT_NE(plugin.handle, nullptr) << dlerror();
        plugin.work(kScopes);
        places[plugin.name()].insert(plugin.name());
      }
      ASSERT_FALSE(IsLoaded(path)) << "the test unloads nothing: what it says below says nothing";
    }
  }
  bool met = false;
  for (const void* place : places["alpha"])
    met = met || places["omega"].count(place) != 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_TRUE(met) << "the two names never lay at one address: the test has tested nothing";
#endif
  const auto counts = CountNames(CloseAndDecode(window.get()));
  for (const char* name : {"alpha", "omega"}) {
    EXPECT_EQ(counts.at(name), uint64_t{kLoads} * kScopes);
    EXPECT_EQ(counts.at(std::string(name) + " on a thread"), uint64_t{kLoads});
    EXPECT_EQ(counts.at(std::string(name) + " at its end"), uint64_t{kLoads});
  }
}

TEST(Plugins, ComeAndGoTwoHundredTimesAfterTheStop) {
  OwnedWindow window = OpenTestWindow();
  {
    Plugin plugin(RELIABILITY_PLUGIN_A);
    plugin.work(10);
  }
  opscope_window_close(window.get());
  for (int i = 0; i < 200; ++i) {
    Plugin plugin(i % 2 == 0 ? RELIABILITY_PLUGIN_A : RELIABILITY_PLUGIN_B);
    ASSERT_NE(plugin.handle, nullptr) << dlerror();
    plugin.work(10);
  }
  EXPECT_EQ(CountNames(CloseAndDecode(window.get())).at("alpha"), 10u);
}

TEST(Plugins, BringTheRecorderIntoAProgramThatHasNone) {
  for (const char* mode : {"local", "global", "deepbind"}) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    if (std::string(mode) == "deepbind") continue;  // the sanitizers refuse it
#endif
    const Job job = RunJob({RELIABILITY_LOADS_LATE, RELIABILITY_PLUGIN_A, RELIABILITY_PLUGIN_B, mode});
    EXPECT_EQ(job.status, 0) << mode << ": " << job.description();
    EXPECT_EQ(job.output, "8008\n") << mode;  // 4 threads x (1000 + 1) of two plugins
  }
}

}  // namespace
}  // namespace opscope
