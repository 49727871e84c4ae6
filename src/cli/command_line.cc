// Accessors of the description of the command line (command_line.h), and the two options that every verb has.
// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

namespace opscope {

const char* Option::value_name() const {
  constexpr const char* kNames[] = {"",    "",    "TEXT",  "TEXT",  "TEXT",
                                    "INT", "INT", "FLOAT", "BYTES", "TEXT"};  // in the order of OptionTarget
  if (takes_files) return "FILE...";
  static_assert(std::size(kNames) == std::variant_size_v<OptionTarget>);
  return kNames[target.index()];
}

std::string Option::ValueText() const {
  return choices.empty() ? value_name() : Joined(choices, "|");
}

std::string Joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : between) + word;
  return text;
}

const std::vector<Option>& OptionsOfEveryVerb() {
  static const std::vector<Option> options = {
      {.names = {"-h", "--help"}, .description = "Print this help message and exit"},
      {.names = {"--version"}, .description = "Display program version information and exit"},
  };
  return options;
}

std::vector<Option> Verb::OptionsWithDashes() const {
  std::vector<Option> all = OptionsOfEveryVerb();
  for (const Option& option : options)
    if (!option.is_operand()) all.push_back(option);
  return all;
}

const Option* Verb::operand() const {
  for (const Option& option : options)
    if (option.is_operand()) return &option;
  return nullptr;
}

std::string Verb::OperandText() const {
  std::string text;
  for (const Option& option : options) {
    if (!option.is_operand()) continue;
    const bool is_repeatable = std::holds_alternative<std::vector<std::string>*>(option.target) && !option.is_single;
    text += " " + option.names.front() + (is_repeatable ? "..." : "");
  }
  return text;
}

}  // namespace opscope
