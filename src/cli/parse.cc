// Parses arguments with CLI11. Only this file includes CLI11, whose header takes longer to compile than all verbs.
// CLI11 throws for help, version and usage errors; the exceptions are caught in this file.
// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/escaped_text.h"
#include "base/parse_whole.h"
#include "base/text.h"
#include "cli/closest_word.h"

namespace opscope {
namespace {

constexpr size_t kHelpColumns = 80;

// CLI11 splits the operand "[64,128]" into two. Its only switch against that, allow_extra_args(false), allows one
// operand alone. So this byte precedes such texts during the parse.
constexpr char kHidden = '\x01';

std::string HiddenFromCli11(const std::string& text) {
  const bool is_list = text.starts_with('[') && text.ends_with(']');
  return is_list || text.starts_with(kHidden) ? kHidden + text : text;
}

std::string Revealed(const std::string& text) {
  return text.starts_with(kHidden) ? text.substr(1) : text;
}

void RevealIn(const OptionTarget& target) {
  if (std::string* const* text = std::get_if<std::string*>(&target)) **text = Revealed(**text);
  if (std::optional<std::string>* const* text = std::get_if<std::optional<std::string>*>(&target))
    if (**text) **text = Revealed(***text);
  if (std::vector<std::string>* const* texts = std::get_if<std::vector<std::string>*>(&target)) {
    for (std::string& text : **texts)
      text = Revealed(text);
  }
}

// The names in CLI11's form: "-o,--output".
std::string NamesOf(const Option& option) {
  return Joined(option.names, ",");
}

template <typename Target>
CLI::Option* AddTo(CLI::App* app, const Option& option, Target* target) {
  CLI::Option* added = app->add_option(NamesOf(option), *target, option.description);
  if (*target != Target{} && !option.is_required) added->capture_default_str();
  return added;
}

CLI::Option* AddTo(CLI::App* app, const Option& option, bool* target) {
  return app->add_flag(NamesOf(option), *target, option.description);
}

CLI::Option* AddTo(CLI::App*, const Option&, std::monostate) {
  return nullptr;  // CLI11's own --help and --version
}

CLI::Option* AddTo(CLI::App* app, const Option& option, std::vector<std::string>* target) {
  CLI::Option* added = AddTo<std::vector<std::string>>(app, option, target);
  if (option.delimiter != '\0') added->delimiter(option.delimiter);
  if (option.takes_files) {
    added->expected(1, -1);  // -1: any number
  } else if (option.is_single || !option.is_operand()) {
    added->expected(1);
  }
  if (!option.is_operand()) {
    added->take_all();
    // Else CLI11 takes a file behind the value for a further value, if another option follows the file.
    if (!option.takes_files) added->allow_extra_args(false);
  }
  return added;
}

// The values are taken afterwards (ReadSequences).
CLI::Option* AddTo(CLI::App* app, const Option& option, OptionSequence*) {
  CLI::Option* added = app->add_option(NamesOf(option), option.description);
  added->expected(1);
  added->take_all();
  added->allow_extra_args(false);
  return added;
}

CLI::Option* AddTo(CLI::App* app, const Option& option, std::optional<std::string>* target) {
  return app->add_option_function<std::string>(
      NamesOf(option), [target](const std::string& text) { *target = text; }, option.description);
}

// The range of the option admits no other text.
CLI::Option* AddTo(CLI::App* app, const Option& option, std::optional<int32_t>* target) {
  return app->add_option_function<int32_t>(
      NamesOf(option), [target](int32_t number) { *target = number; }, option.description);
}

// "" if the text is a number of bytes, else the message. CLI11 alone would parse -5 as a very large number, and would
// name its own types for "1.5M" and "5X".
std::string ValidateByteSize(const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string unit = text.substr(digits);
  for (char& letter : unit)
    letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  const size_t factor = unit.empty() ? std::string::npos : std::string("KMGTPE").find(unit[0]);
  if (factor != std::string::npos) unit.erase(0, 1);
  const bool is_unit = unit.empty() || unit == "B" || (factor != std::string::npos && unit == "IB");
  return digits > 0 && is_unit
             ? ""
             : "'" + text + "' is not a number of bytes; 0 (no limit) or more, with K, M or G behind it";
}

// CLI11 applies transforms in reverse order, so the check runs before the conversion.
CLI::Option* AddTo(CLI::App* app, const Option& option, uint64_t* bytes) {
  return AddTo<uint64_t>(app, option, bytes)
      ->transform(CLI::AsSizeValue(false))
      ->transform(CLI::Validator(ValidateByteSize, ""));
}

// "1 or more", "200 to 20000"
std::string RangeText(const Option& option) {
  const auto text = [](double bound) {
    std::string out;
    AppendDouble(&out, bound);
    return out;
  };
  return text(option.least) + (std::isfinite(option.most) ? " to " + text(option.most) : " or more");
}

// Parses the whole text; NaN if it is not a number.
template <typename Number>
double NumberFrom(const std::string& text) {
  const std::optional<Number> number = ParseWhole<Number>(text);
  return number ? static_cast<double>(*number) : std::nan("");
}

CLI::Validator IsInRange(const Option& option) {
  const bool is_whole =
      std::holds_alternative<int64_t*>(option.target) || std::holds_alternative<std::optional<int32_t>*>(option.target);
  const std::string range = RangeText(option);
  const auto check = [=, least = option.least, most = option.most](const std::string& text) -> std::string {
    const double value = is_whole ? NumberFrom<int64_t>(text) : NumberFrom<double>(text);
    if (std::isfinite(value) && value >= least && value <= most) return "";
    return "'" + text + "' is not a " + (is_whole ? "whole number of " : "number of ") + range;
  };
  return CLI::Validator(check, range);
}

CLI::Validator IsChoice(const std::vector<std::string>& choices) {
  const auto check = [=](const std::string& text) -> std::string {
    const bool is_known = std::find(choices.begin(), choices.end(), text) != choices.end();
    return is_known ? "" : "'" + text + "' is not one of " + Joined(choices, ", ");
  };
  return CLI::Validator(check, "{" + Joined(choices, ",") + "}");
}

CLI::Option* AddOption(CLI::App* app, const Option& option) {
  CLI::Option* added = std::visit([&](auto target) { return AddTo(app, option, target); }, option.target);
  if (option.is_required) added->required();
  if (!option.choices.empty()) added->check(IsChoice(option.choices));
  if (std::isfinite(option.least)) added->check(IsInRange(option));
  return added;
}

// Links options by pointer: CLI11's look-up by name copies strings in a noexcept function.
void ExcludeOptions(const std::vector<Option>& options, const std::vector<CLI::Option*>& added) {
  for (size_t i = 0; i < options.size(); ++i) {
    for (size_t other = 0; other < options.size(); ++other)
      if (options[other].names.back() == options[i].excludes) added[i]->excludes(added[other]);
  }
}

CLI::App* AddVerb(CLI::App* root, const CommandLine& line, const Verb& verb, const std::string& version) {
  CLI::App* app = root->add_subcommand(verb.names.front(), verb.description);
  for (size_t i = 1; i < verb.names.size(); ++i)
    app->alias(verb.names[i]);
  const std::string& footer = verb.footer.empty() ? line.footer : verb.footer;
  app->footer(verb.results.empty() ? footer : verb.results + "\n" + footer);
  app->set_version_flag("--version", version);
  std::vector<CLI::Option*> added;
  added.reserve(verb.options.size());
  for (const Option& option : verb.options)
    added.push_back(AddOption(app, option));
  ExcludeOptions(verb.options, added);
  return app;
}

// Values of one option are in order; their order across options is that of CLI11's list of parsed ones.
void ReadSequences(const CLI::App& app, const Verb& verb) {
  std::map<std::string, size_t> taken;
  for (const CLI::Option* parsed : app.parse_order()) {
    for (const Option& option : verb.options) {
      OptionSequence* const* sequence = std::get_if<OptionSequence*>(&option.target);
      if (sequence == nullptr || !parsed->check_name(option.names.back())) continue;
      size_t& next = taken[option.names.back()];
      if (next < parsed->results().size())
        (*sequence)->given.push_back({option.names.back(), Revealed(parsed->results()[next++])});
    }
  }
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& known) {
  const std::string closest = ClosestWord(word, known);
  return closest.empty() ? "" : " (did you mean " + closest + "?)";
}

std::vector<std::string> OptionNames(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    if (!option->get_positional()) names.push_back(option->get_name());
  return names;
}

template <typename Kind>
bool Is(const CLI::ParseError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

// CLI11's sentences are for those who program with it ("1 required INT:1 or more missing"). Only what a validator of
// this file says of a value is taken from its exceptions.
std::string DescribeUsageError(const CLI::App& root, const CLI::App& verb, const CLI::ParseError& error) {
  const std::vector<std::string> extra = root.remaining(true);
  const bool has_extra = Is<CLI::ExtrasError>(error) && !extra.empty();
  // CLI11 takes the value of an unknown option for an operand, of which there may then be too many.
  const auto unknown =
      std::find_if(extra.begin(), extra.end(), [](const std::string& text) { return text.starts_with("-"); });
  if ((has_extra || Is<CLI::ArgumentMismatch>(error)) && unknown != extra.end()) {
    const std::string name = unknown->substr(0, unknown->find('='));
    return "there is no option " + name + DidYouMean(name, OptionNames(verb));
  }
  if (has_extra) return "'" + Revealed(extra.front()) + "' is one argument too many";
  std::string what = error.what();
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    if (Is<CLI::RequiredError>(error) && option->get_required() && option->count() == 0) return name + " is missing";
    if (Is<CLI::ArgumentMismatch>(error) && what.starts_with(name + ":")) {
      if (option->count() <= 1) return name + " needs a value";
      return name + " takes one value, but " + std::to_string(option->count()) + " are given";
    }
    for (const CLI::Option* other : option->get_excludes())
      if (Is<CLI::ExcludesError>(error) && option->count() > 0 && other->count() > 0)
        return name + " and " + other->get_name() + " exclude each other";
  }
  return what;
}

std::string UsageText(const CLI::App& root, const CLI::ParseError& error) {
  const auto verbs = root.get_subcommands();
  if (verbs.empty()) return "a command is missing; see 'opscope --help'";
  const std::string verb = verbs.back()->get_name();
  std::string what = DescribeUsageError(root, *verbs.back(), error);
  std::erase(what, kHidden);
  return verb + ": " + what + "; see 'opscope " + verb + " --help'";
}

}  // namespace

ParsedArguments ParseArguments(const CommandLine& command_line, const std::string& version, int argc,
                               const char* const* argv) {
  CLI::App root(command_line.description, "opscope");
  root.set_version_flag("--version", version);
  root.require_subcommand(1);
  root.footer(command_line.footer);
  std::vector<const CLI::App*> apps;
  apps.reserve(command_line.verbs.size());
  for (const Verb& verb : command_line.verbs)
    apps.push_back(AddVerb(&root, command_line, verb, version));

  ParsedArguments parsed;
  const auto is_named = [&](const CLI::App* app) { return app->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(apps.begin(), apps.end(), is_named)) {
    std::vector<std::string> names;
    for (const Verb& verb : command_line.verbs)
      names.insert(names.end(), verb.names.begin(), verb.names.end());
    parsed.error = "there is no '" + std::string(argv[1]) + "'" + DidYouMean(argv[1], names) + "; see 'opscope --help'";
    return parsed;
  }
  std::vector<std::string> texts;
  std::vector<const char*> pointers;
  texts.reserve(static_cast<size_t>(argc));
  pointers.reserve(static_cast<size_t>(argc));
  for (int i = 0; i < argc; ++i)
    texts.push_back(HiddenFromCli11(argv[i]));
  for (const std::string& text : texts)
    pointers.push_back(text.c_str());
  try {
    root.parse(argc, pointers.data());
  } catch (const CLI::CallForHelp&) {
    parsed.help_or_version = WrapLines(root.help(), kHelpColumns);
    return parsed;
  } catch (const CLI::CallForVersion& version_request) {
    parsed.help_or_version = std::string(version_request.what()) + "\n";
    return parsed;
  } catch (const CLI::ParseError& error) {
    parsed.error = UsageText(root, error);
    return parsed;
  }
  const auto found = std::find_if(apps.begin(), apps.end(), [](const CLI::App* app) { return app->parsed(); });
  parsed.verb = &command_line.verbs[static_cast<size_t>(found - apps.begin())];
  ReadSequences(**found, *parsed.verb);
  for (const Option& option : parsed.verb->options)
    RevealIn(option.target);
  return parsed;
}

}  // namespace opscope
