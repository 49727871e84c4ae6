// For tests: the program, run by a shell in a folder of its own.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/read_text_for_test.h"

// The program for a shell, whatever its path.
#define OPSCOPE_COMMAND "'" OPSCOPE_PROGRAM "'"

namespace opscope {

namespace fs = std::filesystem;

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string error;
};

inline std::string Quoted(const std::string& text) {
  return "'" + text + "'";
}

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "opscope_cli_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return Path(name);
  }
  static std::string Golden(const std::string& name) {
    return (fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/torch_table" / name / "trace.json.gz").string();
  }

  // Runs `opscope ARGUMENTS` by the shell, which also understands pipes and redirections in them.
  Outcome Run(const std::string& arguments) const {
    const std::string command = "cd " + Quoted(folder_.string()) + " && " OPSCOPE_COMMAND " " + arguments + " >" +
                                Quoted(Path("stdout")) + " 2>" + Quoted(Path("stderr"));
    const int status = std::system(command.c_str());
    Outcome outcome;
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.out = ReadText(Path("stdout"));
    outcome.error = ReadText(Path("stderr"));
    return outcome;
  }

  fs::path folder_;
};

inline bool IsOneLine(const std::string& text) {
  return !text.empty() && text.find('\n') == text.size() - 1;
}

}  // namespace opscope
