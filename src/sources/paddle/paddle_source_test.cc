// The source beside a fake Paddle (tests/fakes/paddle_core.cc): which mode records which events, and which
// problems the source reports.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle_source.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "opscope/profiler.h"

namespace opscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const PaddleSource& ThePaddleSource() {
  return *opscope_paddle_source();
}

struct Seen {
  std::vector<std::string> spans;   // "NAME CATEGORY DEPTH"
  std::vector<std::string> extras;  // of the spans that have some
  std::vector<int64_t> allocations;
  std::vector<std::string> problems;
  std::string options;
};

class PaddleBesideAFake : public testing::Test {
 protected:
  void SetUp() override {
    core_ = dlopen(OPSCOPE_FAKE_PADDLE_CORE, RTLD_NOW | RTLD_GLOBAL);
    ASSERT_NE(core_, nullptr) << dlerror();
    ASSERT_NE(dlopen(OPSCOPE_FAKE_PADDLE_PYTHON, RTLD_NOW), nullptr) << dlerror();
    add_ = reinterpret_cast<void (*)()>(dlsym(core_, "FakePaddleAdd"));
    profile_ = reinterpret_cast<size_t (*)(int32_t)>(dlsym(core_, "FakePaddleProfiler"));
    for (const PaddlePart part : {PaddlePart::kHooks, PaddlePart::kShapes, PaddlePart::kMemory, PaddlePart::kDrain}) {
      ThePaddleSource().try_part(part);
    }
    profile_(-1);  // what the trial has left
  }
  void TearDown() override { unsetenv("OPSCOPE_PADDLE_ROUTE"); }

  template <typename Program>
  Seen Record(std::initializer_list<std::string_view> flags, const Program& program) {
    const std::vector<std::string_view> names(flags);
    Session session;
    const auto recording = session.Prepare({.sources = {UseSource(ThePaddleSource().source, names).value()}}).value();
    const Status started = recording->Start();
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    program();
    recording->Stop();
    const auto trace = recording->ReadTrace().value();
    Seen seen{.spans = {}, .extras = {}, .allocations = {}, .problems = {}, .options = trace->info().options_json};
    const SpanColumns& spans = trace->spans();
    for (size_t i = 0; i < spans.size(); ++i) {
      seen.spans.push_back(std::string(trace->text(spans.name[i])) + "|" + std::string(trace->text(spans.category[i])) +
                           "|" + std::to_string(spans.depth[i]));
      if (spans.extra[i] != StringId::kNone) seen.extras.emplace_back(trace->text(spans.extra[i]));
    }
    for (size_t i = 0; i < trace->allocations().size(); ++i)
      seen.allocations.push_back(trace->allocations().bytes[i]);
    for (size_t i = 0; i < trace->problems().size(); ++i)
      seen.problems.emplace_back(trace->text(trace->problems().kind[i]));
    return seen;
  }

  void* core_ = nullptr;
  void (*add_)() = nullptr;
  size_t (*profile_)(int32_t) = nullptr;
};

const std::vector<std::string> kOfAnAdd = {"add dygraph|Operator|0", "a name that is made anew|UserDefined|1",
                                           "add kernel launch|DygraphKernelLaunch|2"};

TEST_F(PaddleBesideAFake, HasItsEventsAndMemory) {
  const Seen seen = Record({"memory"}, add_);
  EXPECT_EQ(seen.spans, kOfAnAdd);
  EXPECT_THAT(seen.allocations, ElementsAre(64, -64));
  EXPECT_THAT(seen.options, HasSubstr("\"paddle_route\":\"hooks\""));
  EXPECT_TRUE(seen.problems.empty());
  add_();
  EXPECT_EQ(profile_(-1), 0u) << "its own recorder was not used";
}

TEST_F(PaddleBesideAFake, LeavesOutAPartThatDoesNotFitAndTells) {
  const Seen seen = Record({"shapes"}, add_);
  EXPECT_EQ(seen.spans, kOfAnAdd);
  EXPECT_THAT(seen.problems, ElementsAre("part_left_out"));
  EXPECT_THAT(seen.options, HasSubstr("hooks; without shapes: this Paddle lacks a function of RecordOpInfoSupplement"));
}

TEST_F(PaddleBesideAFake, SharesEventsWithItsProfiler) {
  profile_(1);
  const Seen seen = Record({}, add_);
  EXPECT_EQ(seen.spans, kOfAnAdd);
  EXPECT_EQ(profile_(-1), 3u);
}

TEST_F(PaddleBesideAFake, SharesRangesOfPythonWithItsProfiler) {
  const auto range = [] { ThePaddleSource().exit(ThePaddleSource().enter("mine", 4, 9)); };
  range();
  profile_(1);
  const Seen both = Record({}, range);
  EXPECT_THAT(both.spans, ElementsAre("mine|Forward|0"));
  EXPECT_EQ(profile_(-1), 1u);
  EXPECT_THAT(Record({}, range).spans, ElementsAre("mine|Forward|0"));
}

