// Puts the data, the title and the chosen theme into the built page. The page itself stays as it is, because the hashes
// of its content security policy are of its scripts and styles; the data is in a script element that no browser runs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "opscope/report/html.h"
#include "opscope/result.h"
#include "report/html/page_parts.h"
#include "report/html/page_template.h"

namespace opscope {
namespace {

constexpr std::string_view kTitleElement = "<title>opscope</title>";
constexpr std::string_view kThemeChoice = " data-theme-choice=\"auto\"";
constexpr std::string_view kDataElement =
    "<script type=\"application/json\" id=\"opscope-data\" data-schema=\"opscope.web/1\">";
constexpr std::string_view kThemes[] = {"auto", "light", "dark"};

// Text of an element. A byte that is not UTF-8 becomes the replacement character.
std::string ElementText(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8SequenceLength(text.substr(at));
    const char c = text[at];
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c == '<' || c == '>' || c == '&') {
      out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;";
    } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
    } else {
      out.append(text, at, length);
    }
    at += std::max<size_t>(1, length);
  }
  return out;
}

// Position of a mark of the template, which the build of the page has tested.
size_t MarkIn(std::string_view page, std::string_view mark) {
  const size_t at = page.find(mark);
  OPSCOPE_CHECK(at != page.npos);
  return at;
}

}  // namespace

std::optional<PageTheme> PageThemeFromName(std::string_view name) {
  const auto found = std::find(std::begin(kThemes), std::end(kThemes), name);
  if (found == std::end(kThemes)) return std::nullopt;
  return static_cast<PageTheme>(found - std::begin(kThemes));
}

std::string HtmlPage(const PageResults& results, const PageOptions& options) {
  const std::string_view page = kPageTemplate;
  const size_t choice = MarkIn(page, kThemeChoice), after_choice = choice + kThemeChoice.size();
  const size_t title = MarkIn(page, kTitleElement), data = MarkIn(page, kDataElement) + kDataElement.size();
  OPSCOPE_CHECK(after_choice < title && title < data);
  std::string out(page.substr(0, choice));
  out.append(" data-theme-choice=\"").append(kThemes[static_cast<size_t>(options.theme)]).append("\"");
  out.append(page.substr(after_choice, title - after_choice));
  out.append("<title>").append(ElementText(PageTitle(results))).append(" - opscope</title>");
  const size_t after_title = title + kTitleElement.size();
  out.append(page.substr(after_title, data - after_title));
  const size_t rest = page.size() - data, used = out.size() + rest;
  out.append(PageDocument(results, std::max(options.max_bytes, used) - used));
  out.append(page.substr(data));
  return out;
}

}  // namespace opscope
