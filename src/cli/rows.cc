// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.h"

#include "cli/terminal.h"

namespace opscope {
void AddRowOptions(Verb* verb, CommonOptions* common, RowVerbOptions* options, const std::string& sort_help) {
  AddFormOptions(verb, common);
  verb->Add({.names = {"--sort"}, .target = &options->sort, .description = sort_help});
  verb->Add({.names = {"--limit"},
             .target = &options->limit,
             .description = "print this many rows (default: all)",
             .least = 1});
}

int PrintRows(const std::string& verb, const std::string& file, const CommonOptions& common,
              const RowVerbOptions& options, const RowTexts& texts, Answers* answers) {
  const RowOptions rows{.limit = static_cast<size_t>(options.limit), .width = answers->width(), .sort = options.sort};
  const auto& form = common.json ? texts.json : common.csv ? texts.csv : texts.table;
  const Result<std::string> text = form(rows);
  if (!text.ok()) return UsageError(verb + ": --sort: " + text.error().message);
  TellNothing(file, common, texts.nothing);
  return answers->Write(file, text.value(), true);
}

void TellNothing(const std::string& file, const CommonOptions& common, const std::string& sentence) {
  if (!sentence.empty() && !common.quiet) PrintError(InputName(file) + ": " + sentence);
}

}  // namespace opscope
