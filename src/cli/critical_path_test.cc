// The command line of `opscope critical-path`.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/exit_code.h"
#include "cli/program_for_test.h"

namespace opscope {
namespace {

using testing::HasSubstr;

class CriticalPathCommand : public Cli {};

TEST_F(CriticalPathCommand, TextHasTimesSinceTheFirstBeginAsTimeTakesThem) {
  const std::string trace =
      Quoted(Put("trace.json", R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":1000000000,"dur":5},
                                   {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":2,"ts":1000000005,"dur":9}])"));
  const Outcome text = Run("critical-path " + trace);
  EXPECT_EQ(text.exit_code, kExitDone) << text.error;
  EXPECT_THAT(text.out, HasSubstr("Kind  Name  Track     Begin  Duration\n"
                                  "host  b     1/2    5.000 us  9.000 us\n"
                                  "host  a     1/2        0 ns  5.000 us\n"));
  const Outcome chosen = Run("critical-path --time 5us.. " + trace);
  EXPECT_THAT(chosen.out, HasSubstr("host  b     1/2    5.000 us  9.000 us\n")) << chosen.error;
  EXPECT_THAT(Run("critical-path --json " + trace).out,
              HasSubstr(R"("name":"b","track":"1/2","start_ns":1000000005000,"duration_ns":9000})"));
}

TEST_F(CriticalPathCommand, HelpSaysThatTextHasTwentyEdges) {
  EXPECT_THAT(Run("critical-path --help").out, HasSubstr("20 longest"));
  std::string events;
  for (int i = 0; i < 30; ++i)
    events.append(i == 0 ? "[" : ",")
        .append(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"dur":1,"ts":)")
        .append(std::to_string(2 * i) + "}");
  EXPECT_THAT(Run("critical-path " + Quoted(Put("thirty.json", events + "]"))).out, HasSubstr("The 20 longest of "));
}

}  // namespace
}  // namespace opscope
