// The document around the events: {"key": ..., "traceEvents": [...], ...} or just [...]. Objects are
// converted one by one as the cursor passes them, so memory holds the Trace and never the document.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "import/chrome_json_number.h"
#include "import/chrome_json_rows.h"
#include "import/chrome_json_scan.h"
#include "import/importer.h"

namespace opscope {
namespace {

class ChromeDocument {
 public:
  ChromeDocument(std::string_view text, const ImportOptions& options, TraceBuilder* builder)
      : scanner_(text), bytes_(text.size()), options_(options), builder_(builder), rows_(builder) {}

  // False: the scanner failed.
  bool Read() {
    scanner_.SkipByteOrderMark();
    if (scanner_.Peek() == '[') {
      array_form_ = found_events_ = true;
      return ReadEvents() && ReadEnd();
    }
    if (scanner_.Peek() != '{') return scanner_.Fail("neither an object nor an array");
    return ReadObject() && ReadEnd();
  }

  void Finish() {
    rows_.Finish();
    builder_->info().format = "chrome-json";
  }

  const JsonScanner& scanner() const { return scanner_; }
  bool found_events() const { return found_events_; }
  bool read_whole_event() const { return events_ != 0; }
  bool holds_only_other_values() const { return events_ == 0 && other_values_ != 0; }

 private:
  bool ReadEnd() {
    if (stopped_ || scanner_.Peek() == '\0') {
      if (stopped_ || scanner_.at_end()) return true;
    }
    return scanner_.Fail("bytes after the end of the trace");
  }

  bool ReadObject() {
    scanner_.Skip(1);
    if (scanner_.Peek() == '}') {
      scanner_.Skip(1);
      return true;
    }
    while (true) {
      JsonValue key;
      if (scanner_.Peek() != '"') return scanner_.Fail("the name of a member is missing");
      if (!scanner_.ReadString(&key) || !scanner_.Expect(':', "':' is missing")) return false;
      if (key.text == "traceEvents" && scanner_.Peek() == '[') {
        found_events_ = true;
        if (!ReadEvents()) return false;
        if (stopped_) return true;
      } else if (!ReadMetadata(key)) {
        return false;
      }
      const char next = scanner_.Peek();
      if (next == '}') {
        scanner_.Skip(1);
        return true;
      }
      if (next != ',') return scanner_.Fail("',' or '}' is missing");
      scanner_.Skip(1);
    }
  }

  bool ReadMetadata(const JsonValue& key) {
    JsonValue value;
    if (!scanner_.ReadValue(&value)) return false;
    if (key.text == "baseTimeNanoseconds") {
      const auto epoch = ParseInteger(value.text);
      if (epoch) {
        builder_->info().epoch_ns = *epoch;
      } else {
        builder_->AddProblem("bad_value", static_cast<int64_t>(scanner_.offset() - value.text.size()));
      }
      return true;
    }
    if (key.text == "schemaVersion") {
      builder_->info().format_version = std::string(value.text);
      if (value.is_string()) rows_.KeepCategories();  // Paddle; Kineto writes a number
    }
    std::string name;
    AppendDecoded(&name, key.text);
    std::string json;
    AppendCleanJson(&json, value);
    builder_->AddMetadata(name, json);
    return true;
  }

  bool ReadEvents() {
    scanner_.Skip(1);
    while (true) {
      const char next = scanner_.Peek();
      // The array form may end without its bracket.
      if (array_form_ && scanner_.at_end()) return true;
      if (next == ']') {
        scanner_.Skip(1);
        return true;
      }
      if (next == '{') {
        if (!ReadChromeEvent(&scanner_, &event_)) return false;
        rows_.Add(event_);
        ++events_;
        if (IsOverLimit()) return true;
      } else {
        const auto offset = static_cast<int64_t>(scanner_.offset());
        JsonValue value;
        if (!scanner_.ReadValue(&value)) return false;
        builder_->AddProblem("unknown_event", offset);
        ++other_values_;
      }
      const char after = scanner_.Peek();
      if (after == ',') {
        scanner_.Skip(1);
      } else if (after != ']' && !(array_form_ && scanner_.at_end())) {
        return scanner_.Fail("',' or ']' is missing after an event");
      }
    }
  }

  bool IsOverLimit() {
    if (options_.max_memory == 0 || events_ % 1024 != 0) return false;
    if (bytes_ + builder_->memory_bytes() <= options_.max_memory) return false;
    builder_->AddProblem("over_memory_limit", static_cast<int64_t>(scanner_.offset()));
    stopped_ = true;
    return true;
  }

  JsonScanner scanner_;
  uint64_t bytes_;
  const ImportOptions& options_;
  TraceBuilder* builder_;
  ChromeRows rows_;
  ChromeEvent event_;
  uint64_t events_ = 0;
  uint64_t other_values_ = 0;  // elements of the array that are no objects
  bool array_form_ = false;
  bool found_events_ = false;
  bool stopped_ = false;
};

Error MalformedAt(std::string_view name, size_t offset, std::string_view what) {
  std::string message(name);
  message.append(": at byte ").append(std::to_string(offset)).append(": ").append(what);
  return {ErrorCode::kMalformed, std::move(message)};
}

}  // namespace

bool LooksLikeJson(std::span<const std::byte> text) {
  std::string_view rest{reinterpret_cast<const char*>(text.data()), text.size()};
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  const size_t start = rest.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && (rest[start] == '{' || rest[start] == '[');
}

Status ImportChromeJson(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                        TraceBuilder* builder) {
  PlainText text(bytes, false);
  return ImportChromeText(&text, name, options, builder);
}

Status ImportChromeText(TextSource* text, std::string_view name, const ImportOptions& options, TraceBuilder* builder) {
  text->Extend(SIZE_MAX);
  const std::string_view json = text->text();
  ChromeDocument document(json, options, builder);
  const bool whole = document.Read();
  const JsonScanner& scanner = document.scanner();
  if (!whole && !document.read_whole_event()) {
    const std::string_view cut = scanner.truncated() ? "the file ends: " : "";
    return MalformedAt(name, scanner.failed_offset(), std::string(cut) + scanner.complaint());
  }
  if (!document.found_events()) return MalformedAt(name, 0, "JSON without \"traceEvents\", not a Chrome trace");
  if (document.holds_only_other_values())
    return MalformedAt(name, 0, "a JSON array without events, not a Chrome trace");
  if (!whole) {
    builder->AddProblem(scanner.truncated() ? "truncated" : "syntax_error",
                        static_cast<int64_t>(scanner.failed_offset()), 1, scanner.complaint());
  }
  document.Finish();
  return {};
}

}  // namespace opscope
