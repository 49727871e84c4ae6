// SPDX-License-Identifier: Apache-2.0
#include "cli/surface.h"

#include <algorithm>

namespace opscope {
namespace {

// CLI11 tells the type of an option as "TEXT:{plain,torch}" or "INT:POSITIVE".
std::vector<std::string> ChoicesOf(const std::string& type) {
  const size_t open = type.find('{');
  const size_t close = type.find('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  size_t at = open + 1;
  while (at < close) {
    const size_t end = std::min(type.find(',', at), close);
    choices.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return choices;
}

OptionFacts FactsOf(const CLI::Option& option) {
  OptionFacts facts;
  for (const std::string& name : option.get_snames())
    facts.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    facts.names.push_back("--" + name);
  const std::string type = option.get_type_name();
  facts.choices = ChoicesOf(type);
  if (option.get_items_expected_max() > 0) facts.value = type.substr(0, type.find_first_of(": "));
  facts.description = option.get_description();
  return facts;
}

}  // namespace

SurfaceFacts SurfaceOf(const CLI::App& root) {
  SurfaceFacts surface{root.get_description(), root.get_footer(), {}, {}};
  for (const CLI::Option* option : root.get_options())
    surface.options.push_back(FactsOf(*option));
  for (const CLI::App* app : root.get_subcommands({})) {
    VerbFacts& verb = surface.verbs.emplace_back();
    verb.names.push_back(app->get_name());
    verb.names.insert(verb.names.end(), app->get_aliases().begin(), app->get_aliases().end());
    verb.description = app->get_description();
    verb.footer = app->get_footer() == root.get_footer() ? "" : app->get_footer();
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional()) {
        verb.options.push_back(FactsOf(*option));
      } else {
        verb.operands = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
        verb.operand_choices = ChoicesOf(option->get_type_name());
      }
    }
  }
  return surface;
}

}  // namespace opscope