TEST_F(PaddleBesideAFake, IsDrainedWhereHooksAreForbidden) {
  setenv("OPSCOPE_PADDLE_ROUTE", "drain", 1);
  const Seen seen = Record({}, [this] { add_(), add_(); });
  std::vector<std::string> twice = kOfAnAdd;
  twice.insert(twice.end(), kOfAnAdd.begin(), kOfAnAdd.end());
  EXPECT_EQ(seen.spans, twice);
  EXPECT_THAT(seen.options, HasSubstr("\"paddle_route\":\"drain: OPSCOPE_PADDLE_ROUTE=drain\""));
  add_();
  EXPECT_EQ(profile_(-1), 0u) << "its recorder is off again";
}

TEST_F(PaddleBesideAFake, IsDrainedAfterItsThreadsHadTimeToWriteTheirLastEvents) {
  setenv("OPSCOPE_PADDLE_ROUTE", "drain", 1);
  Record({}, [this] { add_(); });
  const auto ns_before_gather = reinterpret_cast<uint64_t (*)()>(dlsym(core_, "FakePaddleNsBeforeGather"));
  EXPECT_GE(ns_before_gather(), 10'000'000u);
}

TEST_F(PaddleBesideAFake, IsNotRecordedWithoutAVerdict) {
  ThePaddleSource().set_probe_result(PaddlePart::kHooks, "it \"crashed\"");
  EXPECT_STREQ(ThePaddleSource().capture_mode(), "drain: it \"crashed\"");
  EXPECT_EQ(Record({}, add_).spans, kOfAnAdd);
  ThePaddleSource().set_probe_result(PaddlePart::kDrain, "it did as well");
  EXPECT_STREQ(ThePaddleSource().capture_mode(), "none: it \"crashed\"");
  Session session;
  const auto recording = session.Prepare({.sources = {UseSource(ThePaddleSource().source, {}).value()}}).value();
  const Status started = recording->Start();
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.error().message, HasSubstr("it \"crashed\""));
}

// Calls that the fake recorders of the tests received, and the events that the one of kNative returns.
std::vector<std::string> asked;
uint32_t asked_flags = 0;

constexpr PaddleFallbackRecorder kNativeOfTest = {
    .start = [](uint32_t flags) -> const char* {
      asked.emplace_back("start");
      asked_flags = flags;
      return nullptr;
    },
    .stop =
        [](Window* window) {
          asked.emplace_back("stop");
          const PaddleRange ranges[] = {{"add kernel launch", 130, 170, 15},
                                        {"add dygraph", 100, 200, 0},
                                        {"ProfileStep#0", 100, 200, 2},
                                        {"exp dygraph", 200, 250, 0}};
          const PaddleBlock blocks[] = {{120, 0x1000, 64}, {190, 0x1000, -64}};
          ThePaddleSource().append(window, {"worker", 77, ranges, blocks});
          return true;
        },
    .enter = [](const char* name, size_t size, uint32_t type) -> void* {
      asked.push_back("enter " + std::string(name, size) + " " + std::to_string(type));
      return &asked;
    },
    .exit = [](void* range) { asked.emplace_back(range == &asked ? "exit" : "exit of another"); }};
constexpr PaddleFallbackRecorder kWrappersOfTest = {.start = [](uint32_t) -> const char* { return nullptr; },
                                                    .stop = [](Window*) { return true; }};

TEST_F(PaddleBesideAFake, IsRecordedByPaddlesOwnProfilerWhereItsRecorderIsForbiddenToo) {
  setenv("OPSCOPE_PADDLE_ROUTE", "native", 1);
  EXPECT_THAT(ThePaddleSource().capture_mode(), HasSubstr("none: "));
  ThePaddleSource().set_fallback_recorder(PaddlePart::kNative, &kNativeOfTest);
  EXPECT_THAT(ThePaddleSource().capture_mode(), HasSubstr("none: ")) << "without a verdict";
  ThePaddleSource().set_probe_result(PaddlePart::kNative, "");
  EXPECT_STREQ(ThePaddleSource().capture_mode(), "native: OPSCOPE_PADDLE_ROUTE=native");
  asked.clear();
  const Seen seen = Record({"memory"}, [] { ThePaddleSource().exit(ThePaddleSource().enter("mine", 4, 9)); });
  EXPECT_THAT(asked, ElementsAre("start", "enter mine 9", "exit", "stop"));
  EXPECT_EQ(asked_flags, paddle_source_flags::kMemory);
  EXPECT_THAT(seen.spans, ElementsAre("ProfileStep#0|ProfileStep|0", "add dygraph|Operator|1",
                                      "add kernel launch|DygraphKernelLaunch|2", "exp dygraph|Operator|0"));
  EXPECT_THAT(seen.allocations, ElementsAre(64, -64));
  EXPECT_THAT(seen.problems, ElementsAre("part_left_out"));
  EXPECT_THAT(seen.options, HasSubstr("; without ranges that are open at the end"));
  asked.clear();
  ThePaddleSource().exit(ThePaddleSource().enter("after", 5, 9));
  EXPECT_TRUE(asked.empty());
}

