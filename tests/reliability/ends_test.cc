// A program ends as it would without us, in every way that programs end: same status, same output, no
// later. OPSCOPE_SOAK=1 runs each twenty times.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "job.h"
#include "soak.h"

namespace {

int Repetitions() {
  return InFull(20, 1);
}

std::vector<std::string> Ways() {
  std::vector<std::string> ways;
  for (;;) {
    const Job job = RunJob({RELIABILITY_ENDS_PLAIN, std::to_string(ways.size())});
    if (job.output.empty()) return ways;
    ways.push_back(job.output);
  }
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

TEST(Ends, AreWhatTheyAreWithoutARecorder) {
  const std::vector<std::string> ways = Ways();
  ASSERT_GE(ways.size(), 24u);
  std::map<std::string, std::vector<double>> ending_ms;
  int runs = 0;
  for (int repetition = 0; repetition < Repetitions(); ++repetition) {
    for (size_t way = 0; way < ways.size(); ++way) {
      const Job plain = RunJob({RELIABILITY_ENDS_PLAIN, std::to_string(way), "without"});
      ASSERT_NE(plain.status, -1) << ways[way];
      ending_ms["without"].push_back(plain.ending_ms);
      for (const char* state : {"open", "stopped", "exporting"}) {
        const Job job = RunJob({RELIABILITY_ENDS, std::to_string(way), state});
        EXPECT_EQ(job.status, plain.status) << ways[way] << ", " << state << ": " << job.description();
        EXPECT_EQ(job.output, plain.output) << ways[way] << ", " << state;
        ending_ms[state].push_back(job.ending_ms);
        ++runs;
      }
    }
  }
  std::printf("%zu ways x 3 states x %d: %d ends compared; time to end, median ms:", ways.size(), Repetitions(), runs);
  for (const auto& [state, values] : ending_ms) {
    std::printf(" %s %.2f (most %.1f)", state.c_str(), Median(values), *std::max_element(values.begin(), values.end()));
    if (!kSanitized) {  // ThreadSanitizer waits a second at the end of a program with threads
      EXPECT_LE(Median(values), Median(ending_ms["without"]) + 100);
    }
  }
  std::printf("\n");
}

TEST(Ends, DestructorsOfEveryKindMayRecordInEveryOrder) {
  int runs = 0;
  for (int order = 0; order < 24; ++order) {
    const Job plain = RunJob({RELIABILITY_DESTRUCTORS_PLAIN, std::to_string(order), "without"});
    ASSERT_EQ(plain.status, 0) << plain.description();
    for (const char* state : {"open", "stopped"}) {
      const Job job = RunJob({RELIABILITY_DESTRUCTORS, std::to_string(order), state});
      EXPECT_EQ(job.status, 0) << "order " << order << ", " << state << ": " << job.description();
      EXPECT_EQ(job.output, plain.output) << "order " << order << ", " << state;
      ++runs;
    }
  }
  std::printf("24 orders x 2 states: %d runs compared\n", runs);
}

}  // namespace
