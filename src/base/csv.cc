// RFC 4180 quoting, and a guard against formula injection: spreadsheets run a cell that begins with = + - @
// as a formula, and operator names come from the profiled program. Such a text gets an apostrophe before
// it; a text that begins with one gets another, so that removing the first apostrophe always restores it.
// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"

namespace opscope {
namespace {

bool NeedsApostrophe(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r'").find(text[0]) != std::string_view::npos;
}

}  // namespace

void AppendCsvField(std::string* out, std::string_view text) {
  const bool is_quoted = text.find_first_of(",\"\r\n") != std::string_view::npos;
  if (is_quoted) *out += '"';
  if (NeedsApostrophe(text)) *out += '\'';
  for (const char c : text)
    out->append(is_quoted && c == '"' ? 2 : 1, c);
  if (is_quoted) *out += '"';
}

}  // namespace opscope
