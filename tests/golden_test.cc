// Every folder under golden/FORMAT is a case of that format's importer: `input.*` must give the dump in expected.txt,
// or the error in expected_error.txt. OPSCOPE_UPDATE_GOLDEN=1 rewrites what differs, and the run still fails, so that
// nothing is ever accepted without a look at the diff.
//
// Each case also proves, without more files: the format is found by content alone; the input cut at
// every byte gives a trace with a problem or kMalformed; for a trace, export -> import -> export gives
// the same bytes. What differs between the formats stands in kFormats; a new format is a row there and a folder.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/read_text_for_test.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

// The formats that are imported; other folders of golden/ belong to other tests.
struct Format {
  const char* folder;
  // The number of bytes that identify the format: a shorter input could be damaged or foreign.
  size_t (*known_from)(const std::string& text);
  // The input may end here without harm: nothing but blanks is missing, or what writers leave out too.
  bool (*may_end_at)(const std::string& text, size_t size);
  bool exports_chrome_again;  // as Chrome JSON and back, nothing is lost and the second export has the same bytes
};

// JSON is known by its first bracket.
size_t FromBracket(const std::string& text) {
  return text.find_first_of("{[") + 1;
}

// A protobuf message: by its first fields.
size_t FromFields(const std::string&) {
  return 33;
}

size_t FromOpscopeMagic(const std::string&) {
  return 8;
}

bool AtBlanks(const std::string& text, size_t size) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  return last == std::string::npos || size > last;
}

// The bracket of the array form of Chrome JSON may be missing.
bool AtBlanksOrInArray(const std::string& text, size_t size) {
  const size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return AtBlanks(text, size) || (first != std::string::npos && text[first] == '[');
}

// Nothing but the bracket: that is an empty Chrome trace in its array form.
bool AtBlanksOrBracket(const std::string& text, size_t size) {
  return AtBlanks(text, size) || text.substr(0, size).find_first_not_of("[ \t\r\n") == std::string::npos;
}

// Between two of the outermost fields of a protobuf message, which says nowhere how many it has.
bool BetweenFields(const std::string& text, size_t size) {
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0; at < text.size() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(text[at++]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < size) {
    const uint64_t type = varint() & 7;
    const uint64_t value = varint();
    if (type == 2) at += std::min<uint64_t>(value, text.size() - at);
  }
  return at == size;
}

// The protocol of a pickle; those before 2 are known by their first values.
size_t FromProtocol(const std::string& text) {
  return text.starts_with('\x80') ? 2 : text.starts_with('(') ? text.find('\n') + 1 : 3;
}
bool Nowhere(const std::string&, size_t) {
  return false;
}

// The first line that is no comment is a stack when it ends in a number.
size_t FromFirstLine(const std::string& text) {
  size_t at = 0;
  while (at < text.size() && (text[at] == '#' || text[at] == '\n'))
    at = text.find('\n', at) + 1;
  return text.find('\n', at) + 1;
}
// A line may end without its end, and a number anywhere.
bool AfterNumber(const std::string& text, size_t size) {
  const std::string line = text.substr(0, size).substr(text.rfind('\n', size - 1) + 1);
  const size_t blank = line.rfind(' ');
  return line.empty() || line == "\r" || line.starts_with("#") ||
         (blank != std::string::npos && blank > 0 && blank + 1 < line.size() &&
          line.find_first_not_of("0123456789.\r", blank + 1) == std::string::npos && line[blank + 1] != '.');
}

constexpr Format kFormats[] = {
    {"chrome_json", FromBracket, AtBlanksOrInArray, true},
    {"collapsed_stacks", FromFirstLine, AfterNumber, true},
    {"megengine_json", FromBracket, AtBlanks, true},
    {"onnxruntime_json", FromBracket, AtBlanksOrInArray, true},
    {"paddle_json", FromBracket, AtBlanks, true},
    {"viztracer_json", FromBracket, AtBlanks, true},
    {"xla_json", FromBracket, AtBlanks, true},
    {"opscope", FromOpscopeMagic, AtBlanks, true},
    {"paddle_protobuf", FromFields, BetweenFields, true},
    {"torch_execution_trace", FromBracket, AtBlanks, true},
    {"megengine_graph", FromBracket, AtBlanks, true},
    {"torch_memory_timeline", FromBracket, AtBlanksOrBracket, true},
    {"torch_memory_snapshot", FromBracket, AtBlanksOrBracket, true},
    {"torch_memory_snapshot_pickle", FromProtocol, Nowhere, true},
    {"xplane", FromFields, BetweenFields, true},
};

const Format& FormatOf(const fs::path& folder) {
  const std::string name = folder.parent_path().filename().string();
  return *std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& f) { return name == f.folder; });
}

std::vector<fs::path> FindCases() {
  std::vector<fs::path> cases;
  for (const Format& format : kFormats) {
    for (const auto& folder : fs::directory_iterator(fs::path(OPSCOPE_GOLDEN_DIR) / format.folder)) {
      cases.push_back(folder.path());
    }
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

fs::path InputOf(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().stem() == "input") return entry.path();
  }
  ADD_FAILURE() << folder << " has no input";
  return {};
}

Result<Trace> ImportText(const std::string& text, std::string_view name = "input") {
  return ImportBytes(std::as_bytes(std::span(text)), name);
}

