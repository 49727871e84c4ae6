// Recursive descent over TOML 1.0 (https://toml.io/en/v1.0.0). The grammar is that of a line; what takes care is which
// table a line may still add to, because a table must not be defined twice:
//
//   [a.b]        a is implicit: a later [a] may define it, once
//   c.d = 1      a.b.c is dotted: only dotted keys below [a.b] may add to it
//   e = {f = 1}  a.b.e is a value: nothing may be added
//
// So each table keeps how it came to be (TomlValue::Origin). Arrays, inline tables and dotted
// keys may be nested 100 deep, because a value is destroyed recursively.
// SPDX-License-Identifier: Apache-2.0
#include "base/toml.h"

#include <algorithm>
#include <optional>

#include "base/toml_scalar.h"

namespace opscope {
namespace {

using Kind = TomlValue::Kind;
using Origin = TomlValue::Origin;

class TomlParser {
 public:
  explicit TomlParser(std::string_view text) : scanner_(text) {}

  Result<TomlValue> Parse() {
    root_.origin = Origin::kHeader;
    current_ = &root_;
    while (scanner_.error().empty() && SkipEmptyLines()) {
      if (scanner_.Take('[')) {
        ParseHeader();
      } else {
        ParseMember(current_);
      }
      if (scanner_.error().empty() && !scanner_.TakeLineEnd()) scanner_.Fail("something stands behind the value");
    }
    if (scanner_.error().empty()) return std::move(root_);
    return Error{ErrorCode::kMalformed, "line " + std::to_string(scanner_.line()) + ": " + scanner_.error()};
  }

 private:
  static constexpr int kMaxNesting = 100;

  // False at the end of the text, and after an error.
  bool SkipEmptyLines() {
    while (!scanner_.is_end()) {
      scanner_.SkipBlanks();
      if (scanner_.is_end() || !scanner_.IsLineEnd()) break;
      if (!scanner_.TakeLineEnd()) {
        scanner_.Fail("a carriage return stands alone");
        return false;
      }
    }
    return !scanner_.is_end();
  }

  // [a.b] or [[a.b]]; the first bracket was taken.
  void ParseHeader() {
    const bool is_array = scanner_.Take('[');
    const std::vector<std::string> path = ParseKey();
    if (!scanner_.error().empty()) return;
    if (!scanner_.Take(']') || (is_array && !scanner_.Take(']'))) return scanner_.Fail("the header lacks its ]");
    TomlValue* table = &root_;
    for (size_t i = 0; i + 1 < path.size() && table != nullptr; ++i)
      table = DescendForHeader(table, path[i]);
    if (table == nullptr) return;
    TomlValue* last = Member(table, path.back());
    if (is_array) {
      if (last == nullptr) last = Add(table, path.back(), {.kind = Kind::kArray, .origin = Origin::kHeader});
      if (last->kind != Kind::kArray || last->origin != Origin::kHeader) return FailAsDuplicate(path.back());
      current_ = &last->items.emplace_back(TomlValue{.origin = Origin::kHeader});
      return;
    }
    if (last == nullptr) last = Add(table, path.back(), {.origin = Origin::kImplicit});
    if (last->kind != Kind::kTable || last->origin != Origin::kImplicit) return FailAsDuplicate(path.back());
    last->origin = Origin::kHeader;
    current_ = last;
  }

  // Null after an error.
  TomlValue* DescendForHeader(TomlValue* table, const std::string& key) {
    TomlValue* member = Member(table, key);
    if (member == nullptr) return Add(table, key, {.origin = Origin::kImplicit});
    if (member->kind == Kind::kArray && member->origin == Origin::kHeader) return &member->items.back();
    if (member->kind == Kind::kTable && member->origin != Origin::kValue) return member;
    FailAsDuplicate(key);
    return nullptr;
  }

