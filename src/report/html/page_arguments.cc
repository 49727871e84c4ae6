// Collects the arguments of kept spans in the order of the trace. Texts go into an interner of its own first: those of
// a collection that turns out too large must not stay in the page, and another thread may be adding to the texts of the
// page. Only then spans are sorted by length and the longest ones chosen, and the arguments of these collected anew.
// SPDX-License-Identifier: Apache-2.0
#include "report/html/page_arguments.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "base/json_members.h"
#include "base/json_object.h"
#include "base/text_interner.h"

namespace opscope {
namespace {

// About what a row with a text takes in compressed columns.
constexpr size_t kTextRowBytes = 4;
// Most keys with columns of their own; the integers of further ones are texts.
constexpr size_t kMaxIntegerKeys = 64;

// A key between its quotes as a text; keys with escapes are rare and stay as they are spelt, but for quotes.
std::string_view DecodeKey(std::string_view quoted, std::string* key) {
  if (quoted.find('\\') == quoted.npos) return quoted;
  key->clear();
  for (size_t at = 0; at < quoted.size(); ++at) {
    const bool is_escape = quoted[at] == '\\' && at + 1 < quoted.size() &&
                           (quoted[at + 1] == '"' || quoted[at + 1] == '\\' || quoted[at + 1] == '/');
    if (is_escape) ++at;
    *key += quoted[at];
  }
  return *key;
}

// The value of an integer below 10^15 that is spelt as JavaScript spells it.
std::optional<int64_t> PlainInteger(std::string_view json) {
  const bool is_negative = json.starts_with('-');
  const std::string_view digits = json.substr(is_negative ? 1 : 0);
  if (digits.empty() || digits.size() > 15 || (digits[0] == '0' && json.size() > 1)) return std::nullopt;
  int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return is_negative ? -value : value;
}

}  // namespace

class ArgumentCollector {
 public:
  explicit ArgumentCollector(const PageResults& results)
      : results_(results), list_numbers_(results.trace->argument_list_count(), kNoList) {}

  // About the length of everything in the page.
  size_t bytes() const { return bytes_ + eighths_ / 8; }

  // In any order if they are only measured, ascending if they are moved to a page.
  void Add(uint32_t kept, uint32_t span) {
    const ArgsId id = results_.trace->spans().args[span];
    if (id != ArgsId::kNone && Row(id) < list_numbers_.size()) AddList(kept, id);
    members_.clear();
    own_.clear();
    if (results_.append_arguments) results_.append_arguments(span, &own_, &members_);
    for (const IntegerArgument& argument : own_) {
      if (const size_t column = ColumnOf(argument.key); column != kNoColumn) {
        AddTo(column, kept, argument.value);
      } else {
        const uint32_t key = Text(argument.key);
        texts_of_spans_.push_back({kept, key, Text(std::to_string(argument.value))});
        bytes_ += kTextRowBytes;
      }
    }
    for (const ParsedMember& member : Members()) {
      if (member.column != kNoColumn) {
        AddTo(member.column, kept, member.value);
      } else {
        texts_of_spans_.push_back({kept, member.key, static_cast<uint32_t>(member.value)});
        bytes_ += kTextRowBytes;
      }
    }
  }

  bool HasArguments(uint32_t span) {
    if (results_.trace->spans().args[span] != ArgsId::kNone) return true;
    members_.clear();
    own_.clear();
    if (results_.append_arguments) results_.append_arguments(span, &own_, &members_);
    return !own_.empty() || !members_.empty();
  }

  void MoveTo(PageArguments* to, PageStrings* strings) {
    std::vector<uint32_t> numbers;
    for (uint32_t i = 0; i < texts_.size(); ++i)
      numbers.push_back(strings->Of(texts_.text(i)));
    for (const auto& [kept, key, value] : texts_of_spans_) {
      to->span_.Add(kept);
      to->key_.Add(numbers[key]);
      to->value_.Add(numbers[value]);
    }
    for (const auto& [list, key, value] : texts_of_lists_) {
      to->row_list_.Add(list);
      to->row_key_.Add(numbers[key]);
      to->row_value_.Add(numbers[value]);
    }
    to->list_span_ = std::move(list_span_);
    to->list_ = std::move(list_);
    to->integers_ = std::move(integers_);
    for (PageArguments::Integers& integers : to->integers_)
      integers.key = numbers[integers.key];
  }

