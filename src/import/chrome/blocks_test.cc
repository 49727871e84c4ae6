// However the text is divided, by however many threads it is read: the same Trace, the same problems, the same errors.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "import/chrome/block.h"
#include "import/chrome/importer.h"
#include "import/text/compress_for_test.h"
#include "import/text/decompress.h"
#include "import/text/pieced_text.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/builder.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

// Everything that a reader can see, ids of strings among it.
std::string Outcome(const Status& status, TraceBuilder* builder) {
  if (!status.ok()) return status.error().message;
  const Trace trace = builder->Build();
  return ToDebugText(trace) + OpscopeBytes(trace).value();
}

std::string Read(TextSource* source, const ChromeBlockSizes& sizes, uint32_t threads) {
  static const ChromeDialects dialects;
  TraceBuilder builder;
  ImportOptions options;
  options.max_threads = threads;
  const Status status = ImportChromeText(source, "input", options, dialects, sizes, &builder);
  return Outcome(status, &builder);
}

std::string ReadPlain(std::string_view text, const ChromeBlockSizes& sizes, uint32_t threads) {
  PlainText source(std::as_bytes(std::span(text)));
  return Read(&source, sizes, threads);
}

// Pieces of `piece` bytes.
std::string ReadDripping(std::string_view text, size_t piece, const ChromeBlockSizes& sizes, uint32_t threads) {
  std::string members;
  for (size_t at = 0; at < text.size(); at += piece)
    members += Gzip(text.substr(at, piece));
  PiecedText source(Decompressed(members, CompressedFormat::kGzip), members.size());
  return Read(&source, sizes, threads);
}

class Writer {
 public:
  explicit Writer(std::mt19937* random) : random_(random) {}

  std::string Document() {
    std::string text = Pick(3) == 0   ? "["
                       : Pick(2) == 0 ? "{\"schemaVersion\": 1, \"traceEvents\": ["
                                      : "{\"traceEvents\":[";
    is_array_ = text == "[";
    const int events = 1 + Pick(60);
    for (int i = 0; i < events; ++i) {
      if (i != 0) text += Pick(4) == 0 ? " ,\n\n " : ",";
      text += Event();
    }
    text += "]";
    if (!is_array_)
      text += Pick(3) == 0 ? ", \"x\": [{\"ph\": 1}, {\"ph\": 2}], \"traceEvents\": []}" : ", \"traceName\": \"n\"}";
    return text;
  }

 private:
  int Pick(unsigned n) { return static_cast<int>((*random_)() % n); }

  // Names and arguments that look like the places where events begin.
  std::string Name() {
    static const char* const kNames[] = {
        "aten::add", "aten::mul[12.5 us]", "ProfilerStep#3", "a\\u00e9\\n", "},{", "}, {\\\"ph\\\": 1",
        "",          "[memory]",           "\\\\",           "x{\\\"y\\\":"};
    return kNames[Pick(10)];
  }

  std::string Args() {
    static const char* const kArgs[] = {
        "{}",
        "{\"a\": [{\"ph\": \"X\"}, {\"ph\": \"X\", \"name\": \"inner\"}], \"b\": \"},{\"}",
        "{\"Input Dims\": [[2, 4], []], \"Input type\": [\"float\", \"Scalar\"], \"Concrete Inputs\": [\"\", \"1\"]}",
        "{\"Input Dims\": [[2, 4], {}], \"z\": NaN}",
        "{\"Call stack\": \"inner;outer;\", \"External id\": 7}",
        "{\"Python id\": 2, \"Python parent id\": null, \"Python module id\": 0}",
        "{\"correlation\": 5, \"stream\": 7, \"}, {\": 1}",
        "{\"Addr\": 64, \"Bytes\": -64, \"Device Id\": -1, \"Device Type\": 0, \"Call stack\": \"a;b;\"}",
        "{\"name\": \"thread of \\\"mine\\\"\", \"sort_index\": 3, \"labels\": \"l\"}",
        "{\"finished\": false, \"Sequence number\": 9, \"Fwd thread id\": 1}"};
    return kArgs[Pick(10)];
  }

  // Members beside those that most events have: of ids, of arrows, and ones that are lost.
  std::string Other() {
    static const char* const kOthers[] = {
        "\"scope\": \"net\"", "\"id2\": {\"local\": 3}", "\"id2\": {\"global\": 3}", "\"bind_id\": \"0x1\"",
        "\"flow_in\": true",  "\"flow_out\": true",      "\"cname\": \"good\"",      "\"bp\": \"e\""};
    const int other = Pick(20);
    return ", " + (other < 8 ? std::string(kOthers[other]) : "\"x" + std::to_string(other) + "\": 1");
  }

  std::string Event() {
    static const char* const kPhases[] = {"X", "X", "X", "X", "B", "E", "i", "C", "s",
                                          "f", "t", "b", "e", "n", "M", "N", "O", "q"};
    static const char* const kCategories[] = {
        "cpu_op",          "kernel",           "Operator", "python_function", "gpu_user_annotation",
        "user_annotation", "cpu_instant_event"};
    static const char* const kMeta[] = {"process_name", "thread_name", "thread_sort_index", "process_labels", "other"};
    if (Pick(30) == 0) return Pick(2) == 0 ? "17" : "{}";
    const std::string phase = kPhases[Pick(18)];
    std::string text = "{\"ph\": \"" + phase + "\"";
    text += ", \"name\": \"" + (phase == "M" ? std::string(kMeta[Pick(5)]) : Name()) + "\"";
    text += ", \"cat\": \"" + std::string(kCategories[Pick(7)]) + "\"";
    text += ", \"pid\": " + std::string(Pick(4) == 0 ? "\"Spans\"" : std::to_string(Pick(3)));
    text += ", \"tid\": " + std::string(Pick(4) == 0 ? "\"1\"" : std::to_string(Pick(3)));
    if (Pick(20) != 0) text += ", \"ts\": " + std::to_string(Pick(40)) + "." + std::to_string(Pick(1000));
    if (Pick(20) != 0) text += ", \"dur\": " + std::to_string(Pick(10));
    if (Pick(20) != 0) text += ", \"id\": " + std::to_string(Pick(4));
    for (int others = Pick(4); others > 1; --others)
      text += Other();
    if (Pick(5) != 0) text += Pick(2) == 0 ? ",\n  \"args\": " + Args() : ", \"args\":" + Args();
    return text + "}";
  }

