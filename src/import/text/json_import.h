// Shared by the importers of JSON documents other than Chrome traces: the scanner, the memory limit, and the problem
// rows for wrong values.
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
#include "import/text/malformed.h"
#include "import/text/resync.h"
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

  // Counts a complete row. False: the memory limit is exceeded, which ends the walk. `waiting`: bytes that the importer
  // holds, and those that its rows will take in the builder.
  bool CountRow(uint64_t waiting = 0) {
    ++rows_;
    return CountItem(waiting);
  }
  // The same for a value that is stored but is not a row.
  bool CountItem(uint64_t waiting = 0) {
    if (++items_ % 1024 != 0) return true;
    if (options_.on_progress) options_.on_progress(text_->bytes_read(), text_->total_bytes());
    return HasRoom(waiting);
  }
  // Makes the next CountRow or CountItem check the memory.
  bool is_due() const { return options_.max_memory != 0 && items_ % 1024 == 1023; }

  void BadValue(const JsonValue& value) { builder_->AddProblem("bad_value", OffsetOf(value)); }
  int64_t OffsetOf(const JsonValue& value) const { return static_cast<int64_t>(scanner_.OffsetOf(value.text)); }

  // Reads a whole number. Any other value counts as a problem and gives `otherwise`.
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

  // Reads the value at the cursor and drops it.
  bool Skip() {
    JsonValue value;
    return scanner_.ReadValue(&value);
  }
  // The same for a value of a wrong type, which counts as a problem.
  bool SkipBadValue() {
    JsonValue value;
    if (!scanner_.ReadValue(&value)) return false;
    BadValue(value);
    return true;
  }

  // Reads a value and stores it as metadata. False also if the memory limit is exceeded.
  bool KeepAsMetadata(const JsonValue& key) {
    JsonValue value;
    if (!scanner_.ReadValue(&value)) return false;
    std::string json;
    AppendCleanJson(&json, value);
    builder_->AddMetadata(DecodedText(key), json);
    scanner_.Forget();
    return HasRoom(0);
  }

  // Reads and drops a value in a list of rows that is not a row, and counts it.
  bool SkipStray() {
    JsonValue value;
    if (!scanner_.ReadValue(&value)) return false;
    if (scanner_.Peek() == ':') return scanner_.Fail("a member stands outside of any row");
    builder_->AddProblem("unknown_event", OffsetOf(value));
    return true;
  }

  // To be called after a walk failed within a row: counts the fault and moves the cursor to the next row, see
  // DocumentScanner::PassFault. False: reading cannot continue. find(text, is_whole, most_bytes). The skipped text was
  // a row if it contains one of the bytes `marks`.
  template <typename Find>
  bool PassFault(const Find& find, std::string_view marks, ResyncPoint* found) {
    if (is_over_limit_ || scanner_.row() == DocumentScanner::kNoRow) return false;
    const uint64_t row = scanner_.row();
    const Fault fault = {scanner_.failed_offset(), scanner_.complaint()};
    const size_t most = rows_ != 0 ? kLongestFault : kLongestFirstFault;
    const auto find_here = [&](std::string_view text, bool is_whole) { return find(text, is_whole, most); };
    if (!scanner_.PassFault(find_here, found)) return false;
    if (faults_++ == 0) first_fault_ = fault;
    was_row_ = row != scanner_.from() || scanner_.passed().find_first_of(marks) != std::string_view::npos;
    builder_->AddProblem(was_row_ ? "faulty_event" : "stray_text", static_cast<int64_t>(row));
    return true;
  }
  bool PassFault(RowTest* test, ResyncPoint* found, std::string_view marks = "{:") {
    const auto find = [test](std::string_view text, bool is_whole, size_t most) {
      return FindNextRow(text, is_whole, most, test);
    };
    return PassFault(find, marks, found);
  }

  bool was_row() const { return was_row_; }  // the last text that PassFault skipped was a row

  // The importer's result. `whole`: the result of the walk over the document.
  Status End(bool whole, std::string_view name) {
    if (const BadEscapes& bad = scanner_.bad_escapes(); bad.strings != 0)
      builder_->AddProblem("bad_escape", static_cast<int64_t>(bad.first), bad.strings);
    const bool is_stopped = is_over_limit_ || scanner_.over_limit();
    if (!is_stopped && rows_ == 0 && faults_ != 0)
      return MalformedAt(name, first_fault_.offset, first_fault_.complaint);
    if (!is_stopped) return EndOfDocument(&scanner_, whole, rows_ != 0, name, builder_);
    builder_->AddProblem("over_memory_limit", static_cast<int64_t>(scanner_.offset()));
    return {};
  }

 private:
  struct Fault {
    uint64_t offset = 0;
    const char* complaint = "";
  };
  bool HasRoom(uint64_t waiting) {
    const uint64_t bytes = scanner_.memory_bytes() + builder_->memory_bytes() + waiting;
    is_over_limit_ = options_.max_memory != 0 && bytes > options_.max_memory;
    return !is_over_limit_;
  }

  TextSource* text_;
  DocumentScanner scanner_;
  const ImportOptions& options_;
  TraceBuilder* builder_;
  uint64_t rows_ = 0, items_ = 0, faults_ = 0;
  Fault first_fault_;
  bool was_row_ = false, is_over_limit_ = false;
};

}  // namespace opscope
