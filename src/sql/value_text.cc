// Writes one value: numbers by std::to_chars, dates and the like by DuckDB itself, so that they look as DuckDB prints
// them, nested values by recursion over the type (DuckDB bounds how deep types nest).
//
//   STRUCT(a INTEGER, b DECIMAL(4,1)[])   ->   {"a":1,"b":["2.5",null]}
// SPDX-License-Identifier: Apache-2.0
#include "sql/value_text.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/text.h"

namespace opscope::duckdb {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

constexpr int64_t kLargestInJson = int64_t{1} << 53;

template <typename T>
T At(const VectorView& values, uint64_t row) {
  return static_cast<const T*>(values.data)[row];
}

void AppendDigits(std::string* out, Uint128 value) {
  char digits[40];
  char* begin = digits + sizeof(digits);
  do {
    *--begin = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  out->append(begin, digits + sizeof(digits));
}

void AppendQuotedIf(bool is_quoted, std::string_view text, std::string* out) {
  if (is_quoted) {
    AppendJsonString(out, text);
  } else {
    out->append(text);
  }
}

Uint128 Magnitude(Int128 value) {
  return value < 0 ? Uint128{0} - static_cast<Uint128>(value) : static_cast<Uint128>(value);
}

void AppendInteger(bool is_negative, Uint128 magnitude, ValueForm form, std::string* out) {
  const bool is_quoted = form == ValueForm::kJson && magnitude > static_cast<Uint128>(kLargestInJson);
  if (is_quoted) *out += '"';
  if (is_negative) *out += '-';
  AppendDigits(out, magnitude);
  if (is_quoted) *out += '"';
}

template <typename T>
void AppendSmallInteger(T value, ValueForm form, std::string* out) {
  AppendInteger(value < 0, Magnitude(value), form, out);
}

template <typename T>
void AppendFloat(T value, ValueForm form, std::string* out) {
  if (!std::isfinite(value)) {
    const bool is_nan = std::isnan(value);
    if (form == ValueForm::kJson) {
      *out += "null";
    } else if (form == ValueForm::kExactJson) {
      *out += is_nan ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
    } else {
      *out += is_nan ? "nan" : value < 0 ? "-inf" : "inf";
    }
    return;
  }
  char text[64];
  out->append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

Int128 ToInt128(hugeint value) {
  return static_cast<Int128>(static_cast<Uint128>(static_cast<uint64_t>(value.upper)) << 64 | value.lower);
}

Int128 StoredInteger(int stored_as, const VectorView& values, uint64_t row) {
  switch (stored_as) {
    case kUtinyint:
      return At<uint8_t>(values, row);
    case kUsmallint:
      return At<uint16_t>(values, row);
    case kUinteger:
      return At<uint32_t>(values, row);
    case kSmallint:
      return At<int16_t>(values, row);
    case kInteger:
      return At<int32_t>(values, row);
    case kBigint:
      return At<int64_t>(values, row);
    default:
      return ToInt128(At<hugeint>(values, row));
  }
}

std::string DecimalText(Int128 value, unsigned scale) {
  std::string digits;
  AppendDigits(&digits, Magnitude(value));
  if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
  if (scale > 0) digits.insert(digits.size() - scale, ".");
  return value < 0 ? "-" + digits : digits;
}

std::string UuidText(hugeint value) {
  const uint64_t words[2] = {static_cast<uint64_t>(value.upper) ^ (uint64_t{1} << 63), value.lower};
  std::string text;
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) text += '-';
    text += "0123456789abcdef"[words[i / 16] >> (60 - 4 * (i % 16)) & 15];
  }
  return text;
}

std::string_view TextAt(const VectorView& values, uint64_t row) {
  const string_t& text = static_cast<const string_t*>(values.data)[row];
  const bool is_in_place = text.length <= sizeof(text) - offsetof(string_t, prefix);
  return {is_in_place ? reinterpret_cast<const char*>(&text) + offsetof(string_t, prefix) : text.pointer, text.length};
}

// As DuckDB prints it. Takes over the value.
std::string TextOf(const Api& api, value created) {
  const Owned<value> owned(api.destroy_value, created);
  char* const text = api.get_varchar(created);
  std::string taken = text != nullptr ? text : "";
  api.free(text);
  return taken;
}

std::string MomentText(const Api& api, int type, const VectorView& values, uint64_t row) {
  if (type == kDate) return TextOf(api, api.create_date({At<int32_t>(values, row)}));
  if (type == kInterval) return TextOf(api, api.create_interval(At<interval>(values, row)));
  const time moment = {At<int64_t>(values, row)};
  switch (type) {
    case kTime:
      return TextOf(api, api.create_time(moment));
    case kTimeTz:
      return TextOf(api, api.create_time_tz_value(moment));
    case kTimestampS:
      return TextOf(api, api.create_timestamp_s(moment));
    case kTimestampMs:
      return TextOf(api, api.create_timestamp_ms(moment));
    case kTimestampNs:
      return TextOf(api, api.create_timestamp_ns(moment));
    case kTimestampTz:
      return TextOf(api, api.create_timestamp_tz(moment));
    default:
      return TextOf(api, api.create_timestamp(moment));
  }
}

std::string BytesText(const Api& api, int type, const VectorView& values, uint64_t row) {
  const std::string_view raw = TextAt(values, row);
  if (type == kBit) return TextOf(api, api.create_bit({raw.data(), raw.size()}));
  return TextOf(api, api.create_blob(reinterpret_cast<const uint8_t*>(raw.data()), raw.size()));
}

void AppendItems(const Api& api, const ValueType& type, const VectorView& items, uint64_t begin, uint64_t count,
                 ValueForm form, std::string* out) {
  *out += '[';
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0) *out += ',';
    AppendValue(api, type, items, begin + i, form, out);
  }
  *out += ']';
}

