// For tests of dumps: a folder of them, and what is in one.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>

#include "flight/temporary_folder_for_test.h"
#include "opscope/import.h"

namespace opscope {

class DumpFolder : public TemporaryFolder {
 public:
  std::string only() const {
    EXPECT_EQ(FileCount(), 1u);
    return FileCount() == 0 ? "" : std::filesystem::directory_iterator(path())->path().string();
  }
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
