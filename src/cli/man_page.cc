// Generates the manual page in roff from the description of the command line, so that it lists exactly the options that
// parsing accepts. Only environment variables and examples are written by hand.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"

namespace opscope {
namespace {

constexpr std::pair<const char*, const char*> kEnvironment[] = {
    {"NO_COLOR", "Set to anything: no colour, as with --no-color."},
    {"COLUMNS", "The width of the tables, where the terminal does not tell it."},
    {"OPSCOPE_LOG", "off: no progress on long work."},
};

constexpr std::pair<const char*, const char*> kExamples[] = {
    {"opscope summary trace.json.gz --limit 20", "The twenty operators that took longest."},
    {"opscope summary run.opscope --where 'name ~ conv and duration > 10us' --steps 3..7",
     "Of steps 3 to 7, the convolutions that took longer than ten microseconds."},
    {"opscope merge rank*.json.gz -o all.opscope", "The ranks of a job as one trace."},
    {"opscope export all.opscope --to chrome -o - | gzip > all.json.gz", "Kineto's JSON, for any viewer."},
    {"eval \"$(opscope completion bash)\"", "Completion in this shell."},
};

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

std::string ValueOf(const Option& option) {
  if (option.choices.empty()) return option.value_name();
  std::string text;
  for (const std::string& choice : option.choices)
    text += (text.empty() ? "" : "|") + choice;
  return text;
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
  if (!option.is_flag()) text += " \\fI" + BreakableRoff(ValueOf(option)) + "\\fR";
  return text + "\n" + Roff(Sentence(option.description)) + "\n";
}

std::string OperandOf(const Verb& verb) {
  const Option* operand = verb.operand();
  if (operand == nullptr) return "";
  const bool is_repeatable = std::holds_alternative<std::vector<std::string>*>(operand->target) && !operand->is_single;
  return " " + Roff(operand->names.front()) + (is_repeatable ? "..." : "");
}

std::string VerbSection(const Verb& verb) {
  std::string text = ".SS \"" + Roff(verb.names[0]);
  for (size_t i = 1; i < verb.names.size(); ++i)
    text += ", " + Roff(verb.names[i]);
  text += OperandOf(verb) + "\"\n" + Roff(Sentence(verb.description)) + "\n";
  for (const Option& option : verb.OptionsWithDashes())
    text += Entry(option);
  if (!verb.results.empty()) text += ".PP\n" + Roff(verb.results) + "\n";
  return text + (verb.footer.empty() ? "" : ".PP\n" + Roff(verb.footer) + "\n");
}

}  // namespace

std::string ManPage(const CommandLine& line, const std::string& version) {
  std::string page =
      ".TH OPSCOPE 1 \"\" \"" + Roff(version) + "\" \"User Commands\"\n.ad l\n.SH NAME\nopscope \\- " +
      Roff(line.description) +
      "\n.SH SYNOPSIS\n\\fBopscope\\fR \\fIVERB\\fR [\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n"
      ".SH DESCRIPTION\nReads traces, whoever wrote them, and answers questions about them. The format of "
      "a file is found by its content; gzip and zstd are transparent; \\fB\\-\\fR is standard input. "
      "Tables are for people; with \\fB\\-\\-json\\fR or \\fB\\-\\-csv\\fR times are integer "
      "nanoseconds and sizes bytes.\n.SH VERBS\n";
  for (const Verb& verb : line.verbs)
    page += VerbSection(verb);
  page += ".SH \"EXIT STATUS\"\n" + Roff(line.footer) + "\n.SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : kEnvironment)
    page += std::string(".TP\n\\fB") + Roff(name) + "\\fR\n" + Roff(meaning) + "\n";
  page += ".SH EXAMPLES\n";
  for (const auto& [command, meaning] : kExamples)
    page += std::string(".TP\n\\fB") + Roff(command) + "\\fR\n" + Roff(meaning) + "\n";
  return page;
}

}  // namespace opscope
