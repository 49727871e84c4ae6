// SPDX-License-Identifier: Apache-2.0
#include "trace/launches.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "trace/builder.h"

namespace opscope {
namespace {

// One process with two threads and a stream; every span has a name of its own.
class Program {
 public:
  Program() : process_(builder_.AddProcess({.pid = 1})) {
    for (const int64_t tid : {1, 2})
      threads_[tid] = builder_.AddTrack({.process = process_, .tid = tid});
    stream_ = builder_.AddTrack({.process = process_, .kind = TrackKind::kDeviceStream, .tid = 7, .device = 0});
  }
  void Host(const char* name, const char* category, int64_t start, int64_t end, uint32_t external_id,
            uint32_t correlation = 0, int64_t tid = 1) {
    Add(name, category, start, end, external_id, correlation, threads_[tid]);
  }
  void Device(const char* name, const char* category, uint32_t external_id, uint32_t correlation) {
    Add(name, category, time_, time_ + 5, external_id, correlation, stream_);
    time_ += 10;
  }
  void Kernel(const char* name, uint32_t external_id, uint32_t correlation) {
    Device(name, "kernel", external_id, correlation);
  }
  // Name of what launched each span, and the number of ids that were foreign.
  std::map<std::string, std::string> Launchers() {
    const Trace trace = builder_.Build();
    std::map<std::string, std::string> launchers;
    for (size_t i = 0; i < trace.launches().size(); ++i)
      launchers[NameOf(trace, trace.launches().span[i])] = NameOf(trace, trace.launches().launcher[i]);
    for (size_t i = 0; i < trace.problems().size(); ++i)
      launchers[std::string(trace.text(trace.problems().kind[i]))] = std::to_string(trace.problems().count[i]);
    return launchers;
  }
  TraceBuilder& builder() { return builder_; }

 private:
  static std::string NameOf(const Trace& trace, SpanId span) {
    return std::string(trace.text(trace.spans().name[Row(span)]));
  }
  void Add(const char* name, const char* category, int64_t start, int64_t end, uint32_t external_id,
           uint32_t correlation, TrackId track) {
    builder_.AddSpan({.start = {start},
                      .duration = {end - start},
                      .name = builder_.Intern(name),
                      .category = builder_.Intern(category),
                      .track = track,
                      .correlation = correlation,
                      .external_id = external_id});
  }