 private:
  static constexpr uint32_t kNoList = 0xffffffff;
  static constexpr size_t kNoColumn = SIZE_MAX;
  struct TextRow {
    uint32_t owner, key, value;  // a kept span or a list, numbers in texts_
  };
  struct ParsedMember {
    size_t column;  // in integers_; kNoColumn: a text
    uint32_t key;   // number in texts_, of a text
    int64_t value;  // the integer, or a number in texts_
  };

  uint32_t Text(std::string_view text) {
    const uint32_t before = texts_.size(), number = texts_.Add(text);
    if (texts_.size() > before) bytes_ += text.size() + 3;
    return number;
  }

  void AddList(uint32_t kept, ArgsId id) {
    uint32_t& number = list_numbers_[Row(id)];
    if (number == kNoList) {
      number = lists_++;
      members_.clear();
      if (results_.append_argument_list) results_.append_argument_list(id, &members_);
      ForEachJsonMember(members_, [&](std::string_view quoted, std::string_view value) {
        texts_of_lists_.push_back({number, Text(DecodeKey(quoted, &key_)), Text(value)});
        bytes_ += kTextRowBytes;
        return true;
      });
    }
    AddMeasured(kept, &list_span_);
    AddMeasured(number, &list_);
  }

  // The members that the text members_ has. Texts recur with every step of a program, so they are parsed once, and a
  // cache of at most about kMostBytes keeps the result.
  std::span<const ParsedMember> Members() {
    if (members_.empty()) return {};
    constexpr size_t kMostBytes = size_t{4} << 20;
    if (cache_bytes_ > kMostBytes) {
      cached_texts_.Clear();
      first_member_.clear();
      cached_members_.clear();
      cache_bytes_ = 0;
    }
    const uint32_t number = cached_texts_.Add(members_);
    if (number == first_member_.size()) ParseMembers();
    const size_t end = number + 1 < first_member_.size() ? first_member_[number + 1] : cached_members_.size();
    return std::span(cached_members_).subspan(first_member_[number], end - first_member_[number]);
  }

  void ParseMembers() {
    const size_t begin = cached_members_.size();
    first_member_.push_back(begin);
    ForEachJsonMember(members_, [&](std::string_view quoted, std::string_view value) {
      const std::string_view key = DecodeKey(quoted, &key_);
      const std::optional<int64_t> integer = PlainInteger(value);
      const size_t column = integer ? ColumnOf(key) : kNoColumn;
      if (column != kNoColumn) {
        cached_members_.push_back({column, 0, *integer});
      } else {
        const uint32_t key_text = Text(key);
        cached_members_.push_back({kNoColumn, key_text, Text(value)});
      }
      return true;
    });
    cache_bytes_ += members_.size() + (cached_members_.size() - begin) * sizeof(ParsedMember);
  }

  // Index in integers_; kNoColumn: there are too many keys.
  size_t ColumnOf(std::string_view key) {
    for (size_t at = 0; at < keys_.size(); ++at) {
      if (keys_[at] == key) return at;
    }
    if (keys_.size() == kMaxIntegerKeys) return kNoColumn;
    const uint32_t text = Text(key);
    keys_.push_back(texts_.text(text));
    integers_.push_back({.key = text});
    return keys_.size() - 1;
  }

  void AddTo(size_t column, uint32_t kept, int64_t value) {
    PageArguments::Integers& integers = integers_[column];
    AddMeasured(kept, &integers.span);
    AddMeasured(value, &integers.value);
  }

  // Compression leaves about an eighth of differences of one byte, and most of longer ones.
  void AddMeasured(int64_t value, IntegerColumn* column) {
    const size_t before = column->raw_bytes();
    column->Add(value);
    eighths_ += (column->raw_bytes() - before - 1) * 8 + 1;
  }

