// What the importers of JSON documents other than Chrome traces have in common: the scanner, the limit of memory, and
// what to say of wrong values.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/text/json_number.h"
#include "import/text/json_walk.h"
#include "opscope/import.h"
#include "opscope/result.h"
#include "trace/builder.h"

namespace opscope {

class JsonImport {
 public:
  JsonImport(TextSource* text, const ImportOptions& options, TraceBuilder* builder)
      : text_(text), scanner_(text, options.max_memory), options_(options), builder_(builder) {
    scanner_.SkipByteOrderMark();
  }

  DocumentScanner& scanner() { return scanner_; }

  // One more row was read whole; its slices end. False: over the limit of memory, which stops the walk. `waiting`:
  // bytes that the importer holds itself, and those that its rows will take in the builder.
  bool CountRow(uint64_t waiting = 0) {
    ++rows_;
    return CountItem(waiting);
  }
  // Likewise something that is no row but is kept.
  bool CountItem(uint64_t waiting = 0) {
    scanner_.Forget();
    if (++items_ % 1024 != 0) return true;
    if (options_.on_progress) options_.on_progress(text_->bytes_read(), text_->total_bytes());
    return HasRoom(waiting);
  }
  // The next CountRow or CountItem looks at the memory.
  bool is_due() const { return options_.max_memory != 0 && items_ % 1024 == 1023; }

  void BadValue(const JsonValue& value) { builder_->AddProblem("bad_value", OffsetOf(value)); }
  int64_t OffsetOf(const JsonValue& value) const { return static_cast<int64_t>(scanner_.OffsetOf(value.text)); }

  // A whole number; of anything else `otherwise`, and a problem is counted.
  int64_t Integer(const JsonValue& value, int64_t otherwise) {
    const auto number = value.is_number() ? ParseInteger(value.text) : std::nullopt;
    if (!number) BadValue(value);
    return number.value_or(otherwise);
  }
  uint64_t Unsigned(const JsonValue& value, uint64_t otherwise) {
    const auto number = value.is_number() ? ParseUnsigned(value.text) : std::nullopt;
    if (!number) BadValue(value);
    return number.value_or(otherwise);
  }

  // Reads past the value at the cursor.
  bool Skip() {
    JsonValue value;
    return scanner_.ReadValue(&value);
  }
  // Likewise, and keeps it as metadata. False also over the limit of memory.
  bool KeepAsMetadata(const JsonValue& key) {
    JsonValue value;
    if (!scanner_.ReadValue(&value)) return false;
    std::string json;
    AppendCleanJson(&json, value);
    builder_->AddMetadata(DecodedText(key), json);
    scanner_.Forget();
    return HasRoom(0);
  }

  // The answer of the importer, when `whole` is what the walk of the document answered.
  Status End(bool whole, std::string_view name) {
    if (const BadEscapes& bad = scanner_.bad_escapes(); bad.strings != 0)
      builder_->AddProblem("bad_escape", static_cast<int64_t>(bad.first), bad.strings);
    if (!is_over_limit_ && !scanner_.over_limit()) return EndOfDocument(&scanner_, whole, rows_ != 0, name, builder_);
    builder_->AddProblem("over_memory_limit", static_cast<int64_t>(scanner_.offset()));
    return {};
  }

 private:
  bool HasRoom(uint64_t waiting) {
    const uint64_t bytes = scanner_.memory_bytes() + builder_->memory_bytes() + waiting;
    is_over_limit_ = options_.max_memory != 0 && bytes > options_.max_memory;
    return !is_over_limit_;
  }

  TextSource* text_;
  DocumentScanner scanner_;
  const ImportOptions& options_;
  TraceBuilder* builder_;
  uint64_t rows_ = 0, items_ = 0;
  bool is_over_limit_ = false;
};

}  // namespace opscope
