// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.h"

#include "cli/exit_code.h"
#include "cli/terminal.h"

namespace opscope {
namespace {

std::string WithBoldTitle(const std::string& table) {
  const size_t end = table.find('\n');
  return end == std::string::npos ? table : "\x1b[1m" + table.substr(0, end) + "\x1b[0m" + table.substr(end);
}

}  // namespace

void AddRowOptions(Verb* verb, CommonOptions* common, RowVerbOptions* options, const std::string& sort_help) {
  AddFormOptions(verb, common);
  verb->Add({.names = {"--sort"}, .target = &options->sort, .description = sort_help});
  verb->Add({.names = {"--limit"},
             .target = &options->limit,
             .description = "print this many rows (default: all)",
             .least = 1});
}

int PrintRows(const std::string& verb, const CommonOptions& common, const RowVerbOptions& options,
              const RowTexts& texts) {
  RowOptions row_options{.limit = static_cast<size_t>(options.limit), .width = 0, .sort = options.sort};
  const Terminal terminal = DetectTerminal(common.no_color);
  if (common.is_for_people()) row_options.width = terminal.width;
  const auto& form = common.json ? texts.json : common.csv ? texts.csv : texts.table;
  const Result<std::string> text = form(row_options);
  if (!text.ok()) {
    PrintError(verb + ": --sort: " + text.error().message);
    return kExitUsage;
  }
  const bool is_bold = common.is_for_people() && terminal.color;
  return ExitFor(WriteStandardOutput(is_bold ? WithBoldTitle(text.value()) : text.value()));
}

}  // namespace opscope
