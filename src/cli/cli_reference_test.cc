// docs/reference/cli.md is what the command line says of itself. OPSCOPE_UPDATE_GOLDEN=1 writes it anew.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/verb.h"

namespace opscope {
namespace {

constexpr const char* kReferencePath = OPSCOPE_SOURCE_DIR "/docs/reference/cli.md";

std::string AsSentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + (text.ends_with('.') ? "" : ".");
}

std::string NumberText(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

// "" where there is none: the value that the target has before the arguments are read.
std::string DefaultOf(const Option& option) {
  if (const auto* text = std::get_if<std::string*>(&option.target)) return **text;
  if (const auto* number = std::get_if<int64_t*>(&option.target)) return **number == 0 ? "" : std::to_string(**number);
  if (const auto* bytes = std::get_if<uint64_t*>(&option.target)) return **bytes == 0 ? "" : std::to_string(**bytes);
  if (const auto* real = std::get_if<double*>(&option.target)) {
    return **real == 0 || !std::isfinite(**real) ? "" : NumberText(**real);
  }
  if (const auto* texts = std::get_if<std::vector<std::string>*>(&option.target)) {
    std::string joined;
    for (const std::string& each : **texts)
      joined += (joined.empty() ? "" : ",") + each;
    return joined;
  }
  return "";
}

std::string EntryOf(const Option& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "`" : "`, `") + name;
  std::string entry = "- " + names + "`";
  if (!option.is_flag()) entry += " *" + std::string(option.value_name()) + "*";
  entry += ": " + AsSentence(option.description);
  if (!option.choices.empty()) {
    std::string choices;
    for (const std::string& choice : option.choices)
      choices += (choices.empty() ? "`" : "`, `") + choice;
    entry += " One of " + choices + "`.";
  }
  if (std::isfinite(option.least)) {
    entry += " From " + NumberText(option.least);
    entry += std::isfinite(option.most) ? " to " + NumberText(option.most) + "." : " on.";
  }
  if (option.is_required) return entry + " Required.\n";
  const std::string value = option.is_flag() ? "" : DefaultOf(option);
  return entry + (value.empty() ? "" : " Default: `" + value + "`.") + "\n";
}

std::string SectionOf(const Verb& verb) {
  std::string heading = verb.names[0];
  for (size_t i = 1; i < verb.names.size(); ++i)
    heading += ", " + verb.names[i];
  std::string section = "\n## " + heading + "\n\n" + AsSentence(verb.description) + "\n\n```text\nopscope " +
                        verb.names[0] + " [OPTION...]" + verb.OperandText() + "\n```\n\n";
  if (const Option* operand = verb.operand()) section += EntryOf(*operand);
  for (const Option& option : verb.OptionsWithDashes())
    section += EntryOf(option);
  if (!verb.results.empty()) section += "\n[Results](results.md) has the fields of what it prints.\n";
  return section + (verb.footer.empty() ? "" : "\n" + verb.footer + "\n");
}

std::string CliReference() {
  CommandLine line;
  DescribeCommandLine({}, &line);
  std::string page = R"(# Command line

This page lists every verb of `opscope` and its options. `opscope VERB --help` and the manual page (`opscope man`) say the
same. The program without Python is `opscope-native`.

```text
opscope VERB [OPTION...] FILE...
```

Options stand before or behind files; `-` is standard input or output. opscope finds the format of a file by its content
and opens gzip and zstd by itself. Tables are for people; with `--json` or `--csv` times are integer nanoseconds and sizes
bytes.

<!-- Generated from src/cli: OPSCOPE_UPDATE_GOLDEN=1 ctest --preset dev -R CliReference -->
)";
  for (const Verb& verb : line.verbs)
    page += SectionOf(verb);
  page += "\n## Exit codes\n\n" + line.footer + "\n\n## Environment\n\n";
  for (const auto& [name, meaning] : line.environment)
    page += "- `" + name + "`: " + meaning + "\n";
  page += "\n## Examples\n\n```sh\n";
  for (const auto& [command, meaning] : line.examples)
    page += command + "  # " + meaning + "\n";
  return page + "```\n";
}

TEST(CliReference, IsWhatTheCommandLineSays) {
  const std::string expected = CliReference();
  if (std::getenv("OPSCOPE_UPDATE_GOLDEN") != nullptr) std::ofstream(kReferencePath) << expected;
  std::ostringstream content;
  content << std::ifstream(kReferencePath).rdbuf();
  EXPECT_EQ(content.str(), expected);
}

}  // namespace
}  // namespace opscope
