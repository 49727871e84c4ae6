// Recursive descent over  or := and {"or" and};  and := part {"and" part};  part := "not" part | "(" or ")" |
// comparison. Every rule returns the index of its node, or kNone after an error; children precede their parents in the
// list. A bound on nesting keeps hostile input from exhausting the stack.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/span_filter_parser.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/decimal.h"

namespace opscope {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr int kMaxNesting = 100;
constexpr std::string_view kSpace = " \t\r\n";

constexpr std::pair<std::string_view, FilterField> kFields[] = {
    {"name", FilterField::kName},         {"category", FilterField::kCategory},
    {"kind", FilterField::kKind},         {"overload", FilterField::kOverload},
    {"thread", FilterField::kThread},     {"process", FilterField::kProcess},
    {"duration", FilterField::kDuration}, {"start", FilterField::kStart},
    {"depth", FilterField::kDepth},       {"sequence", FilterField::kSequence},
    {"step", FilterField::kStep},         {"rank", FilterField::kRank},
    {"device", FilterField::kDevice},     {"correlation", FilterField::kCorrelation},
};

// Longer operators first, so that "<=" is not read as "<".
constexpr std::pair<std::string_view, FilterOperator> kOperators[] = {
    {"!=", FilterOperator::kNotEqual},    {"<=", FilterOperator::kLessOrEqual}, {">=", FilterOperator::kGreaterOrEqual},
    {"!~", FilterOperator::kContainsNot}, {"==", FilterOperator::kEqual},       {"=", FilterOperator::kEqual},
    {"<", FilterOperator::kLess},         {">", FilterOperator::kGreater},      {"~", FilterOperator::kContains},
};

bool IsTime(FilterField field) {
  return field == FilterField::kDuration || field == FilterField::kStart;
}

// Only times have units.
constexpr std::pair<std::string_view, int> kUnits[] = {{"ns", 0}, {"us", 3}, {"ms", 6}, {"s", 9}};

struct WholeNumber {
  int64_t floor = 0;
  bool is_exact = true;
};

// "10us" -> 10000.
std::optional<WholeNumber> NumberFrom(std::string_view text, bool is_time) {
  int power = 0;
  for (const auto& [unit, its_power] : kUnits) {
    if (!is_time || !text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    power = its_power;
    break;
  }
  const auto number = ParseScaledDecimal(text, power, static_cast<uint64_t>(INT64_MAX));
  if (!number) return std::nullopt;
  const auto whole = static_cast<int64_t>(number->whole);
  if (!number->is_negative) return WholeNumber{whole, !number->has_decimals};
  return WholeNumber{-whole - (number->has_decimals ? 1 : 0), !number->has_decimals};
}

// Rewrites a comparison with a fraction: columns are integers, so x < 2.5 becomes x <= 2, and x = 2.5 is never true.
void CompareWithFloor(SpanFilter::Node* node) {
  switch (node->op) {
    case FilterOperator::kEqual:
      node->op = FilterOperator::kLess;
      node->number = INT64_MIN;
      break;
    case FilterOperator::kNotEqual:
      node->op = FilterOperator::kGreaterOrEqual;
      node->number = INT64_MIN;
      break;
    case FilterOperator::kLess:
      node->op = FilterOperator::kLessOrEqual;
      break;
    case FilterOperator::kGreaterOrEqual:
      node->op = FilterOperator::kGreater;
      break;
    default:  // <= and > hold for the floor too
      break;
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<SpanFilter::Node>> Run() {
    const uint32_t whole = Or();
    SkipSpace();
    if (whole != kNone && at_ < text_.size()) Fail("'and' or 'or' is missing");
    if (!error_.empty()) return Error{ErrorCode::kInvalidArgument, error_};
    return std::move(nodes_);
  }

 private:
  uint32_t Or() { return Chain("or", FilterOperator::kOr, &Parser::And); }
  uint32_t And() { return Chain("and", FilterOperator::kAnd, &Parser::Part); }

  uint32_t Chain(std::string_view word, FilterOperator op, uint32_t (Parser::*next)()) {
    uint32_t left = (this->*next)();
    while (left != kNone && TakeWord(word)) {
      const uint32_t right = (this->*next)();
      left = right == kNone ? kNone : Add({.op = op, .text = {}, .left = left, .right = right});
    }
    return left;
  }

  uint32_t Part() {
    if (++nesting_ > kMaxNesting) return Fail("nested too deep");
    uint32_t node = kNone;
    if (TakeWord("not")) {
      const uint32_t operand = Part();
      node = operand == kNone ? kNone : Add({.op = FilterOperator::kNot, .text = {}, .left = operand});
    } else if (Take("(")) {
      node = Or();
      if (node != kNone && !Take(")")) node = Fail("')' is missing");
    } else {
      node = Comparison();
    }
    --nesting_;
    return node;
  }

  uint32_t Comparison() {
    SpanFilter::Node node;
    const size_t field_at = SkipSpace();
    const std::string_view field = Word();
    const auto* known = Find(kFields, field);
    if (known == nullptr) return FailAt(field_at, field.empty() ? "a field is missing" : NoField(field));
    node.field = known->second;
    const auto* op = FindOperator();
    if (op == nullptr) return Fail("an operator is missing: = != < <= > >= ~ !~");
    node.op = op->second;
    const bool is_pattern = node.op == FilterOperator::kContains || node.op == FilterOperator::kContainsNot;
    const bool is_text = IsTextField(node.field);
    if (is_text && !is_pattern && node.op != FilterOperator::kEqual && node.op != FilterOperator::kNotEqual)
      return Fail(std::string(field) + " is text: compare with = != ~ !~");
    if (!is_text && is_pattern) return Fail(std::string(field) + " is a number: compare with = != < <= > >=");
    const size_t value_at = SkipSpace();
    if (!Value(&node.text)) return kNone;
    const bool is_kind = is_pattern || SpanKindFromName(node.text).has_value();
    if (node.field == FilterField::kKind && !is_kind) return FailAt(value_at, NoKind(node.text));
    if (!is_text) {
      const std::optional<WholeNumber> number = NumberFrom(node.text, IsTime(node.field));
      if (!number) return FailAt(value_at, "'" + node.text + "' is not a " + (IsTime(node.field) ? "time" : "number"));
      node.number = number->floor;
      if (!number->is_exact) CompareWithFloor(&node);
    }
    return Add(std::move(node));
  }

  bool Value(std::string* value) {
    const size_t begin = SkipSpace();
    if (begin < text_.size() && (text_[begin] == '\'' || text_[begin] == '"')) {
      const size_t end = text_.find(text_[begin], begin + 1);
      if (end == std::string_view::npos) return Fail("the text is not closed") != kNone;
      *value = text_.substr(begin + 1, end - begin - 1);
      at_ = end + 1;
      return true;
    }
    const size_t end = std::min(text_.find_first_of(" \t\r\n()", begin), text_.size());
    if (end == begin) return Fail("a value is missing") != kNone;
    *value = text_.substr(begin, end - begin);
    at_ = end;
    return true;
  }

  size_t SkipSpace() { return at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }

  std::string_view Word() {
    const size_t begin = SkipSpace();
    size_t end = begin;
    while (end < text_.size() && ((text_[end] >= 'a' && text_[end] <= 'z') || text_[end] == '_'))
      ++end;
    at_ = end;
    return text_.substr(begin, end - begin);
  }

  bool TakeWord(std::string_view word) {
    const size_t before = at_;
    if (Word() == word) return true;
    at_ = before;
    return false;
  }

  bool Take(std::string_view token) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  const std::pair<std::string_view, FilterOperator>* FindOperator() {
    for (const auto& entry : kOperators)
      if (Take(entry.first)) return &entry;
    return nullptr;
  }

  template <typename Entries>
  static auto Find(const Entries& entries, std::string_view name) -> decltype(&entries[0]) {
    for (const auto& entry : entries)
      if (entry.first == name) return &entry;
    return nullptr;
  }

  static std::string NoField(std::string_view name) {
    return "no field '" + std::string(name) + "'; choose from " + SpanFilter::FieldNames();
  }

  static std::string NoKind(const std::string& name) {
    std::string known;
    for (size_t kind = 0; kind < kSpanKinds; ++kind)
      known.append(known.empty() ? "" : ", ").append(SpanKindName(static_cast<SpanKind>(kind)));
    return "no kind '" + name + "'; choose from " + known;
  }

  uint32_t Add(SpanFilter::Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  uint32_t Fail(const std::string& what) { return FailAt(at_, what); }
  uint32_t FailAt(size_t at, const std::string& what) {
    if (error_.empty()) error_ = "at character " + std::to_string(at + 1) + ": " + what;
    return kNone;
  }

  std::string_view text_;
  size_t at_ = 0;
  int nesting_ = 0;
  std::vector<SpanFilter::Node> nodes_;
  std::string error_;
};

}  // namespace

std::optional<int64_t> SpanFilter::NumberOf(FilterField field, std::string_view value) {
  for (const auto& [name, id] : kFields) {
    if (id != field || value.find('\'') != std::string_view::npos) continue;
    const auto nodes = ParseSpanCondition(std::string(name) + " = '" + std::string(value) + "'");
    if (!nodes.ok() || nodes.value().back().op != FilterOperator::kEqual) return std::nullopt;
    return nodes.value().back().number;
  }
  return std::nullopt;
}

std::string SpanFilter::FieldNames() {
  std::string names;
  for (const auto& [field, id] : kFields)
    names.append(names.empty() ? "" : ", ").append(field);
  return names;
}

Result<std::vector<SpanFilter::Node>> ParseSpanCondition(std::string_view condition) {
  return Parser(condition).Run();
}

}  // namespace opscope
