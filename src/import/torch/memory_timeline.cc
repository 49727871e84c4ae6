// Memory timelines as torch.profiler's and opscope's export_memory_timeline write them.
//
//   raw (*.raw.json.gz)   [[ns, action, bytes, category], ...]    action: 1 was there, 2 made, 3 new version, 4 freed
//   *.json, *.json.gz     [[us, us, ...], [[0, bytes of category 0, ..., of category 7], ...]]
//
// Both become samples of the counter "Memory", one series per category, wherever a category changes. Raw rows that
// create or free memory also become allocations, without an address; a new version of a tensor only moves bytes from
// its old category to its new one. Memory from before the recording has the time -1 and is shown at the first time.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/saturating.h"
#include "base/text.h"
#include "import/text/json_import.h"
#include "import/torch/importer.h"

namespace opscope {
namespace {

constexpr size_t kCategories = 8;
constexpr size_t kHead = size_t{64} << 10;  // enough to distinguish the two forms
constexpr std::string_view kNames[kCategories] = {"PARAMETER",  "OPTIMIZER_STATE", "INPUT",           "TEMPORARY",
                                                  "ACTIVATION", "GRADIENT",        "AUTOGRAD_DETAIL", "Unknown"};
constexpr std::string_view kActions[] = {"", "preexisting", "create", "increment_version", "destroy"};
constexpr int64_t kFaultyTime = INT64_MIN;  // a time that could not be read
constexpr int64_t kIncrementVersion = 3, kDestroy = 4;

// Whether a row of four numbers follows the faulty list with which `text` begins.
bool IsRowBehind(std::string_view text) {
  const size_t next = text.find('[', 1);
  if (next == std::string_view::npos) return false;
  JsonScanner scanner(text.substr(next));
  size_t count = 0;
  const bool whole = WalkArray(&scanner, [&] {
    JsonValue value;
    return ++count <= 4 && scanner.ReadValue(&value) && value.kind != JsonValue::Kind::kArray;
  });
  return whole && count == 4;
}

class TimelineDocument {
 public:
  TimelineDocument(TextSource* text, const ImportOptions& options, TraceBuilder* builder)
      : json_(text, options, builder), scanner_(json_.scanner()), builder_(builder) {}

  Status Import(std::string_view name) {
    bool whole = scanner_.Expect('[', "'[' is missing") && ReadItems();
    ResyncPoint found;
    while (!whole && PassFault(&found))
      whole = ContinueList() && ReadItems();
    OPSCOPE_TRY(json_.End(whole, name));
    if (!is_raw_ && samples_ < times_.size() && whole) builder_->AddProblem("bad_value", -1, times_.size() - samples_);
    Finish();
    return {};
  }

 private:
  struct Row {
    int64_t time = 0, bytes = 0;
    uint8_t action = 0, category = 0;
  };

  enum class List : uint8_t { kItems, kTimes, kSamples };

  // Reads the rows, or the two lists.
  bool ReadItems() {
    list_ = List::kItems;
    return ContinueRows(&scanner_, '[', [&] {
      if (items_++ == 0) is_raw_ = IsRaw();
      if (is_raw_) return ReadRow();
      if (scanner_.Peek() != '[' || items_ > 2) return json_.Skip();
      scanner_.Skip(1);
      list_ = items_ == 1 ? List::kTimes : List::kSamples;
      const bool is_read = ContinueList();
      list_ = is_read ? List::kItems : list_;
      return is_read;
    });
  }

  // Reads on within the list where reading stopped.
  bool ContinueList() {
    if (list_ == List::kItems) return true;
    return list_ == List::kTimes ? ReadTimes() : ReadSamples();
  }

  bool PassFault(ResyncPoint* found) {
    if (list_ != List::kTimes) {
      if (!json_.PassFault(FindNextNumbers, "0123456789", found)) return false;
      if (list_ == List::kSamples && json_.was_row()) ++samples_, ++faulty_samples_;
      return true;
    }
    if (!json_.PassFault(FindNextNumber, "0123456789aeiou", found)) return false;
    times_.push_back(kFaultyTime);  // keeps the index of the sample
    return true;
  }

  // The first item determines the form: a row has four numbers and is followed by another row or the end, the list of
  // times is followed by the list of lists of sizes.
  bool IsRaw() {
    JsonScanner ahead = scanner_.Ahead(kHead);
    if (ahead.Peek() != '[') return false;
    const std::string_view text = ahead.rest();
    size_t count = 0;
    const bool whole = WalkArray(&ahead, [&] {
      JsonValue value;
      return ahead.Peek() != '[' && ++count <= 5 && ahead.ReadValue(&value);
    });
    if (!whole && count <= 5) return IsRowBehind(text);
    if (!whole || count != 4) return false;
    if (ahead.Peek() != ',') return true;
    while (ahead.Peek() == ',')
      ahead.Skip(1);
    if (ahead.Peek() != '[') return true;
    ahead.Skip(1);
    return ahead.Peek() != '[';
  }