void AppendStruct(const Api& api, const ValueType& type, const VectorView& values, uint64_t row, ValueForm form,
                  std::string* out) {
  *out += '{';
  for (size_t i = 0; i < type.children.size(); ++i) {
    if (i > 0) *out += ',';
    AppendJsonString(out, type.children[i].member);
    *out += ':';
    AppendValue(api, type.children[i], values.children[i], row, form, out);
  }
  *out += '}';
}

// A map is the list of its pairs of key and value.
void AppendMap(const Api& api, const ValueType& type, const VectorView& values, uint64_t row, ValueForm form,
               std::string* out) {
  const list_entry entry = At<list_entry>(values, row);
  *out += '[';
  for (uint64_t i = 0; i < entry.length; ++i) {
    if (i > 0) *out += ',';
    AppendStruct(api, type, values, entry.offset + i, form, out);
  }
  *out += ']';
}

void AppendNested(const Api& api, const ValueType& type, const VectorView& values, uint64_t row, ValueForm form,
                  std::string* out) {
  const ValueForm inner = form == ValueForm::kPlain ? ValueForm::kJson : form;
  if (type.id == kStruct) return AppendStruct(api, type, values, row, inner, out);
  if (type.id == kMap) return AppendMap(api, type, values, row, inner, out);
  if (type.id == kUnion) {
    const size_t member = At<uint8_t>(values, row);
    if (member < type.children.size()) AppendValue(api, type.children[member], values.children[member], row, form, out);
    return;
  }
  if (type.id == kArray)
    return AppendItems(api, type.children[0], values.children[0], row * type.array_size, type.array_size, inner, out);
  const list_entry entry = At<list_entry>(values, row);
  AppendItems(api, type.children[0], values.children[0], entry.offset, entry.length, inner, out);
}

}  // namespace

VectorView::VectorView(const Api& api, const ValueType& type, vector values)
    : data(api.vector_get_data(values)), validity(api.vector_get_validity(values)) {
  if (type.id == kList) children.emplace_back(api, type.children[0], api.list_vector_get_child(values));
  if (type.id == kArray) children.emplace_back(api, type.children[0], api.array_vector_get_child(values));
  const vector pairs = type.id == kMap ? api.list_vector_get_child(values) : values;
  const bool has_members = type.id == kMap || type.id == kStruct || type.id == kUnion;
  for (size_t i = 0; i < type.children.size() && has_members; ++i)
    children.emplace_back(api, type.children[i], api.struct_vector_get_child(pairs, i + (type.id == kUnion)));
  // The tag says which member of a union a value has.
  if (type.id == kUnion) data = api.vector_get_data(api.struct_vector_get_child(values, 0));
}

void AppendValue(const Api& api, const ValueType& type, const VectorView& values, uint64_t row, ValueForm form,
                 std::string* out) {
  const bool is_json = form != ValueForm::kPlain;
  if (values.IsNull(row) || type.id == kSqlNull) {
    if (is_json) *out += "null";
    return;
  }
  switch (type.id) {
    case kBoolean:
      *out += At<bool>(values, row) ? "true" : "false";
      return;
    case kTinyint:
      return AppendSmallInteger(At<int8_t>(values, row), form, out);
    case kSmallint:
      return AppendSmallInteger(At<int16_t>(values, row), form, out);
    case kInteger:
      return AppendSmallInteger(At<int32_t>(values, row), form, out);
    case kBigint:
      return AppendSmallInteger(At<int64_t>(values, row), form, out);
    case kUtinyint:
      return AppendSmallInteger(At<uint8_t>(values, row), form, out);
    case kUsmallint:
      return AppendSmallInteger(At<uint16_t>(values, row), form, out);
    case kUinteger:
      return AppendSmallInteger(At<uint32_t>(values, row), form, out);
    case kUbigint:
      return AppendSmallInteger(At<uint64_t>(values, row), form, out);
    case kHugeint:
      return AppendSmallInteger(ToInt128(At<hugeint>(values, row)), form, out);
    case kUhugeint:
      return AppendInteger(false, static_cast<Uint128>(ToInt128(At<hugeint>(values, row))), form, out);
    case kFloat:
      return AppendFloat(At<float>(values, row), form, out);
    case kDouble:
      return AppendFloat(At<double>(values, row), form, out);
    case kDecimal:
      return AppendQuotedIf(is_json, DecimalText(StoredInteger(type.stored_as, values, row), type.scale), out);
    case kUuid:
      return AppendQuotedIf(is_json, UuidText(At<hugeint>(values, row)), out);
    case kVarchar:
      return AppendQuotedIf(is_json, TextAt(values, row), out);
    case kEnum: {
      const auto at = static_cast<size_t>(StoredInteger(type.stored_as, values, row));
      return AppendQuotedIf(is_json, at < type.enum_values.size() ? type.enum_values[at] : "", out);
    }
    case kBlob:
    case kBit:
      return AppendQuotedIf(is_json, BytesText(api, type.id, values, row), out);
    case kList:
    case kArray:
    case kMap:
    case kStruct:
    case kUnion:
      return AppendNested(api, type, values, row, form, out);
    default:
      return AppendQuotedIf(is_json, MomentText(api, type.id, values, row), out);
  }
}

}  // namespace opscope::duckdb
