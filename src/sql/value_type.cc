// Reads a type from DuckDB and gives it DuckDB's name: a list of DECIMAL(4,1) is "DECIMAL(4,1)[]".
//
// DuckDB's C API has numbers and children of types, but no function that names one, so the name is put together here.
// Types nest as deep as the statement that made them; DuckDB's parser bounds that.
// SPDX-License-Identifier: Apache-2.0
#include "sql/value_type.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/assign.h"

namespace opscope::duckdb {
namespace {

// By the number of the type. "": TypeReader composes the name, or opscope does not know the type.
constexpr std::array<std::string_view, kSqlNull + 1> kTypeNames = {
    // 0 to 9
    "", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    // 10 to 19
    "FLOAT", "DOUBLE", "TIMESTAMP", "DATE", "TIME", "INTERVAL", "HUGEINT", "VARCHAR", "BLOB", "",
    // 20 to 29
    "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "", "", "", "", "UUID", "", "BIT",
    // 30 to 36
    "TIME WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE", "UHUGEINT", "", "", "", "\"NULL\""};

std::string TakeText(const Api& api, char* text) {
  std::string taken = text != nullptr ? text : "";
  api.free(text);
  return taken;
}

std::string QuotedIfNeeded(const std::string& name) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  const bool begins_with_digit = !name.empty() && name[0] >= '0' && name[0] <= '9';
  if (!name.empty() && !begins_with_digit && std::all_of(name.begin(), name.end(), is_plain)) return name;
  std::string quoted = "\"";
  for (const char c : name)
    quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

class TypeReader {
 public:
  TypeReader(const Api& api, logical_type type) : api_(api), type_(type) { read_.id = api.get_type_id(type); }

  Result<ValueType> Read() {
    switch (read_.id) {
      case kDecimal:
        read_.stored_as = api_.decimal_internal_type(type_);
        read_.scale = api_.decimal_scale(type_);
        read_.name = "DECIMAL(" + std::to_string(api_.decimal_width(type_)) + "," + std::to_string(read_.scale) + ")";
        break;
      case kEnum:
        ReadEnum();
        break;
      case kList:
        OPSCOPE_TRY(AddChild("", api_.list_type_child_type(type_)));
        read_.name = read_.children[0].name + "[]";
        break;
      case kArray:
        OPSCOPE_TRY(AddChild("", api_.array_type_child_type(type_)));
        read_.array_size = api_.array_type_array_size(type_);
        read_.name = read_.children[0].name + "[" + std::to_string(read_.array_size) + "]";
        break;
      case kMap:
        OPSCOPE_TRY(AddChild("key", api_.map_type_key_type(type_)));
        OPSCOPE_TRY(AddChild("value", api_.map_type_value_type(type_)));
        read_.name = "MAP(" + read_.children[0].name + ", " + read_.children[1].name + ")";
        break;
      case kStruct:
        for (idx_t i = 0; i < api_.struct_type_child_count(type_); ++i)
          OPSCOPE_TRY(
              AddChild(TakeText(api_, api_.struct_type_child_name(type_, i)), api_.struct_type_child_type(type_, i)));
        read_.name = "STRUCT(" + MemberNames() + ")";
        break;
      case kUnion:
        for (idx_t i = 0; i < api_.union_type_member_count(type_); ++i)
          OPSCOPE_TRY(
              AddChild(TakeText(api_, api_.union_type_member_name(type_, i)), api_.union_type_member_type(type_, i)));
        read_.name = "UNION(" + MemberNames() + ")";
        break;
      default:
        if (read_.id >= 0 && static_cast<size_t>(read_.id) < kTypeNames.size())
          read_.name = kTypeNames[static_cast<size_t>(read_.id)];
    }
    if (const std::string alias = TakeText(api_, api_.logical_type_get_alias(type_)); !alias.empty())
      read_.name = alias;
    if (!read_.name.empty()) return std::move(read_);
    return Error{ErrorCode::kUnsupported, "has a type that opscope cannot write; cast it: CAST(... AS VARCHAR)"};
  }

 private:
  void ReadEnum() {
    read_.stored_as = api_.enum_internal_type(type_);
    for (uint32_t i = 0; i < api_.enum_dictionary_size(type_); ++i) {
      read_.enum_values.push_back(TakeText(api_, api_.enum_dictionary_value(type_, i)));
      read_.name += (i == 0 ? "ENUM('" : "', '") + read_.enum_values.back();
    }
    read_.name += read_.name.empty() ? "ENUM()" : "')";
  }

  Status AddChild(std::string member, logical_type child) {
    const Owned<logical_type> owned(api_.destroy_logical_type, child);
    OPSCOPE_ASSIGN(ValueType read, TypeReader(api_, child).Read());
    read.member = std::move(member);
    read_.children.push_back(std::move(read));
    return {};
  }

  std::string MemberNames() const {
    std::string names;
    for (const ValueType& child : read_.children)
      names += (names.empty() ? "" : ", ") + QuotedIfNeeded(child.member) + " " + child.name;
    return names;
  }

  const Api& api_;
  const logical_type type_;
  ValueType read_;
};

}  // namespace

Result<ValueType> ReadType(const Api& api, logical_type type) {
  return TypeReader(api, type).Read();
}

}  // namespace opscope::duckdb
