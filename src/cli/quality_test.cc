// Every verb that answers says how far its input can be trusted.
// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include <string>

#include "cli/program_for_test.h"
#include "opscope/profiler.h"
#include "opscope/scope.h"

namespace opscope {
namespace {

using QualityOfAnswers = Cli;

// Of 30,000 scopes a recording of 128 KiB keeps some.
std::string RecordingThatDropped(const std::string& path) {
  Profiler profiler({.max_bytes = 128 << 10});
  EXPECT_TRUE(profiler.Start().ok());
  for (int i = 0; i < 30'000; ++i) {
    OPSCOPE_SCOPE("work");
  }
  EXPECT_TRUE(profiler.Stop().ok());
  EXPECT_GT(profiler.dropped(), 1000u);
  const std::string dropped = std::to_string(profiler.dropped());
  const std::string all = std::to_string(profiler.dropped() + profiler.recorded());
  EXPECT_TRUE(profiler.Save(path).ok());
  return dropped + " of " + all + " events were dropped";
}

TEST_F(QualityOfAnswers, EveryVerbSaysInOneLineThatEventsWereDropped) {
  const std::string reason = RecordingThatDropped(Path("r.opscope"));
  const std::string line = "opscope: r.opscope: doubtful: " + reason + "\n";
  for (const char* arguments :
       {"summary r.opscope", "summary --style torch r.opscope", "summary --style paddle r.opscope",
        "summary --csv r.opscope", "summary --limit 1 --where 'duration >= 0' r.opscope", "flame r.opscope",
        "flame -o x.svg r.opscope", "modules r.opscope", "devices r.opscope", "steps r.opscope", "advise r.opscope",
        "memory r.opscope", "info r.opscope", "export --to chrome -o x.json r.opscope",
        "convert -o x.opscope r.opscope"}) {
    const std::string error = Run(arguments).error;
    const size_t at = error.find(line);
    EXPECT_NE(at, std::string::npos) << arguments << "\n" << error;
    EXPECT_EQ(error.find("doubtful", at + line.size()), std::string::npos) << "said twice: " << error;
  }
  EXPECT_NE(Run("merge r.opscope -o y.opscope").error.find("doubtful: " + reason), std::string::npos);
  EXPECT_EQ(Run("summary -q r.opscope").error, "");
  EXPECT_NE(ReadText(Path("x.svg")).find(reason), std::string::npos) << "the picture says it too";
}

TEST_F(QualityOfAnswers, EveryAnswerInJsonHasIt) {
  const std::string reason = RecordingThatDropped(Path("r.opscope"));
  simdjson::dom::parser parser;
  for (const char* verb : {"summary", "modules", "devices", "devices --kernels", "steps", "advise", "memory", "info",
                           "merge -o x.opscope"}) {
    const Outcome outcome = Run(std::string(verb) + " --json r.opscope");
    simdjson::dom::element json;
    ASSERT_EQ(parser.parse(outcome.out).get(json), simdjson::SUCCESS) << verb << outcome.out;
    EXPECT_EQ(std::string_view(json["quality"]["verdict"]), "doubtful") << verb;
    EXPECT_EQ(std::string_view(json["quality"]["reasons"].at(0)), reason) << verb;
  }
}

TEST_F(QualityOfAnswers, AWholeFileWithDroppedEventsIsNoDamage) {
  RecordingThatDropped(Path("r.opscope"));
  for (const char* arguments :
       {"info r.opscope", "summary r.opscope", "report r.opscope -o r.html", "export r.opscope --to html -o r.html"})
    EXPECT_EQ(Run(arguments).exit_code, 0) << arguments;
  EXPECT_NE(ReadText(Path("r.html")).find(R"("verdict":"doubtful")"), std::string::npos);
}

TEST_F(QualityOfAnswers, AWholeTraceIsGoodAndNothingIsSaid) {
  Put("a.json", R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10}])");
  const Outcome outcome = Run("summary a.json");
  EXPECT_EQ(outcome.error, "");
  EXPECT_NE(Run("summary --json a.json").out.find(R"("quality":{"verdict":"good","reasons":[]})"), std::string::npos);
}

TEST_F(QualityOfAnswers, ACutFileIsDoubtful) {
  Put("a.json", R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","na)");
  const Outcome outcome = Run("summary a.json");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.error.find("opscope: a.json: doubtful: problem truncated\n"), std::string::npos) << outcome.error;
}

}  // namespace
}  // namespace opscope