  // Reads the numbers of the array at the cursor; NaN and other values are counted and become 0. Of an array longer
  // than a row only the first numbers are read. False: the scanner failed.
  bool ReadNumbers(std::vector<int64_t>* numbers) {
    constexpr size_t kMaxNumbers = kCategories + 2;
    numbers->clear();
    const char first = scanner_.Peek();
    if ((first >= '0' && first <= '9') || first == '-') return scanner_.Fail("a number stands outside of any row");
    if (first != '[') return json_.SkipBadValue();
    scanner_.Skip(1);
    if (scanner_.Peek() == ',') scanner_.Skip(1);
    while (true) {
      char next = scanner_.Peek();
      if (next == ']') break;
      if (next == '[') return scanner_.Fail("a list within a row");
      JsonValue value;
      if (!scanner_.ReadValue(&value)) return false;
      if (numbers->size() < kMaxNumbers) numbers->push_back(Whole(value));
      next = scanner_.Peek();
      if (next != ']' && next != ',') return scanner_.Fail("',' or ']' is missing");
      if (next == ',') scanner_.Skip(1);
    }
    scanner_.Skip(1);
    return true;
  }

  // Times of older versions have a fraction.
  int64_t Whole(const JsonValue& value) {
    if (value.is_number() && value.text.find_first_of(".eE") != std::string_view::npos) {
      const auto number = ParseDouble(value);
      if (number && *number > -9e18 && *number < 9e18) return static_cast<int64_t>(*number);
    }
    return json_.Integer(value, 0);
  }

  bool ReadRow() {
    const auto offset = static_cast<int64_t>(scanner_.offset());
    if (!ReadNumbers(&numbers_)) return false;
    if (numbers_.size() != 4 || numbers_[1] < 1 || numbers_[1] > kDestroy || numbers_[0] > kLatestNs) {
      builder_->AddProblem("unknown_event", offset);
      return true;
    }
    const int64_t category = numbers_[3] < 0 || numbers_[3] >= int64_t{kCategories} ? kCategories - 1 : numbers_[3];
    rows_.push_back({numbers_[0], numbers_[2], static_cast<uint8_t>(numbers_[1]), static_cast<uint8_t>(category)});
    constexpr uint64_t kLater = sizeof(AllocationRow) + sizeof(InstantRow) + sizeof(CounterRow);
    return json_.CountRow(rows_.capacity() * sizeof(Row) + rows_.size() * kLater);
  }

  bool ReadTimes() {
    return ContinueRows(&scanner_, '\0', [&] {
      JsonValue value;
      if (!scanner_.ReadValue(&value)) return false;
      const char next = scanner_.Peek();
      if (next != ',' && next != ']') return scanner_.Fail("',' or ']' is missing");
      times_.push_back(Whole(value));
      return json_.CountItem(times_.capacity() * sizeof(int64_t));
    });
  }

  bool ReadSamples() {
    return ContinueRows(&scanner_, '[', [&] {
      const auto offset = static_cast<int64_t>(scanner_.offset());
      if (!ReadNumbers(&numbers_)) return false;
      if (numbers_.size() != kCategories + 1 || samples_ >= times_.size()) {
        builder_->AddProblem("unknown_event", offset);
        return true;
      }
      const int64_t time = times_[samples_++];
      if (time == kFaultyTime) return json_.CountRow();
      if (!has_epoch_) epoch_ns_ = Thousandfold(time);
      has_epoch_ = true;
      const Timestamp at = {Thousandfold(time) - epoch_ns_};
      for (size_t i = 0; i < kCategories; ++i)
        now_[i] = numbers_[i + 1];
      AddSamples(at);
      return json_.CountRow();
    });
  }

  static int64_t Thousandfold(int64_t time_us) { return std::clamp<int64_t>(time_us, 0, kLatestNs / 1000) * 1000; }

  void MakeTrack() {
    const ProcessId process = builder_->AddProcess({.name = builder_->Intern("memory timeline")});
    track_ = builder_->AddTrack({.process = process, .kind = TrackKind::kOther});
    counter_ = builder_->Intern("Memory"), memory_ = builder_->Intern("[memory]");
    instant_category_ = builder_->Intern("cpu_instant_event");
    for (size_t i = 0; i < kCategories; ++i)
      names_[i] = builder_->Intern(kNames[i]);
  }

