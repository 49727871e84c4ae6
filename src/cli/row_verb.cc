// SPDX-License-Identifier: Apache-2.0
#include "cli/row_verb.h"

#include <memory>
#include <utility>

namespace opscope {

Verb AddRowVerb(CLI::App* root, RowVerb given) {
  auto verb = std::make_shared<RowVerb>(std::move(given));
  auto selection = std::make_shared<SelectionOptions>();
  CLI::App* app = root->add_subcommand(verb->name, verb->description);
  AddCommonOptions(app, &verb->common);
  AddRowOptions(app, &verb->common, &verb->rows, verb->sort_help);
  AddSelectionOptions(app, selection.get());
  return {app, [verb, selection] {
            Result<std::optional<SpanFilter>> filter = ReadSelection(*selection);
            if (!filter.ok()) return UsageError(verb->name + ": " + filter.error().message);
            verb->filter = std::move(filter).value();
            return ForEachInput(
                verb->common, [&](const Trace& trace, const std::string&) { return verb->print(trace, *verb); },
                verb->common.is_for_people());
          }};
}

}  // namespace opscope
