// The command line as data: verbs and their options. Parsing (parse.cc), completion and the man page are generated from
// it, so they cannot disagree.
//
// Thread rule: values; parsing writes the targets of options.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "opscope/result.h"

namespace opscope {

// The values of several options in the order of the command line, where it matters across them. Each of the options has
// this target and may be repeated.
struct OptionSequence {
  struct Given {
    std::string option;  // its longest name, "--max"
    std::string value;
  };
  std::vector<Given> given = {};
};

// Where the value of an option is stored; its type decides which values are allowed: a flag, a string, an optional
// string ("" differs from unset), several strings (the option may be repeated), an integer, an optional integer, a
// number, a number of bytes with suffixes K, M and G. A target that is neither empty nor 0 is the default that the help
// shows. std::monostate: --help and --version, which every verb has.
using OptionTarget =
    std::variant<std::monostate, bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*, int64_t*,
                 std::optional<int32_t>*, double*, uint64_t*, OptionSequence*>;

struct Option {
  std::vector<std::string> names;  // with dashes, the longest last; an operand has one name without
  OptionTarget target = {};
  std::string description;
  std::vector<std::string> choices = {};                    // the allowed values; empty: any
  double least = -std::numeric_limits<double>::infinity();  // bounds of a number
  double most = std::numeric_limits<double>::infinity();
  char delimiter = '\0';  // separates several strings within one value; 0: none
  bool is_required = false;
  bool is_single = false;     // an operand that may occur only once
  bool takes_files = false;   // one file or several follow it, up to the next option; of several strings
  std::string excludes = {};  // name of an option that cannot be combined with it

  bool is_operand() const { return !names.front().starts_with('-'); }
  bool is_flag() const { return std::holds_alternative<bool*>(target) || target.index() == 0; }
  // "TEXT", "INT", ...; "" for a flag.
  const char* value_name() const;
  // The choices, "plain|torch|paddle"; else value_name().
  std::string ValueText() const;
};

struct Verb {
  std::vector<std::string> names;  // followed by its aliases
  std::string description;
  std::string results = {};  // the fields of what it prints, for its help; "": it prints no rows
  std::string footer = {};   // "": the command line's footer
  // Checks the options that several verbs have, such as --engine and --master, before `run`. An error is wrong usage.
  std::function<Status()> check = {};
  // Runs the verb after the targets are written, and owns them. Called once. Returns the exit code.
  std::function<int()> run = {};
  std::vector<Option> options = {};  // without --help and --version

  void Add(Option option) { options.push_back(std::move(option)); }
  void Add(std::vector<std::string> option_names, OptionTarget target, std::string text) {
    Add({.names = std::move(option_names), .target = target, .description = std::move(text)});
  }
  // All options except the operand, including --help and --version.
  std::vector<Option> OptionsWithDashes() const;
  const Option* operand() const;  // the first one; null if the verb takes none
  // The operands as a usage line has them, " FILE..."; "" if the verb takes none.
  std::string OperandText() const;
};

struct CommandLine {
  std::string description;
  std::string footer;
  std::vector<Verb> verbs = {};
  std::vector<std::pair<std::string, std::string>> environment = {};  // variable, meaning
  std::vector<std::pair<std::string, std::string>> examples = {};     // command, what it gives
};

// The words with `between` between them: "summary|top".
[[nodiscard]] std::string Joined(const std::vector<std::string>& words, const char* between);

// --help and --version.
[[nodiscard]] const std::vector<Option>& OptionsOfEveryVerb();

// A script that completes verbs, options, choices and file names. REQUIRES: shell is "bash", "zsh" or "fish".
[[nodiscard]] std::string CompletionScript(const CommandLine& command_line, const std::string& shell);

// opscope(1), in roff.
[[nodiscard]] std::string ManPage(const CommandLine& command_line, const std::string& version);

}  // namespace opscope
