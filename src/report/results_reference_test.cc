// docs/reference/results.md is what the descriptions of results say. OPSCOPE_UPDATE_GOLDEN=1 writes it anew.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "opscope/report/result_table.h"

namespace opscope {
namespace {

constexpr const char* kPath = OPSCOPE_SOURCE_DIR "/docs/reference/results.md";

const char* UnitName(ResultUnit unit) {
  constexpr const char* kNames[] = {"text",          "number",     "time (ns)",         "bytes",
                                    "number",        "share of 1", "number, not whole", "text",
                                    "true or false", "",           "list of numbers"};
  return kNames[static_cast<size_t>(unit)];
}

std::string Reference() {
  std::string out = R"(# Results of the command line

This page lists the fields of each result: the keys of `--json`, the columns of `--csv` and of Arrow and pandas, the
keys of the dicts that Python's methods return, and what `--sort` takes. The third column is the heading in text
tables; a field without a heading is left out there, and so is one that would be empty.

Times are integer nanoseconds. A value that is unknown is `null` in JSON, empty in CSV, `None` in Python and NULL in
Arrow. Two numbers are values although they look like unknown ones: `rank` -1 is the rank of all processes that have
none, and `device` -1 of an allocation is the host. A list of numbers is a text such as `0,1` in CSV and Arrow. Shares
are parts of 1, written with as many digits as tell them from all other doubles.

<!-- Generated from the lists of fields in src/report: OPSCOPE_UPDATE_GOLDEN=1 ctest --preset dev -R ResultsReference -->
)";
  for (const ResultDescription* result : ResultDescriptions()) {
    const std::string list = result->list.empty() ? "" : ", `" + std::string(result->list) + "`";
    out += "\n## `opscope " + std::string(result->verb) + "`" + list + "\n\n" + std::string(result->documentation) +
           "\n\n| field | unit | heading | meaning |\n| --- | --- | --- | --- |\n";
    for (const ResultColumn& column : result->columns) {
      if (column.key.empty()) continue;
      out += "| `" + std::string(column.key) + "` | " + UnitName(column.unit) + " | " + std::string(column.title) +
             " | " + std::string(column.documentation) + " |\n";
    }
  }
  return out;
}

TEST(ResultsReference, IsWhatTheDescriptionsSay) {
  const std::string expected = Reference();
  if (std::getenv("OPSCOPE_UPDATE_GOLDEN") != nullptr) std::ofstream(kPath) << expected;
  std::ostringstream content;
  content << std::ifstream(kPath).rdbuf();
  EXPECT_EQ(content.str(), expected);
}

}  // namespace
}  // namespace opscope