  std::mt19937* random_;
  bool is_array_ = false;
};

TEST(ChromeJsonBlocks, GiveTheSameTraceHoweverTheyAreCut) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 60; ++i) {
    std::string text = Writer(&random).Document();
    if (random() % 3 == 0) text.resize(random() % text.size());
    if (random() % 3 == 0 && !text.empty()) text[random() % text.size()] = "{}[],:\"1\\"[random() % 9];
    const std::string whole = ReadPlain(text, {}, 1);
    for (const uint32_t threads : {1u, 2u, 3u, 8u}) {
      for (const size_t first : {size_t{1}, size_t{7}, size_t{1 + random() % 1000}}) {
        const ChromeBlockSizes sizes{first, first == 7 ? 7 : 1 + random() % 1000};
        ASSERT_TRUE(ReadPlain(text, sizes, threads) == whole)
            << text << "\nfirst " << sizes.first << ", blocks " << sizes.block << ", threads " << threads;
      }
    }
    const size_t piece = i % 3 == 0 ? 1 : i % 3 == 1 ? 7 : 1 + random() % 500;
    const ChromeBlockSizes sizes{1 + random() % 300, 1 + random() % 300};
    ASSERT_TRUE(ReadDripping(text, piece, sizes, 1 + static_cast<uint32_t>(i) % 3) == whole)
        << text << "\nfirst " << sizes.first << ", blocks " << sizes.block << ", pieces " << piece;
  }
}

TEST(ChromeJsonBlocks, GiveTheSameTraceOfRealFiles) {
  const fs::path samples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/kineto";
  if (!fs::exists(samples)) GTEST_SKIP() << "no samples beside the checkout";
  for (const char* name : {"cuda_simple_add.json.gz", "rocm_mi250_train.json.gz",
                           "cuda_event_sync_multi_stream.json.gz", "cuda_alexnet.json.gz"}) {
    std::ifstream file(samples / name, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    const std::string bytes = content.str();
    PiecedText whole_source(Decompressed(bytes, CompressedFormat::kGzip), bytes.size());
    const std::string whole = Read(&whole_source, {size_t{1} << 30, size_t{1} << 30}, 1);
    for (const uint32_t threads : {1u, 2u, 3u}) {
      PiecedText source(Decompressed(bytes, CompressedFormat::kGzip), bytes.size());
      EXPECT_TRUE(Read(&source, {1000, 5000}, threads) == whole) << name;
    }
  }
}

TEST(ChromeJsonBlocks, BeginWhereAnEventSeemsTo) {
  const std::string text = "[{\"a\": 1}, {\"b\": 2} ,\n {\"c\": {\"d\": 3}}";
  EXPECT_EQ(FindEventStart(text, 0), text.find("{\"c\""));
  EXPECT_EQ(FindEventStart(text.substr(0, text.find("{\"c\"") + 4), 0), text.find("{\"b\""));
  EXPECT_EQ(FindEventStart(text, text.find("{\"d\"")), 0u);
  EXPECT_EQ(FindEventStart("{\"a\": \"},{\", \"b\": 1", 0), 0u);  // inside of a string
  EXPECT_EQ(FindEventStart("", 0), 0u);
}

// Guesses that are wrong must not make it slow: arrays of objects in every event, one event that is larger than a
// block, thousands of lists of events.
TEST(ChromeJsonBlocks, EndWhenEveryGuessIsWrong) {
  std::string traps = "[";
  for (int i = 0; i < 3000; ++i)
    traps +=
        "{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{\"a\":[{\"ph\":1},{\"ph\":1},{"
        "\"ph\":1}]}},";
  std::string large =
      "[{\"ph\":\"X\",\"name\":\"" + std::string(3'000'000, 'n') + "\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},";
  large += large.substr(1);
  std::string lists = "{\"a\": 1";
  for (int i = 0; i < 20'000; ++i)
    lists += ", \"traceEvents\": []";
  lists += "}";
  for (const std::string& text : {traps, large, lists}) {
    const std::string whole = ReadPlain(text, {size_t{1} << 30, 1}, 1);
    EXPECT_TRUE(ReadPlain(text, {1000, 1000}, 3) == whole);
    EXPECT_TRUE(ReadDripping(text, 100'000, {1000, 1000}, 2) == whole);
  }
}

TEST(ChromeJsonBlocks, ReportProgress) {
  std::string text = "[";
  for (int i = 0; i < 40'000; ++i)
    text += "{\"ph\": \"X\", \"name\": \"n\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 1},";
  std::vector<uint64_t> seen;
  ImportOptions options;
  options.on_progress = [&](uint64_t bytes, uint64_t total) {
    EXPECT_EQ(total, text.size());
    if (!seen.empty()) {
      EXPECT_GE(bytes, seen.back());
    }
    seen.push_back(bytes);
  };
  ASSERT_TRUE(ImportBytes(std::as_bytes(std::span(text)), "input", options).ok());
  EXPECT_GT(seen.size(), 2u);
  EXPECT_EQ(seen.back(), text.size());
}

}  // namespace
}  // namespace opscope