TEST_F(PaddleBesideAFake, TakesOperatorsAndShapesFromWrappersAtLast) {
  setenv("OPSCOPE_PADDLE_ROUTE", "wrappers", 1);
  ThePaddleSource().set_fallback_recorder(PaddlePart::kWrappers, &kWrappersOfTest);
  ThePaddleSource().set_probe_result(PaddlePart::kWrappers, "");
  const Seen seen = Record({"shapes"}, [this] {
    void* operation = ThePaddleSource().enter("concat dygraph", 14, 0);
    const int64_t first[] = {2, 3}, second[] = {int64_t{1} << 40};
    const char* x = "x";
    ThePaddleSource().record_shapes(std::vector<PaddleTensorShape>{{x, first}, {x, second}, {"axis", {}}});
    add_();  // its own calls are not seen
    ThePaddleSource().exit(operation);
  });
  EXPECT_THAT(seen.spans, ElementsAre("concat dygraph|Operator|0"));
  EXPECT_THAT(seen.extras,
              ElementsAre(HasSubstr("\"input_shapes\": {\"x\": [[2, 3], [1099511627776]], \"axis\": [[]]}")));
  EXPECT_THAT(seen.problems, ElementsAre("part_left_out"));
}

TEST_F(PaddleBesideAFake, TellsWhatARangeCosts) {
  const Seen seen = Record({}, add_);
  EXPECT_THAT(seen.spans, testing::ElementsAreArray(kOfAnAdd)) << "ranges of the measurement are in nobody's window";
  EXPECT_THAT(seen.options, HasSubstr("\"paddle_range\":{\"inside_ns\":"));
  const std::string told = ThePaddleSource().source.overhead(0);
  EXPECT_THAT(told, HasSubstr("\"begin_ns\":"));
  EXPECT_EQ(ThePaddleSource().source.overhead(paddle_source_flags::kMemory), told) << "measured once";
}

TEST_F(PaddleBesideAFake, TellsNoCostOfAnotherWay) {
  setenv("OPSCOPE_PADDLE_ROUTE", "drain", 1);
  EXPECT_THAT(Record({}, add_).options, testing::Not(HasSubstr("paddle_range")));
}

// Payloads are found again by names and sizes: each operator must have its own.
TEST_F(PaddleBesideAFake, KeepsArgumentsApartThatAreNearlyAlike) {
  setenv("OPSCOPE_PADDLE_ROUTE", "wrappers", 1);
  ThePaddleSource().set_fallback_recorder(PaddlePart::kWrappers, &kWrappersOfTest);
  ThePaddleSource().set_probe_result(PaddlePart::kWrappers, "");
  const int64_t small[] = {2, 3}, large[] = {2, 4}, wide[] = {2, int64_t{3} + (int64_t{1} << 32)}, flat[] = {3};
  const char *x = "x", *xs = "xs", *y = "y";
  const std::vector<std::vector<PaddleTensorShape>> said = {{{x, small}},
                                                            {{xs, small}},
                                                            {{y, small}},
                                                            {{x, large}},
                                                            {{x, wide}},
                                                            {{x, flat}},
                                                            {{x, small}, {x, small}},
                                                            {{x, small}, {y, small}},
                                                            {{x, small}, {x, small}, {x, small}},
                                                            {}};
  const Seen seen = Record({"shapes"}, [&] {
    for (int round = 0; round < 3; ++round) {
      for (const auto& tensors : said) {
        void* operation = ThePaddleSource().enter("some dygraph", 12, 0);
        ThePaddleSource().record_shapes(tensors);
        ThePaddleSource().exit(operation);
      }
    }
  });
  const auto shapes = [](const char* text) { return HasSubstr("\"input_shapes\": {" + std::string(text) + "}"); };
  std::vector<testing::Matcher<std::string>> wanted;
  for (int round = 0; round < 3; ++round) {
    for (const char* text : {R"("x": [[2, 3]])", R"("xs": [[2, 3]])", R"("y": [[2, 3]])", R"("x": [[2, 4]])",
                             R"("x": [[2, 4294967299]])", R"("x": [[3]])", R"("x": [[2, 3], [2, 3]])",
                             R"("x": [[2, 3]], "y": [[2, 3]])", R"("x": [[2, 3], [2, 3], [2, 3]])", ""})
      wanted.emplace_back(shapes(text));
  }
  EXPECT_THAT(seen.extras, testing::ElementsAreArray(wanted));
}

// A recording that ends restores the GOT entries; one that begins at that moment must find them patched.
TEST_F(PaddleBesideAFake, IsRecordedByEveryWindowOfManyThreads) {
  std::atomic<uint64_t> wrong{0};
  const auto record = [&] {
    for (int i = 0; i < 50; ++i) {
      Recording recording({.native_threads = NativeThreads::kNone, .sources = {{&ThePaddleSource().source, 0}}});
      if (!recording.Start().ok()) return void(wrong.fetch_add(1));
      add_();
      recording.Stop();
      if (recording.counts().recorded < 3) wrong.fetch_add(1);
    }
  };
  std::thread first(record), second(record);
  first.join();
  second.join();
  EXPECT_EQ(wrong.load(), 0u);
}

}  // namespace
}  // namespace opscope
