// SPDX-License-Identifier: Apache-2.0
#include "import/recording/window.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>

#include "import/recording/recorded_bytes_for_test.h"
#include "import/recording/recording.h"

namespace opscope {
namespace {

TEST(RecordingWindow, TellsItsMachineWhereAllWindowsSayTheSame) {
  const auto metadata_of = [](std::initializer_list<const char*> windows) {
    RecordingBytes bytes;
    for (const char* members : windows)
      bytes.Add(block_types::kWindowInfo, WindowInfoText(members));
    const Result<Trace> imported = ImportRecording(bytes.blocks);
    EXPECT_TRUE(imported.ok());
    const Trace& trace = imported.value();
    std::map<std::string, std::string> metadata;
    for (size_t row = 0; row < trace.metadata().size(); ++row)
      metadata.emplace(trace.text(trace.metadata().key[row]), trace.text(trace.metadata().json[row]));
    return metadata;
  };
  using Metadata = std::map<std::string, std::string>;
  EXPECT_EQ(metadata_of({R"("boot":"0f","wall_clock":[1,1700000000000000001,30])"}),
            (Metadata{{"opscope_boot", "\"0f\""}, {"opscope_wall_clock", "[[1,1700000000000000001,30]]"}}));
  EXPECT_EQ(metadata_of({R"("boot":"0f","wall_clock":[1,2,3])", R"("boot":"0f","wall_clock":[4,5,6])"}),
            (Metadata{{"opscope_boot", "\"0f\""}, {"opscope_wall_clock", "[[1,2,3],[4,5,6]]"}}));
  EXPECT_EQ(metadata_of({R"("boot":"0f","wall_clock":[1,2,3])", R"("boot":"1f","wall_clock":[4,5,6])"}), Metadata());
  EXPECT_EQ(metadata_of({R"("boot":"0f","wall_clock":[1,2])"}), Metadata());
  EXPECT_EQ(metadata_of({R"("boot":7,"wall_clock":"x")"}), Metadata());
  EXPECT_EQ(metadata_of({""}), Metadata()) << "of a recorder that says nothing";
}

}  // namespace
}  // namespace opscope
