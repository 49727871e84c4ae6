// Generates completion scripts for bash, zsh and fish from the description of the command line. The scripts are static
// text and never call opscope, so that completion stays fast in a shell. bash gets case tables of "verb:option" to
// choices; zsh and fish have their own description languages. Where no choices apply, the shells complete file names.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace opscope {
namespace {

std::string AllNames(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options)
    text += (text.empty() ? "" : " ") + Joined(option.names, " ");
  return text;
}

std::string OperandChoices(const Verb& verb) {
  return verb.operand() == nullptr ? "" : Joined(verb.operand()->choices, " ");
}

std::string AllVerbs(const CommandLine& line) {
  std::string text;
  for (const Verb& verb : line.verbs)
    text += (text.empty() ? "" : " ") + Joined(verb.names, " ");
  return text;
}

// Quotes for every shell: an apostrophe becomes '\'' (end, escaped apostrophe, begin).
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// If COMPREPLY stays empty, bash completes file names (complete -o default).
std::string BashScript(const CommandLine& line) {
  std::string cases, words;
  for (const Verb& verb : line.verbs) {
    const std::string names = Joined(verb.names, "|");
    for (const Option& option : verb.OptionsWithDashes()) {
      if (option.is_flag()) continue;
      for (const std::string& verb_name : verb.names) {
        for (const std::string& name : option.names)
          cases.append(cases.ends_with('\n') || cases.empty() ? "    " : "|")
              .append(verb_name)
              .append(":")
              .append(name);
      }
      cases += ") choices=" + Quoted(Joined(option.choices, " ")) + "; is_value=1 ;;\n";
    }
    words += "    " + names + ") options=" + Quoted(AllNames(verb.OptionsWithDashes())) +
             "; operands=" + Quoted(OperandChoices(verb)) + " ;;\n";
  }
  return "# bash completion for opscope; made by: opscope completion bash\n"
         "_opscope() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local verb='' word choices='' is_value='' options='' operands=''\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case $word in -*) ;; *) verb=$word; break ;; esac\n"
         "  done\n"
         "  COMPREPLY=()\n"
         "  if [[ -z $verb ]]; then\n"
         "    COMPREPLY=($(compgen -W " +
         Quoted(AllVerbs(line) + " " + AllNames(OptionsOfEveryVerb())) +
         " -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case $verb:$previous in\n" +
         cases +
         "  esac\n"
         "  case $verb in\n" +
         words +
         "  esac\n"
         "  if [[ -n $is_value ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$choices\" -- \"$current\"))\n"
         "  elif [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
         "  elif [[ -n $operands ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$operands\" -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _opscope opscope opscope-native\n";
}

// Escapes brackets and colons, which have a meaning for zsh's _arguments.
std::string ZshText(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshOption(const Option& option) {
  std::string text;
  const std::string action = option.choices.empty() ? "_files" : "(" + Joined(option.choices, " ") + ")";
  for (const std::string& name : option.names) {
    std::string spec = "*" + name + "[" + ZshText(option.description) + "]";
    if (!option.is_flag()) spec += ":" + ZshText(option.value_name()) + ":" + action;
    text += " \\\n        " + Quoted(spec);
  }
  return text;
}

std::string ZshScript(const CommandLine& line) {
  std::string verbs, cases, options;
  for (const Verb& verb : line.verbs) {
    for (const std::string& name : verb.names)
      verbs += "    " + Quoted(name + ":" + ZshText(verb.description)) + "\n";
    cases += "    " + Joined(verb.names, "|") + ")\n      _arguments -s";
    for (const Option& option : verb.OptionsWithDashes())
      cases += ZshOption(option);
    if (!OperandChoices(verb).empty()) {
      cases += " \\\n        " + Quoted("*: :(" + OperandChoices(verb) + ")");
    } else if (verb.operand() != nullptr) {
      cases += " \\\n        '*:file:_files'";
    }
    cases += " ;;\n";
  }
  for (const Option& option : OptionsOfEveryVerb())
    options += ZshOption(option);
  return "#compdef opscope opscope-native\n"
         "# zsh completion for opscope; made by: opscope completion zsh\n"
         "_opscope() {\n"
         "  local -a verbs\n"
         "  verbs=(\n" +
         verbs +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe verb verbs\n"
         "    _arguments -s" +
         options +
         "\n"
         "    return\n"
         "  fi\n"
         "  local verb=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $verb in\n" +
         cases +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] = _opscope ]]; then _opscope \"$@\"; else compdef _opscope opscope opscope-native; fi\n";
}

std::string FishOption(const std::string& condition, const Option& option) {
  std::string line = "complete -c opscope -n " + Quoted(condition);
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.choices.empty()) {
    line += " -x -a " + Quoted(Joined(option.choices, " "));
  } else if (!option.is_flag()) {
    line += " -r";
  }
  return line + " -d " + Quoted(option.description) + "\n";
}

std::string FishScript(const CommandLine& line) {
  std::string script = "# fish completion for opscope; made by: opscope completion fish\n";
  for (const Option& option : OptionsOfEveryVerb())
    script += FishOption("__fish_use_subcommand", option);
  for (const Verb& verb : line.verbs) {
    for (const std::string& name : verb.names)
      script += "complete -c opscope -f -n __fish_use_subcommand -a " + name + " -d " + Quoted(verb.description) + "\n";
    const std::string seen = "__fish_seen_subcommand_from " + Joined(verb.names, " ");
    for (const Option& option : verb.OptionsWithDashes())
      script += FishOption(seen, option);
    if (!OperandChoices(verb).empty())
      script += "complete -c opscope -f -n " + Quoted(seen) + " -a " + Quoted(OperandChoices(verb)) + "\n";
  }
  return script;
}

}  // namespace

std::string CompletionScript(const CommandLine& line, const std::string& shell) {
  if (shell == "bash") return BashScript(line);
  return shell == "zsh" ? ZshScript(line) : FishScript(line);
}

}  // namespace opscope