  const PageResults& results_;
  TextInterner texts_;
  std::vector<uint32_t> list_numbers_;  // by ArgsId
  uint32_t lists_ = 0;
  IntegerColumn list_span_{IntegerColumn::kDeltas}, list_;
  std::vector<TextRow> texts_of_lists_, texts_of_spans_;
  std::vector<std::string_view> keys_;  // of integers_
  std::vector<PageArguments::Integers> integers_;
  std::vector<IntegerArgument> own_;
  std::string members_, key_;
  TextInterner cached_texts_;         // each the members of a span as JSON
  std::vector<size_t> first_member_;  // by number in cached_texts_: where its members begin in cached_members_
  std::vector<ParsedMember> cached_members_;
  size_t cache_bytes_ = 0;
  size_t bytes_ = 0, eighths_ = 0;
};

PageArguments::PageArguments(const PageResults& results, std::span<const uint32_t> kept, size_t max_bytes) {
  if (CollectAll(results, kept, max_bytes)) return;
  const SpanColumns& spans = results.trace->spans();
  std::vector<uint32_t> by_length(kept.size());
  std::iota(by_length.begin(), by_length.end(), 0u);
  std::stable_sort(by_length.begin(), by_length.end(),
                   [&](uint32_t a, uint32_t b) { return spans.duration[kept[a]] > spans.duration[kept[b]]; });
  ptrdiff_t fitting = 0;
  {
    ArgumentCollector longest(results);
    // All of them may fit in this order although they did not in the other: the columns of values are differences.
    for (; longest.bytes() <= max_bytes && fitting < std::ssize(by_length); ++fitting)
      longest.Add(by_length[static_cast<size_t>(fitting)], kept[by_length[static_cast<size_t>(fitting)]]);
  }
  std::sort(by_length.begin(), by_length.begin() + fitting);
  collected_ = std::make_unique<ArgumentCollector>(results);
  for (const uint32_t number : std::span(by_length).first(static_cast<size_t>(fitting)))
    collected_->Add(number, kept[number]);
  for (const uint32_t number : std::span(by_length).subspan(static_cast<size_t>(fitting)))
    left_out_ += collected_->HasArguments(kept[number]) ? 1 : 0;
}

PageArguments::~PageArguments() = default;

void PageArguments::AddTexts(PageStrings* strings) {
  collected_->MoveTo(this, strings);
  collected_.reset();
}

// False: they are larger than max_bytes, and nothing was collected.
bool PageArguments::CollectAll(const PageResults& results, std::span<const uint32_t> kept, size_t max_bytes) {
  auto all = std::make_unique<ArgumentCollector>(results);
  for (uint32_t number = 0; number < kept.size(); ++number) {
    all->Add(number, kept[number]);
    if (all->bytes() > max_bytes) return false;
  }
  collected_ = std::move(all);
  return true;
}

void PageArguments::AddColumns(std::vector<IntegerColumn*>* columns) {
  for (IntegerColumn* column : {&span_, &key_, &value_, &list_span_, &list_, &row_list_, &row_key_, &row_value_})
    columns->push_back(column);
  for (Integers& integers : integers_)
    columns->insert(columns->end(), {&integers.span, &integers.value});
}

void PageArguments::AppendJson(std::string* out) const {
  JsonObject object(out);
  span_.AppendJson(&object.Key("span"));
  key_.AppendJson(&object.Key("key"));
  value_.AppendJson(&object.Key("value"));
  object.Key("lists");
  JsonObject lists(out);
  list_span_.AppendJson(&lists.Key("span"));
  list_.AppendJson(&lists.Key("list"));
  row_list_.AppendJson(&lists.Key("row_list"));
  row_key_.AppendJson(&lists.Key("row_key"));
  row_value_.AppendJson(&lists.Key("row_value"));
  lists.Close();
  object.Key("integers").append("[");
  for (const Integers& integers : integers_) {
    if (out->back() != '[') *out += ',';
    JsonObject one(out);
    one.Uint("key", integers.key);
    integers.span.AppendJson(&one.Key("span"));
    integers.value.AppendJson(&one.Key("value"));
    one.Close();
  }
  *out += ']';
  object.Uint("left_out", left_out_);
  object.Close();
}

}  // namespace opscope
