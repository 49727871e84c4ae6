// Generates the manual page in roff from the description of the command line, so that it lists exactly the options that
// parsing accepts.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cli/command_line.h"

namespace opscope {
namespace {

// Escapes for roff: a leading dot or apostrophe is a request, a backslash an escape, '-' a hyphen.
std::string Roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (escaped.empty() && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + (text.ends_with('.') ? "" : ".");
}

// Roff with break points after '|', because groff takes a list of choices as one word.
std::string BreakableRoff(const std::string& text) {
  std::string breakable;
  for (const char c : Roff(text)) {
    breakable += c;
    if (c == '|') breakable += "\\:";
  }
  return breakable;
}

std::string Entry(const Option& option) {
  std::string text = ".TP\n";
  bool is_first = true;
  for (const std::string& name : option.names) {
    text += (is_first ? "\\fB" : ", \\fB") + Roff(name) + "\\fR";
    is_first = false;
  }
  if (!option.is_flag()) text += " \\fI" + BreakableRoff(option.ValueText()) + "\\fR";
  return text + "\n" + Roff(Sentence(option.description)) + "\n";
}

std::string VerbSection(const Verb& verb) {
  std::string text = ".SS \"" + Roff(verb.names[0]);
  for (size_t i = 1; i < verb.names.size(); ++i)
    text += ", " + Roff(verb.names[i]);
  text += Roff(verb.OperandText()) + "\"\n" + Roff(Sentence(verb.description)) + "\n";
  for (const Option& option : verb.OptionsWithDashes())
    text += Entry(option);
  if (!verb.results.empty()) text += ".PP\n" + Roff(verb.results) + "\n";
  return text + (verb.footer.empty() ? "" : ".PP\n" + Roff(verb.footer) + "\n");
}

}  // namespace

std::string ManPage(const CommandLine& line, const std::string& version) {
  std::string page = ".TH OPSCOPE 1 \"\" \"" + Roff(version) + "\" \"User Commands\"\n.ad l\n.SH NAME\nopscope \\- " +
                     Roff(line.description) +
                     "\n.SH SYNOPSIS\n\\fBopscope\\fR \\fIVERB\\fR [\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n"
                     ".SH DESCRIPTION\nReads traces of many profilers, and answers questions about them. The format of "
                     "a file is found by its content; gzip and zstd are transparent; \\fB\\-\\fR is standard input. "
                     "Tables are for people; with \\fB\\-\\-json\\fR or \\fB\\-\\-csv\\fR times are integer "
                     "nanoseconds and sizes bytes.\n.SH VERBS\n";
  for (const Verb& verb : line.verbs)
    page += VerbSection(verb);
  page += ".SH \"EXIT STATUS\"\n" + Roff(line.footer) + "\n.SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : line.environment)
    page += std::string(".TP\n\\fB") + Roff(name) + "\\fR\n" + Roff(meaning) + "\n";
  page += ".SH EXAMPLES\n";
  for (const auto& [command, meaning] : line.examples)
    page += std::string(".TP\n\\fB") + Roff(command) + "\\fR\n" + Roff(meaning) + "\n";
  return page;
}

}  // namespace opscope
