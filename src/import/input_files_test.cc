// Files that are not what they were when they were opened, and descriptors that no name leads to.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "opscope/import.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

class InputFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "opscope_input_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& text) const {
    const std::string path = folder_ + "/input";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // Cuts the file as soon as something of it was read.
  static Result<Trace> ImportWhileItIsCut(const std::string& path, uint64_t left) {
    bool was_cut = false;
    ImportOptions options{.max_threads = 1};
    options.on_progress = [&](uint64_t, uint64_t) {
      if (!was_cut) fs::resize_file(path, left);
      was_cut = true;
    };
    Result<Trace> trace = ImportFile(path, options);
    EXPECT_TRUE(was_cut);
    return trace;
  }

  static uint64_t CountOf(const Trace& trace, std::string_view problem) {
    for (size_t i = 0; i < trace.problems().size(); ++i) {
      if (trace.text(trace.problems().kind[i]) == problem) return trace.problems().count[i];
    }
    return 0;
  }

  std::string folder_;
};

std::string Events(size_t count) {
  std::string text = "{\"traceEvents\": [";
  for (size_t i = 0; i < count; ++i) {
    text.append(i == 0 ? "" : ",");
    text += R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": )" + std::to_string(i) + R"(, "dur": 1})";
  }
  return text + "]}";
}

std::string CollapsedStacks(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += "main;work;step" + std::to_string(i % 7) + " 10\n";
  return text;
}

TEST_F(InputFiles, KeepWhatWasReadWhenTheyAreCutMeanwhile) {
  constexpr size_t kRows = 300'000;
  for (const std::string& text : {Events(kRows), CollapsedStacks(kRows)}) {
    const std::string path = Write(text);
    const Result<Trace> trace = ImportWhileItIsCut(path, text.size() / 2);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_GT(trace.value().spans().size(), 0u);
    EXPECT_EQ(CountOf(trace.value(), "input_shrank"), 1u);
    EXPECT_TRUE(trace.value().is_partial());
  }
}

TEST_F(InputFiles, AreReadFromWhereADescriptorStands) {
  const std::string text = Events(1000);
  const std::string path = Write("not a trace" + text);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  lseek(descriptor, 11, SEEK_SET);
  fs::remove(path);
  const Result<Trace> trace = ImportDescriptor(descriptor, {.name = "standard input"});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(ToDebugText(trace.value()), ToDebugText(ImportBytes(std::as_bytes(std::span(text)), "").value()));
  EXPECT_EQ(lseek(descriptor, 0, SEEK_CUR), static_cast<off_t>(11 + text.size()));
  EXPECT_EQ(close(descriptor), 0);
}

TEST_F(InputFiles, MayBeSockets) {
  const std::string text = Events(100'000);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  std::thread writer([&] {
    for (size_t at = 0; at < text.size();) {
      const ssize_t sent = send(ends[1], text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) break;
      at += static_cast<size_t>(sent);
    }
    close(ends[1]);
  });
  const Result<Trace> trace = ImportDescriptor(ends[0], {.name = "standard input"});
  close(ends[0]);
  writer.join();
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().spans().size(), 100'000u);
}

TEST_F(InputFiles, AreNamedInErrorsOfDescriptors) {
  const Result<Trace> trace = ImportDescriptor(-1, {.name = "standard input"});
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kIo);
  EXPECT_EQ(trace.error().message, "standard input: Bad file descriptor");
}

}  // namespace
}  // namespace opscope
