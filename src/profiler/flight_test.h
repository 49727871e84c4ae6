// For tests of dumps: a folder for them, and what is in one.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <thread>

#include "opscope/import.h"

namespace opscope {

// A new folder, removed with what is in it.
class DumpFolder {
 public:
  DumpFolder() {
    std::string pattern = testing::TempDir() + "flightXXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~DumpFolder() { std::filesystem::remove_all(path_); }
  DumpFolder(const DumpFolder&) = delete;
  DumpFolder& operator=(const DumpFolder&) = delete;

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  size_t count() const {
    const auto files = std::filesystem::directory_iterator(path_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }
  std::string only() const {
    EXPECT_EQ(count(), 1u);
    return count() == 0 ? "" : std::filesystem::directory_iterator(path_)->path().string();
  }

 private:
  std::string path_;
};

struct ReadDump {
  std::string options;  // JSON
  std::string open;     // names of unfinished spans, outermost first, each with a blank
  size_t spans = 0;
};

inline ReadDump Read(const std::string& path) {
  ReadDump read;
  const Result<Trace> trace = ImportFile(path);
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  if (!trace.ok()) return read;
  const auto& spans = trace.value().spans();
  read.options = trace.value().info().options_json;
  read.spans = spans.start.size();
  for (size_t i = 0; i < spans.start.size(); ++i) {
    if ((spans.flags[i] & span_flags::kUnfinished) == 0) continue;
    read.open.append(trace.value().text(spans.name[i])).append(" ");
  }
  return read;
}

// What another thread brings about; the test's own time limit is the limit.
template <typename Condition>
void Await(const Condition& holds) {
  while (!holds())
    std::this_thread::yield();
}

}  // namespace opscope
