// What the program tells about itself is true, and the tools for which it is made read it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

bool IsThere(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

// "--words" of a text.
std::set<std::string> LongOptions(const std::string& text) {
  std::set<std::string> found;
  const std::regex word("--[a-z][a-z-]*");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), word); it != std::sregex_iterator(); ++it)
    found.insert(it->str());
  return found;
}

std::set<std::string> Verbs(const std::string& help) {
  std::set<std::string> verbs;
  std::istringstream lines(help.substr(help.find("Subcommands:") + 13));
  for (std::string line; std::getline(lines, line) && line.starts_with("  ");)
    if (line[2] != ' ') verbs.insert(line.substr(2, line.find_first_of(" ,", 2) - 2));
  return verbs;
}

// What bash offers for the last of `words`.
std::string CompletedByBash(const std::string& script, const std::string& words) {
  return script + "\nCOMP_WORDS=(" + words +
         "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _opscope; echo \"${COMPREPLY[*]}\"\n";
}

// By verb, the text of its section, with plain hyphens.
std::map<std::string, std::string> SectionsOf(std::string man) {
  for (size_t at; (at = man.find("\\-")) != std::string::npos;)
    man.erase(at, 1);
  std::map<std::string, std::string> sections;
  const std::string heading = ".SS \"";
  for (size_t at = man.find(heading); at != std::string::npos;) {
    const size_t name = at + heading.size(), next = man.find(heading, name);
    const size_t end = std::min(next, man.find("\n.SH ", name));
    sections[man.substr(name, man.find_first_of(" ,\"", name) - name)] = man.substr(name, end - name);
    at = next;
  }
  return sections;
}

TEST_F(Cli, TheManualListsForEachVerbTheOptionsThatItTakes) {
  const Outcome man = Run("man");
  EXPECT_EQ(man.exit_code, 0);
  EXPECT_TRUE(man.out.starts_with(".TH OPSCOPE 1 \"\" \"opscope ")) << man.out.substr(0, 80);
  const std::set<std::string> verbs = Verbs(Run("--help").out);
  ASSERT_GE(verbs.size(), 11u);
  const std::map<std::string, std::string> sections = SectionsOf(man.out);
  EXPECT_EQ(sections.size(), verbs.size());
  for (const std::string& verb : verbs) {
    ASSERT_EQ(sections.count(verb), 1u) << verb;
    EXPECT_EQ(LongOptions(sections.at(verb)), LongOptions(Run(verb + " --help").out)) << verb;
  }
}

TEST_F(Cli, HelpFitsEightyColumns) {
  std::set<std::string> verbs = Verbs(Run("--help").out);
  verbs.insert("");
  for (const std::string& verb : verbs) {
    std::istringstream lines(Run(verb + " --help").out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 80u) << verb << ": " << line;
  }
}

TEST_F(Cli, HelpAndManualNameTheFieldsOfConditions) {
  for (const char* arguments : {"summary --help", "man"}) {
    std::string text = Run(arguments).out;
    text = std::regex_replace(text, std::regex("\\s+"), " ");
    EXPECT_NE(
        text.find("fields: name, category, kind, overload, thread, process, duration, start, depth, sequence, step, "
                  "rank, device, correlation"),
        std::string::npos)
        << arguments;
  }
}

TEST_F(Cli, TheManualIsGoodRoff) {
  if (!IsThere("groff")) GTEST_SKIP() << "groff is not installed";
  const Outcome groff = Run("man | groff -man -Tascii -ww -P-cbou");
  EXPECT_EQ(groff.exit_code, 0);
  EXPECT_EQ(groff.error, "");
  const std::string text = ReadText(Path("stdout"));
  EXPECT_NE(text.find("EXIT STATUS"), std::string::npos);
}

TEST_F(Cli, BashCompletesVerbsOptionsAndChoices) {
  if (!IsThere("bash")) GTEST_SKIP() << "bash is not installed";
  const std::string script = Run("completion bash").out;
  const std::pair<const char*, const char*> cases[] = {
      {"opscope su", "summary"},
      {"opscope --v", "--version"},
      {"opscope summary --gr", "--group-by"},
      {"opscope summary --group-by sh", "shape"},
      {"opscope top --style ''", "plain torch paddle"},
      {"opscope export a.json --to chr", "chrome"},
      {"opscope completion ''", "bash zsh fish"},
      {"opscope summary --where ''", ""},
      {"opscope summary tr", ""},  // file names, by `complete -o default`
      {"opscope -q flame --met", "--metric"},
  };
  for (const auto& [words, expected] : cases) {
    const std::string file = Put("try.bash", CompletedByBash(script, words));
    ASSERT_EQ(std::system(("bash " + Quoted(file) + " >" + Quoted(Path("offered")) + " 2>&1").c_str()), 0);
    EXPECT_EQ(ReadText(Path("offered")), std::string(expected) + "\n") << words;
  }
}

TEST_F(Cli, CompletionOfOtherShellsIsGoodSyntax) {
  int tried = 0;
  for (const char* shell : {"zsh", "fish"}) {
    const Outcome script = Run(std::string("completion ") + shell);
    EXPECT_EQ(script.exit_code, 0);
    for (const std::string& option : LongOptions(Run("summary --help").out)) {
      const std::string name = shell == std::string("fish") ? "-l " + option.substr(2) : option + "[";
      EXPECT_NE(script.out.find(name), std::string::npos) << shell << " " << option;
    }
    if (!IsThere(shell)) continue;
    const std::string file = Put("script", script.out);
    EXPECT_EQ(std::system((std::string(shell) + " -n " + Quoted(file)).c_str()), 0) << shell;
    ++tried;
  }
  EXPECT_EQ(Run("completion tcsh").exit_code, 2);
  if (tried == 0) GTEST_SKIP() << "neither zsh nor fish is installed";
}

}  // namespace
}  // namespace opscope
