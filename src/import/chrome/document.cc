// The document has few members; they are read one at a time through a window that doubles until one fits. It has many
// events: the caller reads the first window of them, which proves that the text is valid, then the pipeline reads
// blocks with several threads. If a block does not end at a guessed border, the caller reads on, one window at a time,
// until the text is as expected again. So a damaged file is read as exactly as an undamaged one, only slower.
//
// The writer of the file is determined last, because some writers put their metadata behind the events, and a file may
// be cut before it.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/document.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/text.h"
#include "import/text/json_number.h"
#include "import/text/json_walk.h"
#include "trace/problem_kinds.h"

namespace opscope {
namespace {

// Smallest input per thread for which starting a thread pays off.
constexpr uint64_t kBytesPerThread = uint64_t{4} << 20;
constexpr uint64_t kCompressedBytesPerThread = uint64_t{512} << 10;

// Skips a byte order mark before the document.
size_t BlanksAt(std::string_view text) {
  return std::min(text.find_first_not_of(kJsonBlanks), text.size());
}

// The limit is checked between windows, so a window must be small compared to it.
ChromeBlockSizes WithinLimit(ChromeBlockSizes sizes, const ImportOptions& options) {
  constexpr uint64_t kSmallestWindow = uint64_t{4} << 10;
  if (options.max_memory != 0)
    sizes.first =
        static_cast<size_t>(std::min<uint64_t>(sizes.first, std::max(options.max_memory / 8, kSmallestWindow)));
  return sizes;
}

bool HasLostData(const TraceBuilder& builder) {
  return std::any_of(std::begin(kProblemKinds), std::end(kProblemKinds), [&](const ProblemKind& kind) {
    return kind.severity == ProblemSeverity::kDataLoss && builder.HasProblem(kind.name);
  });
}

// Sets the kinds of spans that category and name do not determine.
void AssignKinds(const ChromeDialect& writer, TraceBuilder* builder) {
  const SpanColumns spans = builder->added_spans();
  for (uint32_t row = 0; row < spans.size(); ++row) {
    if (spans.category[row] != StringId::kEmpty || (spans.flags[row] & span_flags::kStep) != 0) continue;
    const TrackKind track = builder->track(spans.track[row]).kind;
    const StringId extra = spans.extra[row];
    const std::string_view members = extra == StringId::kNone ? std::string_view() : builder->text(extra);
    builder->SetKind(AddedSpan{row}, writer.kind_of(track, builder->text(spans.name[row]), members));
  }
}

}  // namespace

ChromeDocument::ChromeDocument(TextSource* source, const ImportOptions& options, const ChromeDialects& dialects,
                               const ChromeBlockSizes& sizes, TraceBuilder* builder)
    : source_(source),
      options_(options),
      sizes_(WithinLimit(sizes, options)),
      builder_(builder),
      conventions_{.dialects = &dialects},
      join_(dialects, builder) {
}

bool ChromeDocument::Fail(uint64_t offset, bool truncated, const char* complaint) {
  failure_ = {offset, truncated, complaint};
  return false;
}

bool ChromeDocument::IsOverLimit(uint64_t more_bytes) {
  if (options_.max_memory == 0 || stopped_) return stopped_;
  uint64_t bytes = builder_->memory_bytes() + join_.memory_bytes() + part_.memory_bytes() + source_->memory_bytes();
  if (pipeline_) bytes += pipeline_->memory_bytes();
  if (bytes + more_bytes <= options_.max_memory) return false;
  stopped_ = true;
  stopped_at_ = source_->offset();
  return true;
}

// Reading an element takes up to three times its text, so an element may have a quarter of the limit.
bool ChromeDocument::IsTooLong(size_t window) {
  if (options_.max_memory == 0) return false;
  if (window > std::max<uint64_t>(options_.max_memory / 4, 2 * sizes_.first)) return IsOverLimit(options_.max_memory);
  return IsOverLimit(0);
}

// False: the end of the text or the memory limit.
bool ChromeDocument::GrowWindow() {
  if (source_->ended()) return false;
  const size_t size = source_->text().size();
  const size_t wanted = std::max(sizes_.first, 2 * size);
  if (IsTooLong(wanted)) return false;
  source_->Extend(wanted);
  return true;
}

// Calls read(&scanner) with growing windows until it succeeds, and moves behind what it read. False: it failed.
template <typename ReadPiece>
bool ChromeDocument::Read(const ReadPiece& read) {
  while (true) {
    // There may be more blanks than fit into a window.
    source_->Take(BlanksAt(source_->text()));
    if (source_->text().empty() && GrowWindow()) continue;
    JsonScanner scanner(source_->text(), source_->offset());
    const bool ok = read(&scanner);
    const bool is_cut = scanner.at_end() || (!ok && scanner.truncated());
    if (is_cut && GrowWindow()) continue;
    if (stopped_) return true;
    if (!ok) return Fail(scanner.failed_offset(), scanner.truncated(), scanner.complaint());
    if (const BadEscapes& bad = scanner.bad_escapes(); bad.strings != 0)
      join_.Count({"bad_escape", static_cast<int64_t>(bad.first), bad.strings});
    source_->Take(static_cast<size_t>(scanner.offset() - source_->offset()));
    return true;
  }
}

bool ChromeDocument::Read() {
  source_->Extend(std::max<size_t>(sizes_.first, 3));
  if (source_->text().starts_with(kByteOrderMark)) source_->Take(kByteOrderMark.size());
  char first = '\0';
  const auto read_first = [&](JsonScanner* scanner) {
    first = scanner->Peek();
    if (first != '[' && first != '{') return scanner->Fail("neither an object nor an array");
    scanner->Skip(1);
    return true;
  };
  if (!Read(read_first)) return false;
  array_form_ = first == '[';
  found_events_ = array_form_;
  return (array_form_ ? ReadEvents() : ReadObject()) && ReadEnd();
}

bool ChromeDocument::ReadEnd() {
  bool ended = false;
  const auto read_end = [&](JsonScanner* scanner) {
    scanner->Peek();
    ended = scanner->at_end();
    return ended || scanner->Fail("bytes after the end of the trace");
  };
  return stopped_ || Read(read_end);
}

bool ChromeDocument::ReadObject() {
  bool closed = false;
  const auto read_empty = [&](JsonScanner* scanner) {
    closed = scanner->Peek() == '}';
    if (closed) scanner->Skip(1);
    return true;
  };
  const auto read_separator = [&](JsonScanner* scanner) {
    const char next = scanner->Peek();
    if (next != ',' && next != '}') return scanner->Fail("',' or '}' is missing");
    closed = next == '}';
    scanner->Skip(1);
    if (closed || scanner->Peek() != '}') return true;
    closed = true;
    scanner->Skip(1);
    return true;
  };
  if (!Read(read_empty)) return false;
  while (!closed && !stopped_) {
    const bool is_read = ReadMember() && (stopped_ || Read(read_separator));
    if (!is_read && !PassToEvents()) return false;
  }
  return true;
}

// Moves from an invalid member to the events, if they follow.
bool ChromeDocument::PassToEvents() {
  constexpr std::string_view kKey = "\"traceEvents\"";
  constexpr size_t kLongest = size_t{1} << 20;
  if (found_events_ || failure_.truncated) return false;
  size_t at = source_->text().find(kKey, 1);
  while (at == std::string_view::npos && source_->text().size() < kLongest && GrowWindow())
    at = source_->text().find(kKey, 1);
  if (at == std::string_view::npos) return false;
  join_.Count({"bad_value", static_cast<int64_t>(source_->offset()), 1});
  first_fault_ = {failure_.complaint, failure_.offset};
  source_->Take(at);
  return true;
}

bool ChromeDocument::ReadMember() {
  JsonValue key, value;
  bool is_events = false;
  uint64_t end = 0;
  const auto read_member = [&](JsonScanner* scanner) {
    if (scanner->Peek() != '"') return scanner->Fail("the name of a member is missing");
    if (!scanner->ReadString(&key) || !scanner->Expect(':', "':' is missing")) return false;
    is_events = key.text == "traceEvents" && scanner->Peek() == '[';
    if (is_events) {
      scanner->Skip(1);
      return true;
    }
    if (!scanner->ReadValue(&value)) return false;
    end = scanner->offset();
    const char next = scanner->Peek();
    if (!scanner->at_end() && next != ',' && next != '}') return scanner->Fail("',' or '}' is missing");
    if (!scanner->at_end() || source_->ended()) AddMetadata(key, value, end);
    return true;
  };
  if (!Read(read_member)) return false;
  if (!is_events || stopped_) return true;
  found_events_ = true;
  return ReadEvents();
}

void ChromeDocument::AddMetadata(const JsonValue& key, const JsonValue& value, uint64_t end_offset) {
  has_members_ = true;
  if (key.text == "baseTimeNanoseconds" || key.text == "baseTimeNanosecond") {
    const auto epoch = ParseInteger(value.text);
    if (epoch && *epoch <= kLatestNs && *epoch >= -kLatestNs) {
      builder_->info().epoch_ns = *epoch;
    } else {
      join_.Count({"bad_value", static_cast<int64_t>(end_offset - value.text.size()), 1});
    }
    return;
  }
  if (key.text == "opscope.tracks") {
    AppendCleanJson(&own_tracks_, value);
    if (!found_events_) join_.ReadRows(own_tracks_);
    return;
  }
  if (key.text == "schemaVersion") builder_->info().format_version = std::string(value.text);
  conventions_.dialects->ReadBaseTime(key.text, value, &builder_->info().epoch_ns);
  for (const ChromeDialect* dialect : conventions_.dialects->list()) {
    if (dialect->is_declared_by != nullptr && dialect->is_declared_by(key.text, value)) conventions_.declared = dialect;
  }
  std::string json;
  AppendCleanJson(&json, value);
  builder_->AddMetadata(DecodedText(key), json);
}

void ChromeDocument::Join(const ChromePart& part, const ChromeBlockEnd& end) {
  join_.Add(part);
  events_ += end.events;
  other_values_ += end.other_values;
  if (end.faults != 0 && *first_fault_.complaint == '\0') first_fault_ = end.first_fault;
  if (options_.on_progress) options_.on_progress(source_->bytes_read(), source_->total_bytes());
}

// Reads the window, at least one element. True and `ended` at the end of the array.
bool ChromeDocument::ReadEventsHere(bool* comma_due, bool* ended) {
  while (true) {
    if (source_->text().empty()) GrowWindow();
    if (stopped_) return true;
    const bool is_last = source_->ended();
    const ChromeBlock block = {{source_->text(), source_->offset(), nullptr}, *comma_due, is_last, events_ != 0};
    const ChromeBlockEnd end = reader_.Read(block, conventions_, &part_);
    Join(part_, end);
    *comma_due = end.comma_due;
    source_->Take(end.consumed);
    if (end.kind == ChromeBlockEnd::Kind::kArrayEnd) {
      source_->Take(1);
      *ended = true;
      return true;
    }
    if (end.kind == ChromeBlockEnd::Kind::kError) return Fail(end.failure.at, false, end.failure.complaint);
    if (is_last) {
      *ended = true;
      if (end.kind == ChromeBlockEnd::Kind::kCut) return Fail(end.failure.at, true, end.failure.complaint);
      // The array form may lack its closing bracket.
      return array_form_ || Fail(source_->offset(), true,
                                 end.comma_due ? "',' or ']' is missing after an event" : "a value is missing");
    }
    if (IsOverLimit(0)) return true;
    if (end.consumed != 0) return true;
    GrowWindow();
  }
}

size_t ChromeDocument::WantedThreads() const {
  if (options_.max_threads != 0) return options_.max_threads;
  if (source_->total_bytes() == 0) return DefaultThreadCount();
  const uint64_t bytes = source_->total_bytes() - std::min(source_->bytes_read(), source_->total_bytes());
  const bool is_compressed = source_->memory_bytes() != 0;
  const uint64_t useful = bytes / (is_compressed ? kCompressedBytesPerThread : kBytesPerThread);
  return std::clamp<size_t>(static_cast<size_t>(std::min<uint64_t>(useful, DefaultThreadCount())), 1,
                            DefaultThreadCount());
}

void ChromeDocument::ReadEventsByBlocks(bool* comma_due) {
  if (!pipeline_) {
    // Blocks in flight must be small compared to the memory limit.
    const size_t threads = WantedThreads();
    const uint64_t limit = options_.max_memory == 0 ? UINT64_MAX : options_.max_memory / 4;
    const auto block = static_cast<size_t>(
        std::min<uint64_t>(sizes_.block, std::max<uint64_t>(limit / (16 * threads), uint64_t{16} << 10)));
    pipeline_ = std::make_unique<ChromePipeline>(source_, threads, block, limit);
  }
  pipeline_->Run(
      conventions_,
      [&](const ChromePart& part, const ChromeBlockEnd& end) {
        Join(part, end);
        return !IsOverLimit(0);
      },
      comma_due);
}

bool ChromeDocument::ReadEvents() {
  bool ended = false, comma_due = false;
  const uint64_t first = source_->offset();
  while (true) {
    if (!ReadEventsHere(&comma_due, &ended)) return false;
    if (ended || stopped_) return true;
    const bool is_worth_it = source_->offset() - first >= sizes_.first;
    if (is_worth_it && events_ != 0 && !comma_due && !source_->ended()) ReadEventsByBlocks(&comma_due);
    if (stopped_) return true;
  }
}

void ChromeDocument::AddProblems() {
  join_.AddProblems();
  if (stopped_) builder_->AddProblem("over_memory_limit", static_cast<int64_t>(stopped_at_));
}

// A file in Kineto's form has a schemaVersion, also an export by opscope of another tool's recording. Evidence that is
// only possible counts if metadata behind the events may have been lost.
bool ChromeDocument::IsShownByEvents(ChromeEvidence evidence) const {
  if (evidence == ChromeEvidence::kCertain) return builder_->info().format_version.empty();
  return evidence == ChromeEvidence::kPossible && !array_form_ && !has_members_ && HasLostData(*builder_);
}

// kPlainChrome if no dialect recognises the file.
const ChromeDialect& ChromeDocument::FindWriter() {
  const std::span<const ChromeDialect* const> dialects = conventions_.dialects->list();
  if (!options_.format.empty()) return conventions_.dialects->Named(options_.format);
  for (size_t i = 0; i < dialects.size(); ++i) {
    const ChromeFile file{.builder = builder_, .shown_by_events = IsShownByEvents(join_.evidence()[i])};
    if (dialects[i]->is_writer != nullptr && dialects[i]->is_writer(file)) return *dialects[i];
  }
  return kPlainChrome;
}

void ChromeDocument::Finish() {
  pipeline_.reset();
  if (!join_.Finish(own_tracks_)) builder_->AddProblem("bad_value", -1, 1, "opscope.tracks");
  const ChromeDialect& writer = FindWriter();
  builder_->info().format = writer.format;
  if (writer.kind_of != nullptr) AssignKinds(writer, builder_);
  const ChromePairs::Replaced& replaced = join_.replaced();
  if (writer.ends_repeat_begins && replaced.count != 0)
    builder_->AddProblem("bad_value", replaced.first_offset, replaced.count);
  if (writer.finish != nullptr) writer.finish(builder_);
}

}  // namespace opscope