  void AddSamples(Timestamp time) {
    if (track_ == TrackId::kNone) MakeTrack();
    for (size_t i = 0; i < kCategories; ++i) {
      if (now_[i] == shown_[i]) continue;
      shown_[i] = now_[i];
      builder_->AddCounter({.time = time,
                            .name = counter_,
                            .series = names_[i],
                            .track = track_,
                            .value = static_cast<double>(now_[i])});
    }
  }

  void AddAllocation(const Row& row, Timestamp time) {
    builder_->AddAllocation({.time = time, .track = track_, .bytes = row.bytes});
    const std::string extra = "\"Category\": \"" + std::string(kNames[row.category]) + "\", \"Action\": \"" +
                              std::string(kActions[row.action]) + "\"";
    builder_->AddInstant({.time = time,
                          .name = memory_,
                          .category = instant_category_,
                          .track = track_,
                          .extra = builder_->Intern(extra)});
  }

  void AddRows() {
    int64_t first = INT64_MAX;
    for (const Row& row : rows_) {
      if (row.time >= 0) first = std::min(first, row.time);
    }
    epoch_ns_ = first == INT64_MAX ? 0 : first;
    MakeTrack();
    const auto time_of = [&](const Row& row) { return Timestamp{row.time < 0 ? 0 : row.time - epoch_ns_}; };
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      now_[row.category] = WrappingAdd(now_[row.category], row.bytes);
      if (row.action != kIncrementVersion) AddAllocation(row, time_of(row));
      if (i + 1 == rows_.size() || time_of(rows_[i + 1]) != time_of(row)) AddSamples(time_of(row));
    }
  }

  void Finish() {
    if (!rows_.empty()) AddRows();
    TraceInfo& info = builder_->info();
    info.format = "torch-memory-timeline";
    info.format_version = is_raw_ ? "raw" : "";
    info.epoch_ns = epoch_ns_;
    info.recorded = rows_.size() + samples_ - faulty_samples_;
  }

  JsonImport json_;
  DocumentScanner& scanner_;
  TraceBuilder* builder_;
  bool is_raw_ = false;
  List list_ = List::kItems;  // the list that is being read
  size_t items_ = 0;
  std::vector<Row> rows_;
  std::vector<int64_t> times_, numbers_;
  size_t samples_ = 0, faulty_samples_ = 0;
  int64_t epoch_ns_ = 0;
  bool has_epoch_ = false;
  std::array<int64_t, kCategories> now_{}, shown_{};
  std::array<StringId, kCategories> names_{};
  StringId counter_ = StringId::kNone, memory_ = StringId::kNone, instant_category_ = StringId::kNone;
  TrackId track_ = TrackId::kNone;
};

// For a list with a fault: whether it may begin with a number, and is followed by a row or the list of samples.
bool IsFaultyList(std::string_view list) {
  const size_t first = list.find_first_not_of(" \t\r\n,", 1);
  if (first == std::string_view::npos || std::string_view("[]{\"").find(list[first]) != std::string_view::npos)
    return false;
  const size_t next = list.find('[', 1);
  if (next == std::string_view::npos) return false;
  const size_t inner = list.find_first_not_of(kJsonBlanks, next + 1);
  return IsRowBehind(list) || (inner != std::string_view::npos && list[inner] == '[');
}

}  // namespace

// A row, or a list of times followed by a list, as far as the head reaches.
bool LooksLikeMemoryTimeline(std::span<const std::byte> head) {
  JsonScanner scanner(AsText(head));
  scanner.SkipByteOrderMark();
  if (scanner.Peek() != '[') return false;
  scanner.Skip(1);
  if (scanner.Peek() == ',') scanner.Skip(1);
  if (scanner.Peek() != '[') return false;
  const std::string_view first_list = scanner.rest();
  size_t count = 0;
  const bool is_list = WalkArray(&scanner, [&] {
    JsonValue value;
    return ++count > 0 && scanner.ReadValue(&value) && (value.is_number() || value.kind == JsonValue::Kind::kNotFinite);
  });
  if (!is_list && !scanner.at_end() && count > 0) return IsFaultyList(first_list);
  if (!is_list) return count > 0 && scanner.at_end();
  if (scanner.Peek() != ',') return count == 4 || scanner.at_end();
  while (scanner.Peek() == ',')
    scanner.Skip(1);
  const char behind = scanner.Peek();
  if (count == 4 && behind >= '0' && behind <= '9') return true;  // the row has lost its bracket
  if (behind != '[') return scanner.at_end();
  scanner.Skip(1);
  const char next = scanner.Peek();
  return count == 4 || next == '[' || next == ']' || scanner.at_end();
}

Status ImportMemoryTimeline(TextSource* text, std::string_view name, const ImportOptions& options,
                            TraceBuilder* builder) {
  return TimelineDocument(text, options, builder).Import(name);
}

}  // namespace opscope
