// An operator's argument names are one text; its shapes and attributes are encoded arguments. Both are read in
// parallel, name by name. Operators repeat, so results are cached by names and bytes.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/paddle_members.h"

#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/json_object.h"
#include "base/text.h"
#include "base/varint.h"
#include "opscope/record.h"

namespace opscope {
namespace {

// "[2, 3]" of an encoded tensor; of one that is undefined "[]".
void AppendShape(ByteReader* reader, std::string* out) {
  const auto tag = reader->Fixed<uint32_t>();
  *out += '[';
  const bool is_tensor = (tag & 15u) == static_cast<uint32_t>(ArgKind::kTensor);
  for (uint32_t i = 0; is_tensor && reader->ok() && i < arg_flags::SizesOf(tag); ++i) {
    if (i > 0) *out += ", ";
    AppendInt(out, (tag & arg_flags::kWide) != 0 ? reader->Fixed<int64_t>() : reader->Fixed<int32_t>());
  }
  *out += ']';
}

void AppendNumber(double value, std::string* out) {
  if (std::isfinite(value)) return AppendDouble(out, value);
  *out += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
}

void AppendList(uint32_t tag, ByteReader* reader, std::string* out) {
  *out += '[';
  for (uint32_t i = 0; reader->ok() && i < tag >> 16; ++i) {
    if (i > 0) *out += ", ";
    if ((tag & 15u) == static_cast<uint32_t>(ArgKind::kDoubleList)) {
      AppendNumber(reader->Fixed<double>(), out);
    } else {
      AppendInt(out, (tag & arg_flags::kWide) != 0 ? reader->Fixed<int64_t>() : reader->Fixed<int32_t>());
    }
  }
  *out += ']';
}

// text: of an attribute that is one.
void AppendValue(std::string_view text, ByteReader* reader, std::string* out) {
  const auto tag = reader->Fixed<uint32_t>();
  switch (static_cast<ArgKind>(tag & 15u)) {
    case ArgKind::kInt:
      return AppendInt(out, reader->Fixed<int64_t>());
    case ArgKind::kDouble:
      return AppendNumber(reader->Fixed<double>(), out);
    case ArgKind::kBool:
      *out += tag >> 16 != 0 ? "true" : "false";
      return;
    case ArgKind::kIntList:
    case ArgKind::kDoubleList:
      return AppendList(tag, reader, out);
    default:
      if (!text.empty()) return AppendJsonString(out, text);
      *out += "null";
  }
}

std::string Members(std::string_view names, std::span<const std::byte> arguments) {
  ByteReader reader(arguments);
  std::string_view slots = TakeUntil(';', &names);
  std::string out = "\"input_shapes\": {";
  JsonMemberWriter members(&out, JsonMemberWriter::kSpaced);  // of whichever object is open
  while (!slots.empty() && reader.ok()) {
    std::string_view count_text = TakeUntil(',', &slots);
    const std::string_view name = TakeUntil('*', &count_text);
    uint32_t count = 1;
    std::from_chars(count_text.data(), count_text.data() + count_text.size(), count);
    members.EscapedKey(name);
    out += '[';
    for (uint32_t i = 0; i < count && reader.ok(); ++i) {
      if (i > 0) out += ", ";
      AppendShape(&reader, &out);
    }
    out += ']';
  }
  out += "}, \"input_dtypes\": {}, \"callstack\": \"\"";
  if (names.empty()) return out;
  out += ", \"attributes\": {";
  while (!names.empty() && reader.ok()) {
    std::string_view text = TakeUntil(',', &names);
    members.EscapedKey(TakeUntil('=', &text));
    AppendValue(text, &reader, &out);
  }
  return out + '}';
}

}  // namespace

const std::string& PaddleMembers::Of(std::string_view names, std::span<const std::byte> arguments) {
  std::string key(names);
  key.push_back('\0');
  key.append(reinterpret_cast<const char*>(arguments.data()), arguments.size());
  const auto [found, is_new] = known_.try_emplace(std::move(key));
  if (is_new) found->second = Members(names, arguments);
  return found->second;
}

}  // namespace opscope
