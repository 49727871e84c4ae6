// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

std::string InfoOf(const Window* window) {
  std::string text;
  opscope_window_read(
      window,
      [](void* context, uint16_t type, const void* data, uint64_t bytes) {
        if (type != block_types::kWindowInfo) return;
        static_cast<std::string*>(context)->assign(static_cast<const char*>(data), bytes);
      },
      &text);
  return text;
}

// The number behind `"key":`, after the first `"kind":`; -1: there is none.
double NumberIn(const std::string& text, const std::string& kind, const std::string& key) {
  const size_t at = text.find("\"" + kind + "\":");
  const size_t found = at == std::string::npos ? at : text.find("\"" + key + "\":", at);
  return found == std::string::npos ? -1 : std::strtod(text.c_str() + found + key.size() + 3, nullptr);
}

Window* Open() {
  WindowOptions options;
  options.native_threads = NativeThreads::kAttached;
  return opscope_window_open(&options, nullptr);
}

TEST(RecordingOverhead, IsInEveryRecording) {
  Window* window = Open();
  opscope_window_add_overheads(window, "\"mine\":{\"begin_ns\":5}");
  opscope_window_close(window);
  const std::string text = InfoOf(window);
  opscope_window_free(window);
  const double inside = NumberIn(text, "scope", "inside_ns");
  const double begin = NumberIn(text, "scope", "begin_ns");
  const double end = NumberIn(text, "scope", "end_ns");
  EXPECT_GT(inside, 0) << text;
  EXPECT_GT(begin, 0) << text;
  EXPECT_GT(end, 0) << text;
  EXPECT_LT(inside, begin + end) << text;
  EXPECT_GE(NumberIn(text, "scope", "async_end_ns"), end) << text;
  EXPECT_GT(NumberIn(text, "point", "begin_ns"), 0) << text;
  EXPECT_EQ(NumberIn(text, "mine", "begin_ns"), 5) << text;
}

TEST(RecordingOverhead, IsMeasuredOncePerProcess) {
  std::string costs[2];
  for (std::string& cost : costs) {
    Window* window = Open();
    opscope_window_close(window);
    const std::string text = InfoOf(window);
    opscope_window_free(window);
    const size_t begin = text.find("\"own_cost\":");
    ASSERT_NE(begin, std::string::npos) << text;
    cost = text.substr(begin, text.find("}}", begin) - begin);
  }
  EXPECT_EQ(costs[0], costs[1]);
}

TEST(RecordingOverhead, IsMeasuredWithoutARecordInAnyWindow) {
  // A process of its own, where nothing was measured yet but a window is about to open.
  EXPECT_EXIT(
      {
        Window* window = Open();
        const bool none = opscope_window_counts(window).recorded == 0;
        {
          OPSCOPE_SCOPE("one");
        }
        opscope_window_close(window);
        std::_Exit(none && opscope_window_counts(window).recorded == 1 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace opscope
