// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "opscope/c.h"

namespace {

namespace fs = std::filesystem;

struct Free {
  void operator()(opscope_profiler* profiler) const { opscope_profiler_free(profiler); }
  void operator()(opscope_trace* trace) const { opscope_trace_free(trace); }
  void operator()(opscope_summary* summary) const { opscope_summary_free(summary); }
  void operator()(char* text) const { opscope_text_free(text); }
};
template <typename Handle>
using Owned = std::unique_ptr<Handle, Free>;

class CApi : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "opscope_c_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const char* name) const { return (folder_ / name).string(); }

  Owned<opscope_profiler> New(const opscope_options* options) {
    opscope_profiler* profiler = nullptr;
    EXPECT_EQ(opscope_profiler_new(options, &profiler, &error_), OPSCOPE_OK) << error_.message;
    return Owned<opscope_profiler>(profiler);
  }
  Owned<opscope_trace> TraceOf(const opscope_profiler* profiler) {
    opscope_trace* trace = nullptr;
    EXPECT_EQ(opscope_trace_of_profiler(profiler, &trace, &error_), OPSCOPE_OK) << error_.message;
    return Owned<opscope_trace>(trace);
  }
  Owned<opscope_trace> TraceOfText(const std::string& json) {
    opscope_trace* trace = nullptr;
    EXPECT_EQ(opscope_trace_open_bytes(json.data(), json.size(), "text", nullptr, &trace, &error_), OPSCOPE_OK);
    return Owned<opscope_trace>(trace);
  }
  static opscope_trace_info InfoOf(const opscope_trace* trace) {
    opscope_trace_info info = OPSCOPE_TRACE_INFO_INIT;
    EXPECT_EQ(opscope_trace_get_info(trace, &info), OPSCOPE_OK);
    return info;
  }
  std::string ChromeText(const opscope_trace* trace) {
    opscope_chrome_options options = OPSCOPE_CHROME_OPTIONS_INIT;
    EXPECT_EQ(opscope_export_chrome(trace, Path("out.json").c_str(), &options, &error_), OPSCOPE_OK) << error_.message;
    std::ifstream file(Path("out.json"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  opscope_error error_ = OPSCOPE_ERROR_INIT;
  fs::path folder_;
};

constexpr char kTwoOps[] =
    R"([{"ph":"X","name":"outer","ts":0,"dur":10,"pid":1,"tid":1},{"ph":"X","name":"inner","ts":2,"dur":3,"pid":1,"tid":1}])";

TEST_F(CApi, RecordsEverythingThatAProgramCanSay) {
  const auto profiler = New(nullptr);
  ASSERT_EQ(opscope_is_recording(), 0);
  EXPECT_EQ(opscope_scope_begin("before"), nullptr);
  ASSERT_EQ(opscope_profiler_start(profiler.get(), &error_), OPSCOPE_OK) << error_.message;
  EXPECT_EQ(opscope_is_recording(), 1);
  opscope_set_thread_name("main of C");
  opscope_scope* outer = opscope_scope_begin("outer");
  std::string name = "made at run time";
  opscope_scope* inner = opscope_scope_begin_copy(name.c_str());
  name.assign(name.size(), 'x');
  opscope_scope_text(inner, "text", "a \"quoted\" one");
  opscope_scope_int(inner, "int", -3);
  opscope_scope_uint(inner, "uint", UINT64_MAX);
  opscope_scope_double(inner, "double", 0.25);
  opscope_scope_bool(inner, "bool", 7);
  opscope_scope_json(inner, "json", "[1,2]");
  opscope_counter("loss", 0.5);
  opscope_instant("now");
  opscope_flow_begin("arrow", 9);
  std::thread([inner] {
    opscope_scope* other = opscope_scope_begin("elsewhere");
    opscope_flow_end("arrow", 9);
    opscope_scope_end(other);
    opscope_scope_end(inner);
  }).join();
  opscope_scope_end(outer);
  ASSERT_EQ(opscope_profiler_stop(profiler.get(), &error_), OPSCOPE_OK) << error_.message;
  EXPECT_EQ(opscope_is_recording(), 0);

  const auto trace = TraceOf(profiler.get());
  const opscope_trace_info info = InfoOf(trace.get());
  EXPECT_EQ(info.spans, 3u);
  EXPECT_EQ(info.counters, 1u);
  EXPECT_EQ(info.instants, 1u);
  EXPECT_EQ(info.flows, 1u);
  EXPECT_EQ(info.recorded, 7u);
  EXPECT_EQ(info.problems, 0u);
  const std::string text = ChromeText(trace.get());
  for (const char* part :
       {"main of C", "made at run time", R"("text":"a \"quoted\" one")", R"("int":-3)",
        R"("uint":18446744073709551615)", R"("double":0.25)", R"("bool":true)", R"("json":[1,2])", "elsewhere"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST_F(CApi, TakesNullForWhatIsNotRecorded) {
  opscope_scope_end(nullptr);
  opscope_scope_text(nullptr, nullptr, nullptr);
  opscope_scope_int(nullptr, "a", 1);
  opscope_profiler_free(nullptr);
  opscope_trace_free(nullptr);
  opscope_summary_free(nullptr);
  opscope_text_free(nullptr);
  EXPECT_EQ(opscope_summary_row_count(nullptr), 0u);
  const auto profiler = New(nullptr);
  ASSERT_EQ(opscope_profiler_start(profiler.get(), nullptr), OPSCOPE_OK);
  opscope_scope* scope = opscope_scope_begin(nullptr);
  opscope_scope_text(scope, nullptr, nullptr);
  opscope_scope_end(scope);
  opscope_scope_end(opscope_scope_begin_copy(nullptr));
  opscope_instant(nullptr);
  ASSERT_EQ(opscope_profiler_stop(profiler.get(), nullptr), OPSCOPE_OK);
  EXPECT_EQ(InfoOf(TraceOf(profiler.get()).get()).spans, 2u);
}

TEST_F(CApi, ObeysAScheduleByNumbers) {
  opscope_schedule schedule = OPSCOPE_SCHEDULE_INIT;
  schedule.wait = 1;
  schedule.active = 2;
  schedule.repeat = 1;
  std::vector<std::string> saved;
  struct Context {
    std::vector<std::string>* saved;
    std::string path;
  } context{&saved, Path("scheduled.opscope")};
  opscope_options options = OPSCOPE_OPTIONS_INIT;
  options.schedule = &schedule;
  options.context = &context;
  options.metadata_json = "\"model\":\"c\"";
  options.on_ready = [](opscope_profiler* profiler, void* given) {
    const auto* to = static_cast<Context*>(given);
    if (opscope_profiler_save(profiler, to->path.c_str(), nullptr) == OPSCOPE_OK) to->saved->push_back(to->path);
  };
  const auto profiler = New(&options);
  schedule.wait = 100;  // it was copied
  ASSERT_EQ(opscope_profiler_start(profiler.get(), &error_), OPSCOPE_OK) << error_.message;
  for (int step = 0; step < 4; ++step) {
    opscope_scope_end(opscope_scope_begin("work"));
    ASSERT_EQ(opscope_profiler_step(profiler.get(), &error_), OPSCOPE_OK) << error_.message;
  }
  ASSERT_EQ(opscope_profiler_stop(profiler.get(), &error_), OPSCOPE_OK);
  ASSERT_EQ(saved.size(), 1u);
  opscope_trace* opened = nullptr;
  ASSERT_EQ(opscope_trace_open(saved[0].c_str(), nullptr, &opened, &error_), OPSCOPE_OK) << error_.message;
  const Owned<opscope_trace> trace(opened);
  EXPECT_EQ(InfoOf(opened).steps, 2u);
  EXPECT_EQ(InfoOf(opened).spans, 4u);
  opscope_profiler_status status = OPSCOPE_PROFILER_STATUS_INIT;
  ASSERT_EQ(opscope_profiler_get_status(profiler.get(), &status), OPSCOPE_OK);
  EXPECT_EQ(status.state, OPSCOPE_STATE_STOPPED);
  EXPECT_EQ(status.step, 4);
  EXPECT_EQ(status.recorded, 4u);
  EXPECT_EQ(status.dropped, 0u);
}

TEST_F(CApi, RecordsToAFileThatCanBeReadWhileItGrows) {
  std::string path = Path("live.opscope");
  opscope_options options = OPSCOPE_OPTIONS_INIT;
  options.record_to = path.c_str();
  const auto profiler = New(&options);
  const std::string live = std::exchange(path, "it was copied");
  ASSERT_EQ(opscope_profiler_start(profiler.get(), &error_), OPSCOPE_OK) << error_.message;
  opscope_scope* open = opscope_scope_begin("open");
  opscope_scope_end(opscope_scope_begin("done"));
  for (const int is_partial : {1, 0}) {
    opscope_trace* opened = nullptr;
    ASSERT_EQ(opscope_trace_open(live.c_str(), nullptr, &opened, &error_), OPSCOPE_OK) << error_.message;
    const Owned<opscope_trace> trace(opened);
    EXPECT_EQ(InfoOf(opened).spans, 2u);
    EXPECT_EQ(InfoOf(opened).is_partial, is_partial);
    if (is_partial == 0) break;
    opscope_scope_end(open);
    ASSERT_EQ(opscope_profiler_stop(profiler.get(), &error_), OPSCOPE_OK);
  }
}

TEST_F(CApi, ObeysACallback) {
  struct Seen {
    std::vector<int64_t> asked;
    int warnings = 0;
  } seen;
  opscope_options options = OPSCOPE_OPTIONS_INIT;
  options.context = &seen;
  options.action_of = [](int64_t step, void* context) {
    static_cast<Seen*>(context)->asked.push_back(step);
    return int32_t{step == 1 ? OPSCOPE_ACTION_RECORD : step == 3 ? 99 : OPSCOPE_ACTION_NONE};
  };
  options.on_warning = [](const char* sentence, void* context) {
    static_cast<Seen*>(context)->warnings += std::strstr(sentence, "RECORD") != nullptr ? 1 : 0;
  };
  const auto profiler = New(&options);
  ASSERT_EQ(opscope_profiler_start(profiler.get(), &error_), OPSCOPE_OK);
  for (int step = 0; step < 3; ++step)
    ASSERT_EQ(opscope_profiler_step(profiler.get(), &error_), OPSCOPE_OK);
  ASSERT_EQ(opscope_profiler_stop(profiler.get(), &error_), OPSCOPE_OK);
  EXPECT_EQ(seen.asked, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(seen.warnings, 1);  // record, then nothing
}

TEST_F(CApi, RefusesWhatCannotBe) {
  opscope_profiler* profiler = nullptr;
  opscope_schedule schedule = OPSCOPE_SCHEDULE_INIT;
  opscope_options options = OPSCOPE_OPTIONS_INIT;
  options.at_cap = 5;
  EXPECT_EQ(opscope_profiler_new(&options, &profiler, &error_), OPSCOPE_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "options: at_cap is not an OPSCOPE_AT_CAP_*");
  EXPECT_EQ(error_.code, OPSCOPE_INVALID_ARGUMENT);
  EXPECT_EQ(profiler, nullptr);
  options = OPSCOPE_OPTIONS_INIT;
  schedule.active = 0;
  options.schedule = &schedule;
  const auto wrong_schedule = New(&options);
  EXPECT_EQ(opscope_profiler_start(wrong_schedule.get(), &error_), OPSCOPE_INVALID_ARGUMENT);
  EXPECT_EQ(opscope_profiler_stop(wrong_schedule.get(), &error_), OPSCOPE_INVALID_ARGUMENT);
  EXPECT_EQ(opscope_profiler_step(wrong_schedule.get(), &error_), OPSCOPE_INVALID_ARGUMENT);
  EXPECT_EQ(opscope_profiler_save(wrong_schedule.get(), "x", &error_), OPSCOPE_INVALID_ARGUMENT);
  EXPECT_EQ(opscope_profiler_save(nullptr, "x", &error_), OPSCOPE_INVALID_ARGUMENT);
  opscope_trace* trace = nullptr;
  EXPECT_EQ(opscope_trace_of_profiler(wrong_schedule.get(), &trace, &error_), OPSCOPE_INVALID_ARGUMENT);
  EXPECT_EQ(opscope_trace_open(Path("nope").c_str(), nullptr, &trace, &error_), OPSCOPE_NOT_FOUND);
  EXPECT_EQ(error_.system_errno, ENOENT);
  EXPECT_EQ(std::string(error_.message), Path("nope") + ": No such file or directory");
  EXPECT_EQ(opscope_trace_open_bytes("{", 1, "name", nullptr, &trace, &error_), OPSCOPE_MALFORMED);
  EXPECT_EQ(opscope_trace_open_bytes("not a trace", 11, "name", nullptr, &trace, &error_), OPSCOPE_UNSUPPORTED);
  EXPECT_EQ(opscope_trace_open_bytes("", 0, nullptr, nullptr, &trace, &error_), OPSCOPE_MALFORMED);
  EXPECT_STREQ(error_.message, "bytes: at byte 0: the file is empty");
  const auto two = TraceOfText(kTwoOps);
  EXPECT_EQ(opscope_export_opscope(two.get(), Path("no/such/folder").c_str(), &error_), OPSCOPE_NOT_FOUND);
  EXPECT_EQ(error_.system_errno, ENOENT);
}

TEST_F(CApi, TakesOlderStructsAndRefusesUnknownMembers) {
  opscope_profiler* profiler = nullptr;
  // As a program of a time when there were but two members: the rest has its defaults.
  opscope_options older;
  std::memset(&older, 0xff, sizeof(older));
  older.size = offsetof(opscope_options, at_cap);
  older.max_bytes = 1 << 20;
  ASSERT_EQ(opscope_profiler_new(&older, &profiler, &error_), OPSCOPE_OK) << error_.message;
  EXPECT_EQ(opscope_profiler_start(profiler, &error_), OPSCOPE_OK) << error_.message;
  opscope_profiler_free(profiler);

  struct Newer {
    opscope_options known = OPSCOPE_OPTIONS_INIT;
    uint64_t added = 0;
  } newer;
  newer.known.size = sizeof(Newer);
  ASSERT_EQ(opscope_profiler_new(&newer.known, &profiler, &error_), OPSCOPE_OK);
  opscope_profiler_free(profiler);
  newer.added = 1;
  EXPECT_EQ(opscope_profiler_new(&newer.known, &profiler, &error_), OPSCOPE_UNSUPPORTED);
  newer.known.size = 0;
  EXPECT_EQ(opscope_profiler_new(&newer.known, &profiler, &error_), OPSCOPE_UNSUPPORTED);

  // What is given out ends where the caller's struct does.
  const auto trace = TraceOfText(kTwoOps);
  opscope_trace_info info;
  std::memset(&info, 0xee, sizeof(info));
  info.size = offsetof(opscope_trace_info, recorded);
  ASSERT_EQ(opscope_trace_get_info(trace.get(), &info), OPSCOPE_OK);
  EXPECT_STREQ(info.format, "chrome-json");
  EXPECT_EQ(info.recorded, 0xeeeeeeeeeeeeeeeeu);
}

TEST_F(CApi, CutsAMessageThatIsTooLong) {
  const std::string path(3000, 'p');
  opscope_trace* trace = nullptr;
  EXPECT_EQ(opscope_trace_open(path.c_str(), nullptr, &trace, &error_), OPSCOPE_IO);
  EXPECT_EQ(std::strlen(error_.message), sizeof(error_.message) - 1);
  struct {
    opscope_error error;
  } small = {{offsetof(opscope_error, message) + 4, 0, 0, {'q', 'q', 'q', 'q', 'q'}}};
  EXPECT_EQ(opscope_trace_open(path.c_str(), nullptr, &trace, &small.error), OPSCOPE_IO);
  EXPECT_STREQ(small.error.message, "ppp");
  EXPECT_EQ(small.error.message[4], 'q');
}

TEST_F(CApi, GivesTheColumnsTheSummaryAndTheTexts) {
  const auto trace = TraceOfText(kTwoOps);
  opscope_spans spans = OPSCOPE_SPANS_INIT;
  ASSERT_EQ(opscope_trace_get_spans(trace.get(), &spans), OPSCOPE_OK);
  ASSERT_EQ(spans.count, 2u);
  EXPECT_EQ(spans.duration_ns[0], 10000);
  EXPECT_EQ(spans.parent[0], 0xffffffffu);
  EXPECT_EQ(spans.parent[1], 0u);
  EXPECT_EQ(spans.depth[1], 1);
  size_t size = 0;
  const char* name = opscope_trace_string(trace.get(), spans.name[1], &size);
  EXPECT_EQ(std::string(name, size), "inner");
  EXPECT_EQ(opscope_trace_string(trace.get(), 0xffffffffu, &size), nullptr);

  opscope_summary_options options = OPSCOPE_SUMMARY_OPTIONS_INIT;
  options.group_by = "name,thread";
  options.sort_by = "self_ns";
  opscope_summary* made = nullptr;
  ASSERT_EQ(opscope_summarize(trace.get(), &options, &made, &error_), OPSCOPE_OK) << error_.message;
  const Owned<opscope_summary> summary(made);
  ASSERT_EQ(opscope_summary_row_count(made), 2u);
  opscope_summary_row row = OPSCOPE_SUMMARY_ROW_INIT;
  ASSERT_EQ(opscope_summary_get_row(made, 0, &row), OPSCOPE_OK);
  EXPECT_STREQ(row.name, "outer");
  EXPECT_EQ(row.self_ns, 7000);
  EXPECT_EQ(row.total_ns, 10000);
  EXPECT_EQ(row.mean_ns, 10000);
  ASSERT_EQ(row.key_count, 1u);
  EXPECT_NE(std::strlen(row.keys[0]), 0u);
  EXPECT_EQ(opscope_summary_get_row(made, 2, &row), OPSCOPE_INVALID_ARGUMENT);
  EXPECT_EQ(row.p99_ns, 10000);
  EXPECT_EQ(row.on_device, 0);
  options.where = "name = inner";
  opscope_summary* of_some = nullptr;
  ASSERT_EQ(opscope_summarize(trace.get(), &options, &of_some, &error_), OPSCOPE_OK) << error_.message;
  EXPECT_EQ(opscope_summary_row_count(of_some), 1u);
  opscope_summary_free(of_some);
  options.where = "colour = red";
  ASSERT_EQ(opscope_summarize(trace.get(), &options, &of_some, &error_), OPSCOPE_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(error_.message).find("summary: where: at character 1: no field 'colour'"), 0u);
  options.where = nullptr;
  opscope_summary* none = nullptr;
  options.group_by = "name,colour";
  EXPECT_EQ(opscope_summarize(trace.get(), &options, &none, &error_), OPSCOPE_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "summary: no group key 'colour'");
  options = OPSCOPE_SUMMARY_OPTIONS_INIT;
  options.sort_by = "colour";
  EXPECT_EQ(opscope_summarize(trace.get(), &options, &none, &error_), OPSCOPE_INVALID_ARGUMENT);

  options = OPSCOPE_SUMMARY_OPTIONS_INIT;
  options.corrected = 1;
  EXPECT_EQ(opscope_summarize(trace.get(), &options, &none, &error_), OPSCOPE_UNSUPPORTED);
  EXPECT_NE(std::strstr(error_.message, "does not say what recording it cost"), nullptr) << error_.message;

  for (const int style : {OPSCOPE_TEXT_TABLE, OPSCOPE_TEXT_JSON, OPSCOPE_TEXT_CSV}) {
    char* text = nullptr;
    ASSERT_EQ(opscope_summary_text(made, style, 1, &text, &error_), OPSCOPE_OK) << error_.message;
    const Owned<char> owned(text);
    EXPECT_NE(std::strstr(text, "outer"), nullptr) << text;
    EXPECT_EQ(std::strstr(text, "inner"), nullptr) << text;
  }
  char* text = nullptr;
  EXPECT_EQ(opscope_summary_text(made, 7, 0, &text, &error_), OPSCOPE_INVALID_ARGUMENT);
  ASSERT_EQ(opscope_trace_info_text(trace.get(), OPSCOPE_TEXT_JSON, &text, &error_), OPSCOPE_OK);
  EXPECT_NE(std::strstr(text, "opscope.info/1"), nullptr);
  opscope_text_free(text);
  ASSERT_EQ(opscope_torch_table(trace.get(), nullptr, -1, &text, &error_), OPSCOPE_OK) << error_.message;
  EXPECT_NE(std::strstr(text, "Self CPU"), nullptr);
  opscope_text_free(text);
  EXPECT_EQ(opscope_torch_table(trace.get(), "colour", -1, &text, &error_), OPSCOPE_INVALID_ARGUMENT);
}

TEST_F(CApi, NamesTheProblemsOfADamagedTrace) {
  const std::string text(kTwoOps);
  const auto trace = TraceOfText(text.substr(0, text.size() - 10));
  const opscope_trace_info info = InfoOf(trace.get());
  EXPECT_EQ(info.is_partial, 1);
  ASSERT_EQ(info.problems, 1u);
  opscope_problem problem = OPSCOPE_PROBLEM_INIT;
  ASSERT_EQ(opscope_trace_get_problem(trace.get(), 0, &problem), OPSCOPE_OK);
  EXPECT_STREQ(problem.kind, "truncated");
  EXPECT_EQ(problem.severity, OPSCOPE_SEVERITY_DATA_LOSS);
  EXPECT_NE(std::strlen(problem.message), 0u);
  EXPECT_EQ(opscope_trace_get_problem(trace.get(), 1, &problem), OPSCOPE_INVALID_ARGUMENT);
}

TEST_F(CApi, KnowsItsVersionAndItsCodes) {
  EXPECT_NE(std::strchr(opscope_version(), '.'), nullptr);
  for (int code = OPSCOPE_OK; code <= OPSCOPE_OUT_OF_MEMORY; ++code)
    EXPECT_STRNE(opscope_code_text(code), "unknown code") << code;
  EXPECT_STREQ(opscope_code_text(99), "unknown code");
}

}  // namespace