void ExpectGolden(const fs::path& path, const std::string& actual) {
  const std::string expected = fs::exists(path) ? ReadText(path) : "(no file)";
  if (actual == expected) return;
  if (std::getenv("OPSCOPE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << actual;
  EXPECT_EQ(actual, expected) << path << " differs; OPSCOPE_UPDATE_GOLDEN=1 rewrites it";
}

bool HasDataLoss(const Trace& trace) {
  const ProblemColumns& problems = trace.problems();
  return std::any_of(problems.severity.begin(), problems.severity.end(),
                     [](ProblemSeverity severity) { return severity != ProblemSeverity::kInfo; });
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, IsReadTheSameByAnyNumberOfThreads) {
  const std::string text = ReadText(InputOf(GetParam()));
  const auto import = [&](uint32_t threads) {
    const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "input", {.max_threads = threads});
    return trace.ok() ? ToDebugText(trace.value()) + OpscopeBytes(trace.value()).value() : trace.error().message;
  };
  const std::string alone = import(1);
  for (const uint32_t threads : {2u, 3u, 8u})
    EXPECT_EQ(import(threads), alone) << threads << " threads";
}

TEST_P(Golden, GivesTheExpectedTrace) {
  const Result<Trace> trace = ImportText(ReadText(InputOf(GetParam())));
  if (trace.ok()) {
    ExpectGolden(GetParam() / "expected.txt", ToDebugText(trace.value()));
    EXPECT_FALSE(fs::exists(GetParam() / "expected_error.txt"));
  } else {
    ExpectGolden(GetParam() / "expected_error.txt", trace.error().message + "\n");
    EXPECT_FALSE(fs::exists(GetParam() / "expected.txt"));
  }
}

TEST_P(Golden, IsRecognisedUnderAnyName) {
  const fs::path input = InputOf(GetParam());
  const Result<Trace> by_path = ImportFile(input.string());
  const Result<Trace> by_bytes = ImportText(ReadText(input), "no_suffix");
  ASSERT_EQ(by_path.ok(), by_bytes.ok());
  if (by_path.ok()) {
    EXPECT_EQ(ToDebugText(by_path.value()), ToDebugText(by_bytes.value()));
  } else {
    EXPECT_EQ(by_path.error().code, by_bytes.error().code);
    EXPECT_THAT(by_path.error().message, testing::StartsWith(input.string() + ": "));
    EXPECT_THAT(by_bytes.error().message, testing::StartsWith("no_suffix: "));
  }
}

TEST_P(Golden, IsTheSameWhenItsFormatIsNamed) {
  const std::string text = ReadText(InputOf(GetParam()));
  const Result<Trace> found = ImportText(text);
  if (!found.ok()) return;  // then nothing says what it is
  const Result<Trace> named =
      ImportBytes(std::as_bytes(std::span(text)), "input", {.format = found.value().info().format});
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_EQ(ToDebugText(named.value()), ToDebugText(found.value()));
}

TEST_P(Golden, SurvivesACutAtEveryByte) {
  const std::string text = ReadText(InputOf(GetParam()));
  const Format& format = FormatOf(GetParam());
  const size_t step = text.size() > 20'000 ? 997 : 1;
  const Result<Trace> uncut = ImportText(text);
  // A cut can only heal an input that has bytes too many.
  const bool is_whole = uncut.ok() && !HasDataLoss(uncut.value());
  for (size_t size = 0; size < text.size(); size += step) {
    // A copy of its own, so that asan sees a read behind the cut.
    const std::vector<char> cut(text.begin(), text.begin() + static_cast<ptrdiff_t>(size));
    const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(cut)), "cut");
    if (trace.ok()) {
      ASSERT_TRUE(HasDataLoss(trace.value()) || format.may_end_at(text, size) || !is_whole) << "cut at byte " << size;
    } else {
      const bool is_foreign = !uncut.ok() && uncut.error().code == ErrorCode::kUnsupported;
      const bool is_known = !is_foreign && (size == 0 || size >= format.known_from(text));
      ASSERT_TRUE(trace.error().code == ErrorCode::kMalformed ||
                  (!is_known && trace.error().code == ErrorCode::kUnsupported))
          << "cut at byte " << size << ": " << trace.error().message;
      ASSERT_THAT(trace.error().message, testing::StartsWith("cut: ")) << "cut at byte " << size;
    }
  }
}

// Cases that give a trace, of formats all of which Chrome JSON can say.
std::vector<fs::path> FindCasesToExport() {
  std::vector<fs::path> cases = FindCases();
  std::erase_if(cases, [](const fs::path& folder) {
    return !FormatOf(folder).exports_chrome_again || fs::exists(folder / "expected_error.txt");
  });
  return cases;
}

class GoldenExport : public testing::TestWithParam<fs::path> {};

TEST_P(GoldenExport, GivesTheSameBytesAgain) {
  const Result<Trace> trace = ImportText(ReadText(InputOf(GetParam())));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::string first = ChromeTraceText(trace.value()).value();
  const Result<Trace> again = ImportText(first);
  ASSERT_TRUE(again.ok()) << again.error().message;
  for (const StringId kind : again.value().problems().kind) {
    EXPECT_EQ(again.value().text(kind), "crossing_spans") << "our own export is not whole";
  }
  // The export of a recording gets Kineto's own marks: the span of the whole and its two instants.
  if (trace.value().info().format != "opscope") {
    EXPECT_EQ(again.value().spans().size(), trace.value().spans().size());
    EXPECT_EQ(again.value().instants().size(), trace.value().instants().size());
  }
  EXPECT_EQ(again.value().counters().size(), trace.value().counters().size());
  EXPECT_EQ(again.value().async_spans().size(), trace.value().async_spans().size());
  EXPECT_EQ(again.value().flows().size(), trace.value().flows().size());
  EXPECT_EQ(ChromeTraceText(again.value()).value(), first);
}

std::string CaseName(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.filename().string();
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(FindCases()), CaseName);
INSTANTIATE_TEST_SUITE_P(Cases, GoldenExport, testing::ValuesIn(FindCasesToExport()), CaseName);

}  // namespace
}  // namespace opscope
