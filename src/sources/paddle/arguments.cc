// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/arguments.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "opscope/paddle_source.h"
#include "sources/paddle/attributes.h"

namespace opscope {
namespace {

using paddle_layout::Attribute;
using paddle_layout::AttributeMap;
using paddle_layout::Dims;
using paddle_layout::Shapes;

constexpr uint32_t kMostArguments = 0xffff;

bool IsWide(const Dims& dims) {
  return std::any_of(dims.sizes, dims.sizes + dims.rank,
                     [](int64_t size) { return size != static_cast<int32_t>(size); });
}
bool HasShape(const Dims& dims) {
  return dims.rank >= 0 && dims.rank <= paddle_layout::kMostDims;
}

uint32_t WordsOf(const Dims& dims) {
  if (!HasShape(dims)) return 1;
  return 1 + static_cast<uint32_t>(dims.rank) * (IsWide(dims) ? 2 : 1);
}

uint32_t* WriteTensor(const Dims& dims, uint32_t* at) {
  if (!HasShape(dims)) {
    *at = static_cast<uint32_t>(ArgKind::kUndefined);
    return at + 1;
  }
  const bool is_wide = IsWide(dims);
  *at++ = static_cast<uint32_t>(ArgKind::kTensor) | kUnknownElement << 4 | arg_flags::kNoStrides |
          (is_wide ? arg_flags::kWide : 0) | static_cast<uint32_t>(dims.rank) << 16;
  for (int32_t i = 0; i < dims.rank; ++i) {
    const auto size = static_cast<uint64_t>(dims.sizes[i]);
    *at++ = static_cast<uint32_t>(size);
    if (is_wide) *at++ = static_cast<uint32_t>(size >> 32);
  }
  return at;
}

// Names of arguments in a text of limited size: from the first that does not fit on they are left out.
class Names {
 public:
  void Add(const char* name, size_t tensors) {
    const size_t before = Begin();
    Append(name);
    if (tensors != 1) AppendCount(tensors);
    if (!fits_) size_ = before;
  }
  void BeginAttributes() { is_first_of_attributes_ = true; }
  void AddAttribute(std::string_view name, std::string_view text) {
    const size_t before = Begin();
    Append(name);
    if (!text.empty()) Append("="), Append(text);
    if (!fits_) size_ = before;
  }
  const char* text() const { return text_; }
  size_t size() const { return size_; }

 private:
  size_t Begin() {
    const size_t before = size_;
    if (is_first_of_attributes_) {
      Append(";");
    } else if (size_ != 0) {
      Append(",");
    }
    is_first_of_attributes_ = false;
    return before;
  }
  void Append(std::string_view text) {
    fits_ = fits_ && text.size() <= sizeof(text_) - size_;
    if (!fits_) return;
    std::memcpy(text_ + size_, text.data(), text.size());
    size_ += text.size();
  }
  void AppendCount(size_t count) {
    char digits[24];
    char* begin = digits + sizeof(digits);
    do
      *--begin = static_cast<char>('0' + count % 10);
    while ((count /= 10) != 0);
    *--begin = '*';
    Append({begin, static_cast<size_t>(digits + sizeof(digits) - begin)});
  }

  char text_[512];
  size_t size_ = 0;
  bool fits_ = true;
  bool is_first_of_attributes_ = false;
};

// Null: none is open.
OpenScope* InnermostOperator(const Stream* stream) {
  constexpr uint32_t kOperator =
      static_cast<uint32_t>(RecordSource::kPaddle) | static_cast<uint32_t>(PaddleEventType::kOperator) << 8;
  OpenScope* scope = stream->top.load(std::memory_order_relaxed);
  while (scope != nullptr && (scope->origin.load(std::memory_order_relaxed) & 0xffffu) != kOperator)
    scope = scope->outer.load(std::memory_order_relaxed);
  return scope;
}

}  // namespace

void NoteArguments(Stream* stream, const Shapes& shapes, const AttributeMap* attributes) {
  const Writing writing(stream);
  if (!writing.allowed()) return;
  OpenScope* scope = InnermostOperator(stream);
  if (scope == nullptr) return;
  Names names;
  uint32_t words = 0, count = 0;
  for (const auto& [name, tensors] : shapes) {
    names.Add(name, tensors.size());
    for (const Dims& dims : tensors)
      words += WordsOf(dims), ++count;
  }
  names.BeginAttributes();
  ForEachAttribute(attributes, [&](const Attribute& attribute) {
    names.AddAttribute(attribute.name, TextOf(attribute));
    words += WordsOf(attribute), ++count;
  });
  if (count > kMostArguments) return;
  PayloadHeader header;
  constexpr uint32_t kFixed = sizeof(header) + payload_fields::BytesOf(payload_fields::kKeywords);
  header.bytes = (kFixed + words * 4 + 7) & ~7u;
  header.fields = payload_fields::kKeywords;
  header.arg_count = static_cast<uint16_t>(count);
  const NameAndRoom room =
      InternAndReserve(stream, header.bytes, [&] { return InternText(stream, names.text(), names.size()); });
  if (room.name == 0 || room.side == nullptr) return;  // at the cap; the scope itself will be counted
  const uint32_t keywords[2] = {room.name, 0};
  std::memcpy(room.side, &header, sizeof(header));
  std::memcpy(room.side + sizeof(header), keywords, sizeof(keywords));
  auto* at = reinterpret_cast<uint32_t*>(room.side + kFixed);
  if (header.bytes > kFixed) reinterpret_cast<uint32_t*>(room.side + header.bytes)[-1] = 0;  // padding
  for (const auto& [name, tensors] : shapes) {
    for (const Dims& dims : tensors)
      at = WriteTensor(dims, at);
  }
  ForEachAttribute(attributes, [&at](const Attribute& attribute) { at = WriteAttribute(attribute, at); });
  scope->side.store(OffsetInChunk(stream, room.side), std::memory_order_release);
  NoteNewEntries(stream, scope);
}

}  // namespace opscope
