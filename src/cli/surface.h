// The verbs and options of the command line as facts: what completion and the man page are made of.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace opscope {

struct OptionFacts {
  std::vector<std::string> names;    // with their dashes, the longest last
  std::string value;                 // "TEXT", "INT", ...; "": a flag
  std::vector<std::string> choices;  // the values that it takes, where they are a list
  std::string description;
};

struct VerbFacts {
  std::vector<std::string> names;  // its aliases behind it
  std::string description;
  std::string footer;
  std::string operands;                      // "FILE..."; "": none
  std::vector<std::string> operand_choices;  // where they are a list
  std::vector<OptionFacts> options;
};

struct SurfaceFacts {
  std::string description;
  std::string footer;
  std::vector<OptionFacts> options;
  std::vector<VerbFacts> verbs;
};

[[nodiscard]] SurfaceFacts SurfaceOf(const CLI::App& root);

// A script that completes verbs, options, choices and file names. REQUIRES: shell is "bash", "zsh" or "fish".
[[nodiscard]] std::string CompletionScript(const SurfaceFacts& surface, const std::string& shell);

// opscope(1), in roff.
[[nodiscard]] std::string ManPage(const SurfaceFacts& surface, const std::string& version);

}  // namespace opscope