  TraceBuilder builder_;
  ProcessId process_;
  std::map<int64_t, TrackId> threads_;
  TrackId stream_ = TrackId::kNone;
  int64_t time_ = 1000;
};

using Launchers = std::map<std::string, std::string>;

TEST(Launches, AreOfTheInnermostOperatorAroundTheCallWhateverTheIdSays) {
  Program program;
  program.Host("add", "cpu_op", 0, 10, 40);
  program.Host("to", "cpu_op", 20, 100, 2);
  program.Host("copy", "cpu_op", 30, 90, 3);
  program.Host("range", "user_annotation", 40, 80, 9);
  program.Host("frame", "python_function", 45, 75, 0);
  program.Host("wrong", "cuda_runtime", 50, 60, 40, 40);
  program.Host("right", "cuda_driver", 62, 70, 3, 41);
  program.Host("silent", "cuda_runtime", 95, 99, 0, 42);
  program.Kernel("wrong kernel", 40, 40);
  program.Kernel("right kernel", 3, 41);
  program.Kernel("silent kernel", 0, 42);
  EXPECT_EQ(program.Launchers(), (Launchers{{"wrong", "copy"},
                                            {"right", "copy"},
                                            {"silent", "to"},
                                            {"wrong kernel", "copy"},
                                            {"right kernel", "copy"},
                                            {"silent kernel", "to"},
                                            {"foreign_ids", "1"}}));
}

TEST(Launches, GoByTheIdWhereNoOperatorIsAroundTheCall) {
  Program program;
  program.Host("op", "cpu_op", 0, 100, 5);
  program.Host("alone", "cuda_runtime", 50, 60, 5, 70, 2);
  program.Host("nameless", "cuda_runtime", 70, 80, 0, 71, 2);
  program.Kernel("of another thread", 5, 70);
  program.Kernel("without a call", 5, 0);
  program.Kernel("without an id", 0, 71);
  program.Kernel("of nobody", 6, 72);
  EXPECT_EQ(program.Launchers(),
            (Launchers{{"of another thread", "op"}, {"without a call", "op"}, {"without an id", "nameless"}}));
}

// Older versions of Kineto wrote the correlation where the id belongs.
TEST(Launches, TakeNoIdThatIsACorrelationWhereIdsAreMostlyForeign) {
  Program program;
  program.Host("op 8", "cpu_op", 0, 10, 8);
  program.Host("op 9", "cpu_op", 20, 40, 9);
  program.Host("inside", "cuda_runtime", 25, 30, 50, 50);
  program.Host("outside", "cuda_runtime", 50, 60, 8, 8);
  program.Kernel("inside kernel", 50, 50);
  program.Kernel("outside kernel", 8, 8);
  program.Kernel("kernel without a call", 9, 9);
  EXPECT_EQ(
      program.Launchers(),
      (Launchers{{"inside", "op 9"}, {"inside kernel", "op 9"}, {"outside kernel", "outside"}, {"foreign_ids", "1"}}));
}

TEST(Launches, OfAWaitThatNoOperatorMadeAreNotOfTheOperatorWithItsCorrelation) {
  Program program;
  program.Host("mm", "cpu_op", 0, 10, 40);
  program.Host("synchronize", "cuda_runtime", 20, 30, 0, 40);
  program.Host("inside", "cuda_runtime", 5, 8, 40, 41);
  program.Device("wait", "cuda_sync", 40, 40);
  program.Device("wait of mm", "cuda_sync", 40, 41);
  EXPECT_EQ(program.Launchers(), (Launchers{{"wait", "synchronize"}, {"inside", "mm"}, {"wait of mm", "mm"}}));
}

TEST(Launches, TakeTheFirstCallOfACorrelation) {
  Program program;
  program.Host("later", "cpu_op", 50, 90, 1);
  program.Host("later call", "cuda_runtime", 60, 70, 0, 5);
  program.Host("earlier", "cpu_op", 0, 40, 2, 0, 2);
  program.Host("earlier call", "cuda_runtime", 10, 20, 0, 5, 2);
  program.Kernel("kernel", 0, 5);
  EXPECT_EQ(program.Launchers()["kernel"], "earlier");
}

TEST(Launches, AreFoundInTreesThatAreAsDeepAsLong) {
  Program program;
  constexpr int64_t kDepth = 30'000;
  program.Host("op", "cpu_op", 0, 2 * kDepth, 1);
  for (int64_t i = 1; i < kDepth; ++i)
    program.Host("call", "cuda_runtime", i, 2 * kDepth - i, 0, static_cast<uint32_t>(i));
  program.Kernel("of the innermost", 0, kDepth - 1);
  program.Kernel("of the outermost", 0, 1);
  EXPECT_EQ(program.Launchers(), (Launchers{{"call", "op"}, {"of the innermost", "op"}, {"of the outermost", "op"}}));
}

TEST(Launches, CountForeignIdsOnceHoweverOftenATraceIsBuilt) {
  Program program;
  program.builder().RestoreProblem("foreign_ids", ProblemSeverity::kInfo, 7, -1, "as it was");
  program.Host("op", "cpu_op", 0, 10, 1);
  program.Host("call", "cuda_runtime", 2, 4, 0, 5);
  program.Kernel("kernel", 2, 5);
  EXPECT_EQ(program.Launchers()["foreign_ids"], "1");
}

TEST(Launches, OfOneIdAreOfTheOperatorAndNotOfWhatSentItOffBefore) {
  Program program;
  program.Host("dispatch", "", 0, 1, 40);
  program.Host("copy", "cpu_op", 20, 30, 40, 7, 2);
  program.Kernel("first kernel", 40, 7);
  program.Kernel("second kernel", 40, 8);
  EXPECT_EQ(program.Launchers(), (Launchers{{"first kernel", "copy"}, {"second kernel", "copy"}}));
}

}  // namespace
}  // namespace opscope
