// Which commands are a Python that does not load sitecustomize.
// SPDX-License-Identifier: Apache-2.0
#include "cli/python_options.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

namespace opscope {
namespace {

using Command = std::vector<std::string>;

TEST(PythonOptions, AreReadUpToTheScript) {
  EXPECT_EQ(OptionWithoutSitecustomize({"python3", "-I", "train.py"}), 'I');
  EXPECT_EQ(OptionWithoutSitecustomize({"/usr/bin/python3.11", "-uBE", "train.py"}), 'E');
  EXPECT_EQ(OptionWithoutSitecustomize({"pypy3", "-u", "-S"}), 'S');
  EXPECT_EQ(OptionWithoutSitecustomize({"python3", "-s", "-B", "train.py", "-I"}), 0);
  EXPECT_EQ(OptionWithoutSitecustomize({"python3", "-m", "I", "-S"}), 0);
  EXPECT_EQ(OptionWithoutSitecustomize({"python3", "-Im", "train"}), 'I');
  EXPECT_EQ(OptionWithoutSitecustomize({"python3", "-cSIE", "-I"}), 0);
  EXPECT_EQ(OptionWithoutSitecustomize({"python3"}), 0);
  EXPECT_EQ(OptionWithoutSitecustomize({"python3", ""}), 0);
}

TEST(PythonOptions, ValuesAreNoOptions) {
  EXPECT_EQ(OptionWithoutSitecustomize({"python3", "-W", "-I", "train.py"}), 0);
  EXPECT_EQ(OptionWithoutSitecustomize({"python3", "-WI", "train.py"}), 0);
  EXPECT_EQ(OptionWithoutSitecustomize({"python3", "-X", "importtime", "-I", "train.py"}), 'I');
  EXPECT_EQ(OptionWithoutSitecustomize({"python3", "--check-hash-based-pycs", "always", "-E"}), 'E');
}

TEST(PythonOptions, OtherProgramsHaveNone) {
  EXPECT_EQ(OptionWithoutSitecustomize({"ls", "-I", "x"}), 0);
  EXPECT_EQ(OptionWithoutSitecustomize({"pythonic", "-I"}), 0);
  EXPECT_EQ(OptionWithoutSitecustomize({"/no/such/file", "-I"}), 0);
  EXPECT_EQ(OptionWithoutSitecustomize({""}), 0);
}

TEST(PythonOptions, ScriptsSayThemInTheirFirstLine) {
  const std::string path = testing::TempDir() + "/script_with_options";
  const auto option_of = [&](const std::string& line) {
    std::ofstream(path) << line << "\nprint(1)\n";
    chmod(path.c_str(), 0755);
    return OptionWithoutSitecustomize({path, "-I"});
  };
  EXPECT_EQ(option_of("#!/usr/bin/python3 -Es"), 'E');
  EXPECT_EQ(option_of("#! /usr/bin/env -S python3 -I"), 'I');
  EXPECT_EQ(option_of("#!/usr/bin/env python3"), 0);
  EXPECT_EQ(option_of("#!/usr/bin/perl -I x"), 0);
  EXPECT_EQ(option_of("no script"), 0);
  EXPECT_EQ(option_of("#!"), 0);
}

TEST(PythonOptions, ProgramsAreFoundInPath) {
  EXPECT_EQ(FindInPath("./x/y"), "./x/y");
  EXPECT_TRUE(FindInPath("sh").ends_with("/sh"));
  EXPECT_EQ(FindInPath("no-such-program-anywhere"), "");
}

}  // namespace
}  // namespace opscope
