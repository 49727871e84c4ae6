// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/arguments.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "opscope/paddle_source.h"
#include "sources/paddle/attributes.h"
#include "sources/streams/failures.h"

namespace opscope {
namespace {

using paddle_layout::Attribute;
using paddle_layout::AttributeMap;
using paddle_layout::Dims;
using paddle_layout::Shapes;

// Where the payload is made before it has a place: what does not fit is not recorded, and counted.
constexpr size_t kMostWords = 4096;
constexpr uint32_t kMostArguments = 0xffff;

struct Draft {
  PayloadHeader header;
  uint32_t keywords[2];
  uint32_t words[kMostWords];
};
constexpr uint32_t kFixedBytes = offsetof(Draft, words);
static_assert(kFixedBytes == sizeof(PayloadHeader) + payload_fields::BytesOf(payload_fields::kKeywords));

// Whether a size takes two words.
bool IsWide(const Dims& dims) {
  uint64_t high = 0;
  for (int32_t i = 0; i < dims.rank; ++i)
    high |= static_cast<uint64_t>(dims.sizes[i] + (int64_t{1} << 31)) >> 32;
  return high != 0;
}
bool HasShape(const Dims& dims) {
  return dims.rank >= 0 && dims.rank <= paddle_layout::kMostDims;
}
constexpr size_t kMostWordsOfTensor = 1 + 2 * paddle_layout::kMostDims;

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
    if (OPSCOPE_UNLIKELY(is_wide)) *at++ = static_cast<uint32_t>(size >> 32);
  }
  return at;
}

// Names of arguments in a text of limited size: from the first that does not fit on they are left out.
class Names {
 public:
  void Add(const char* name, size_t tensors) {
    const size_t before = Begin();
    for (; *name != '\0' && size_ < sizeof(text_); ++name)  // a few letters
      text_[size_++] = *name;
    fits_ = fits_ && *name == '\0';
    if (tensors != 1) AppendCount(tensors);
    if (!fits_) size_ = before;
  }
  void BeginAttributes() { is_first_of_attributes_ = true; }
  void AddAttribute(std::string_view name, std::string_view text) {
    const size_t before = Begin();
    Append(name);
    if (!text.empty()) Append('='), Append(text);
    if (!fits_) size_ = before;
  }
  const char* text() const { return text_; }
  size_t size() const { return size_; }

 private:
  size_t Begin() {
    const size_t before = size_;
    if (is_first_of_attributes_) {
      Append(';');
    } else if (size_ != 0) {
      Append(',');
    }
    is_first_of_attributes_ = false;
    return before;
  }
  void Append(char letter) {
    fits_ = fits_ && size_ < sizeof(text_);
    if (fits_) text_[size_++] = letter;
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

// Names and words of all; the draft's header says how many. False: they do not fit.
bool WriteDraft(const Shapes& shapes, const AttributeMap* attributes, Names* names, Draft* draft) {
  uint32_t* at = draft->words;
  const uint32_t* const end = draft->words + kMostWords - 1;  // one of padding
  size_t count = 0;
  for (const auto& [name, tensors] : shapes) {
    names->Add(name, tensors.size());
    count += tensors.size();
    for (const Dims& dims : tensors) {
      if (OPSCOPE_UNLIKELY(static_cast<size_t>(end - at) < kMostWordsOfTensor)) return false;
      at = WriteTensor(dims, at);
    }
  }
  names->BeginAttributes();
  bool fits = true;
  ForEachAttribute(attributes, [&](const Attribute& attribute) {
    fits = fits && static_cast<size_t>(end - at) >= WordsOf(attribute);
    if (!fits) return;
    names->AddAttribute(attribute.name, TextOf(attribute));
    at = WriteAttribute(attribute, at), ++count;
  });
  if (!fits || count > kMostArguments) return false;
  *at = 0;  // padding
  const auto words = static_cast<uint32_t>(at - draft->words);
  draft->header.bytes = (kFixedBytes + words * 4 + 7) & ~7u;
  draft->header.fields = payload_fields::kKeywords;
  draft->header.arg_count = static_cast<uint16_t>(count);
  return true;
}

// Whether the payload at this offset of the chunk, which has the same names, is the draft.
bool IsDraft(const Stream* stream, uint32_t payload, const Draft& draft) {
  const char* place = reinterpret_cast<const char*>(stream->chunk) + payload;
  return std::memcmp(place, &draft.header, sizeof(draft.header)) == 0 &&
         std::memcmp(place + kFixedBytes, draft.words, draft.header.bytes - kFixedBytes) == 0;
}

// Offset of the draft in the chunk, 0: there is no room. Operators of a loop mostly say what they said before.
uint32_t OffsetOf(Draft* draft, const Names& names, Stream* stream) {
  NameCacheEntry* entry = InternEntry(stream, names.text(), names.size());
  if (entry != nullptr && entry->payload != 0 && IsDraft(stream, entry->payload, *draft)) return entry->payload;
  const NameAndRoom room = InternAndReserve(stream, draft->header.bytes, [&] {
    entry = InternEntry(stream, names.text(), names.size());
    return entry != nullptr ? entry->offset : 0;
  });
  if (room.name == 0 || room.side == nullptr) return 0;
  draft->keywords[0] = room.name;
  draft->keywords[1] = 0;
  std::memcpy(room.side, draft, draft->header.bytes);
  return entry->payload = OffsetInChunk(stream, room.side);
}

}  // namespace

void NoteArguments(Stream* stream, const Shapes& shapes, const AttributeMap* attributes) {
  const Writing writing(stream);
  if (!writing.allowed()) return;
  OpenScope* scope = InnermostOperator(stream);
  if (scope == nullptr) return;
  Names names;
  Draft draft;
  if (OPSCOPE_UNLIKELY(!WriteDraft(shapes, attributes, &names, &draft))) return CountFailure();
  const uint32_t side = OffsetOf(&draft, names, stream);
  if (side == 0) return;  // at the cap; the scope itself will be counted
  scope->side.store(side, std::memory_order_release);
  NoteNewEntries(stream, scope);
}

void NoteTensorShapes(Stream* stream, std::span<const PaddleTensorShape> tensors) {
  Shapes shapes;
  const char* last = nullptr;
  for (const PaddleTensorShape& tensor : tensors) {
    if (tensor.argument != last) shapes.push_back({last = tensor.argument, {}});
    Dims& dims = shapes.back().second.emplace_back();
    dims.rank = static_cast<int32_t>(std::min<size_t>(tensor.sizes.size(), paddle_layout::kMostDims + 1));
    std::copy_n(tensor.sizes.begin(), std::min<size_t>(tensor.sizes.size(), paddle_layout::kMostDims), dims.sizes);
  }
  NoteArguments(stream, shapes, nullptr);
}

}  // namespace opscope
