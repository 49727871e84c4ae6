// SPDX-License-Identifier: Apache-2.0
#include "cli/row_verb.h"

#include <memory>
#include <utility>

namespace opscope {

Verb MakeRowVerb(RowVerb given) {
  auto row_verb = std::make_shared<RowVerb>(std::move(given));
  auto selection = std::make_shared<SelectionOptions>();
  Verb verb{.names = {row_verb->name}, .description = row_verb->description};
  AddCommonOptions(&verb, &row_verb->common);
  AddRowOptions(&verb, &row_verb->common, &row_verb->rows, row_verb->sort_help);
  AddSelectionOptions(&verb, selection.get());
  for (const Option& option : row_verb->more_options)
    verb.Add(option);
  verb.run = [row_verb, selection] {
    Result<std::optional<SpanFilter>> filter = ReadSelection(*selection);
    if (!filter.ok()) return UsageError(row_verb->name + ": " + filter.error().message);
    row_verb->filter = std::move(filter).value();
    if (const Status checked = row_verb->check ? row_verb->check() : Status(); !checked.ok())
      return UsageError(row_verb->name + ": " + checked.error().message);
    Answers answers(row_verb->common);
    return answers.End(ForEachInput(row_verb->common, [&](const Trace& trace, const std::string& file) {
      return row_verb->print(trace, file, *row_verb, &answers);
    }));
  };
  return verb;
}

}  // namespace opscope
