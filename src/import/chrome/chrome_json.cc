// The entry points of the Chrome JSON importer, and the result for damaged documents.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/text.h"
#include "import/chrome/document.h"
#include "import/chrome/importer.h"
#include "import/text/malformed.h"
#include "import/text/text_source.h"

namespace opscope {
bool LooksLikeJson(std::span<const std::byte> head) {
  std::string_view rest = AsText(head);
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  const size_t start = rest.find_first_not_of(kJsonBlanks);
  return start != std::string_view::npos && (rest[start] == '{' || rest[start] == '[');
}

Status ImportChromeText(TextSource* text, std::string_view name, const ImportOptions& options,
                        const ChromeDialects& dialects, TraceBuilder* builder) {
  return ImportChromeText(text, name, options, dialects, ChromeBlockSizes{}, builder);
}

Status ImportChromeText(TextSource* text, std::string_view name, const ImportOptions& options,
                        const ChromeDialects& dialects, const ChromeBlockSizes& sizes, TraceBuilder* builder) {
  ChromeDocument document(text, options, dialects, sizes, builder);
  const bool whole = document.Read();
  const ChromeDocument::Failure& failure = document.failure();
  if (!whole && !document.read_whole_event()) {
    const std::string_view cut = failure.truncated ? "the file ends: " : "";
    return MalformedAt(name, failure.offset, std::string(cut) + failure.complaint);
  }
  if (document.is_over_limit() && !document.read_whole_event()) {
    return MalformedAt(name, text->offset(), "memory ends before the first whole event: see the memory limit");
  }
  if (!document.found_events()) return MalformedAt(name, 0, "JSON without \"traceEvents\", not a Chrome trace");
  if (!document.read_whole_event() && *document.first_fault().complaint != '\0')
    return MalformedAt(name, document.first_fault().at, document.first_fault().complaint);
  if (document.holds_only_other_values())
    return MalformedAt(name, 0, "a JSON array without events, not a Chrome trace");
  document.AddProblems();
  if (!whole) {
    builder->AddProblem(failure.truncated ? "truncated" : "syntax_error", static_cast<int64_t>(failure.offset), 1,
                        failure.complaint);
  }
  document.Finish();
  return {};
}

}  // namespace opscope