  // a.b = value
  void ParseMember(TomlValue* table) {
    const std::vector<std::string> path = ParseKey();
    if (!scanner_.error().empty()) return;
    if (!scanner_.Take('=')) return scanner_.Fail("a key lacks its =");
    scanner_.SkipBlanks();
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      TomlValue* member = Member(table, path[i]);
      if (member == nullptr) member = Add(table, path[i], {.origin = Origin::kDotted});
      if (member->kind != Kind::kTable || member->origin != Origin::kDotted) return FailAsDuplicate(path[i]);
      table = member;
    }
    if (Member(table, path.back()) != nullptr) return FailAsDuplicate(path.back());
    const int dotted = static_cast<int>(path.size()) - 1;
    nesting_ += dotted;
    TomlValue value = ParseValue();
    nesting_ -= dotted;
    Add(table, path.back(), std::move(value));
  }

  // At least one part, unless there is an error.
  std::vector<std::string> ParseKey() {
    std::vector<std::string> path;
    do {
      scanner_.SkipBlanks();
      path.push_back(scanner_.TakeKeyPart());
      scanner_.SkipBlanks();
      if (path.size() > kMaxNesting) scanner_.Fail("a key has too many parts");
    } while (scanner_.error().empty() && scanner_.Take('.'));
    return path;
  }

  TomlValue ParseValue() {
    if (!scanner_.Peek('[') && !scanner_.Peek('{')) return scanner_.TakeScalar();
    if (++nesting_ > kMaxNesting) {
      scanner_.Fail("values are nested too deep");
      return {};
    }
    TomlValue value = scanner_.Take('[') ? ParseArray() : ParseInlineTable();
    --nesting_;
    return value;
  }

  TomlValue ParseArray() {
    TomlValue array{.kind = Kind::kArray};
    while (scanner_.error().empty()) {
      if (!SkipEmptyLines()) break;
      if (scanner_.Take(']')) return array;
      array.items.push_back(ParseValue());
      if (!scanner_.error().empty() || !SkipEmptyLines()) break;
      if (scanner_.Take(',')) continue;
      if (scanner_.Take(']')) return array;
      break;
    }
    scanner_.Fail("an array lacks its ]");
    return array;
  }

  TomlValue ParseInlineTable() {
    scanner_.Take('{');
    TomlValue table;
    scanner_.SkipBlanks();
    if (scanner_.Take('}')) return table;
    while (scanner_.error().empty()) {
      ParseMember(&table);
      scanner_.SkipBlanks();
      if (scanner_.Take(',')) continue;
      if (scanner_.Take('}')) break;
      scanner_.Fail("an inline table lacks its }");
    }
    Close(&table);
    return table;
  }

  // Nothing may be added to an inline table and what dotted keys made in it.
  static void Close(TomlValue* table) {
    std::vector<TomlValue*> open = {table};
    while (!open.empty()) {
      TomlValue* next = open.back();
      open.pop_back();
      next->origin = Origin::kValue;
      for (auto& [key, member] : next->members)
        if (member.kind == Kind::kTable && member.origin == Origin::kDotted) open.push_back(&member);
    }
  }

  static TomlValue* Member(TomlValue* table, std::string_view key) {
    return const_cast<TomlValue*>(std::as_const(*table).Find(key));
  }
  static TomlValue* Add(TomlValue* table, const std::string& key, TomlValue value) {
    return &table->members.emplace_back(key, std::move(value)).second;
  }
  void FailAsDuplicate(const std::string& key) { scanner_.Fail("'" + key + "' is defined twice"); }

  TomlScanner scanner_;
  TomlValue root_;
  TomlValue* current_ = nullptr;  // the table of the last header
  int nesting_ = 0;
};

}  // namespace

const TomlValue* TomlValue::Find(std::string_view key) const {
  for (const auto& [name, member] : members)
    if (name == key) return &member;
  return nullptr;
}

Result<TomlValue> ParseToml(std::string_view text) {
  return TomlParser(text).Parse();
}

}  // namespace opscope
