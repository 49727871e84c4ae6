// The command line as facts: verbs and their options. Parsing (parse.cc), completion and the man page read the same
// ones, so none of them can know an option that another does not.
//
// Thread rule: values; the targets of options are written while arguments are parsed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace opscope {

// Where a value goes, and by that what it may be: a flag, a text, a text of which "" is told from none, several texts
// (the option may be repeated), a whole number, a number, a number of bytes with the suffixes K, M and G. A target that
// is neither empty nor 0 is the default that the help shows. None: what every verb has, --help and --version.
using OptionTarget = std::variant<std::monostate, bool*, std::string*, std::optional<std::string>*,
                                  std::vector<std::string>*, int64_t*, double*, uint64_t*>;

struct Option {
  std::vector<std::string> names;  // with their dashes, the longest last; an operand has one, without
  OptionTarget target = {};
  std::string description;
  std::vector<std::string> choices = {};                    // the values that it takes, where they are a list
  double least = -std::numeric_limits<double>::infinity();  // of a number; without it any number is taken
  double most = std::numeric_limits<double>::infinity();
  char delimiter = '\0';  // one value may hold several texts, with this between them
  bool is_required = false;
  bool is_single = false;     // an operand that may stand once only
  std::string excludes = {};  // the name of an option that may not stand beside it

  bool is_operand() const { return !names.front().starts_with('-'); }
  bool is_flag() const { return std::holds_alternative<bool*>(target) || target.index() == 0; }
  // "TEXT", "INT", ...; "": a flag.
  const char* value_name() const;
};

struct Verb {
  std::vector<std::string> names;  // its aliases behind it
  std::string description;
  std::string results = {};  // the fields of what it prints, for its help; "": it prints no rows
  std::string footer = {};   // "": that of the command line
  // Called once, after the targets were written. It owns them. Gives the exit code.
  std::function<int()> run = {};
  std::vector<Option> options = {};  // without those that every verb has

  void Add(Option option) { options.push_back(std::move(option)); }
  // All but the operand, --help and --version among them.
  std::vector<Option> OptionsWithDashes() const;
  const Option* operand() const;  // null where it takes none
};

struct CommandLine {
  std::string description;
  std::string footer;
  std::vector<Verb> verbs;
};

// --help and --version.
[[nodiscard]] const std::vector<Option>& OptionsOfEveryVerb();

// A script that completes verbs, options, choices and file names. REQUIRES: shell is "bash", "zsh" or "fish".
[[nodiscard]] std::string CompletionScript(const CommandLine& command_line, const std::string& shell);

// opscope(1), in roff.
[[nodiscard]] std::string ManPage(const CommandLine& command_line, const std::string& version);

}  // namespace opscope
