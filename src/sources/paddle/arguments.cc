// Operators in a loop mostly repeat their arguments, so a payload is looked up before it is built. The key is a hash of
// the operator's name and the sizes of its tensors; the top bit, which no address has, keeps it apart from the names in
// the stream's name cache, where it is stored. A found payload is compared with the arguments, letter by letter and
// word by word (KnownPayload), and used again if equal. Two operators with equal keys cost time and nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/arguments.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "opscope/paddle_source.h"
#include "sources/paddle/attributes.h"
#include "sources/paddle/known_payload.h"
#include "sources/paddle/visit_arguments.h"
#include "sources/streams/failures.h"

namespace opscope {
namespace {

using paddle_layout::Attribute;
using paddle_layout::AttributeMap;
using paddle_layout::Dims;
using paddle_layout::Shapes;

// A payload is built on the stack first. Arguments with more words are not recorded, and counted as a failure.
constexpr size_t kMaxWords = 4096;
constexpr uint32_t kMaxArguments = 0xffff;

struct Draft {
  PayloadHeader header;
  uint32_t keywords[2];
  uint32_t words[kMaxWords];
};
static_assert(offsetof(Draft, words) == kFixedBytesOfArguments);

// Names of arguments in a text of limited size, without the first name that does not fit and those after it.
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
    char digits[kMaxDigits];
    Append('*');
    Append(DigitsOf(count, digits));
  }

  char text_[512];
  size_t size_ = 0;
  bool fits_ = true;
  bool is_first_of_attributes_ = false;
};

// Null: no operator is open.
OpenScope* InnermostOperator(const Stream* stream) {
  constexpr uint32_t kOperator =
      static_cast<uint32_t>(RecordSource::kPaddle) | static_cast<uint32_t>(PaddleEventType::kOperator) << 8;
  OpenScope* scope = stream->top.load(std::memory_order_relaxed);
  while (scope != nullptr && (scope->origin.load(std::memory_order_relaxed) & 0xffffu) != kOperator)
    scope = scope->outer.load(std::memory_order_relaxed);
  return scope;
}

// Builds a payload and the text of its names.
class Drafting {
 public:
  explicit Drafting(Draft* draft) : draft_(draft), at_(draft->words), end_(draft->words + kMaxWords - 1) {}

  bool AddName(const char* name, size_t tensors) {
    names_.Add(name, tensors);
    return true;
  }
  bool AddTensor(const Dims& dims) {
    if (OPSCOPE_UNLIKELY(static_cast<size_t>(end_ - at_) < kMaxWordsOfTensor)) return false;
    ++count_;
    return VisitTensor(dims, [this](uint32_t word) {
      *at_++ = word;
      return true;
    });
  }
  void BeginAttributes() { names_.BeginAttributes(); }
  bool AddAttribute(std::string_view name, std::string_view text) {
    names_.AddAttribute(name, text);
    return true;
  }
  bool AddValue(const Attribute& attribute) {
    if (static_cast<size_t>(end_ - at_) < WordsOf(attribute)) return false;
    at_ = WriteAttribute(attribute, at_), ++count_;
    return true;
  }
  // Writes the header. False: there are too many arguments.
  bool End() {
    if (count_ > kMaxArguments) return false;
    *at_ = 0;  // padding
    const auto words = static_cast<uint32_t>(at_ - draft_->words);
    draft_->header.bytes = (kFixedBytesOfArguments + words * 4 + 7) & ~7u;
    draft_->header.fields = payload_fields::kKeywords;
    draft_->header.arg_count = static_cast<uint16_t>(count_);
    return true;
  }
  const Names& names() const { return names_; }

 private:
  Names names_;
  Draft* draft_;
  uint32_t* at_;
  uint32_t* end_;  // followed by one word of padding
  size_t count_ = 0;
};

bool IsRepeated(const Stream* stream, uint32_t payload, const Shapes& shapes, const AttributeMap* attributes) {
  KnownPayload known(stream, payload);
  return VisitArguments(shapes, attributes, &known) && known.IsAtEnd();
}

// The offset of the new payload in the chunk. 0: too many arguments, which counts as a failure, or no room, which
// counts when the scope ends. Never inlined: its stack frame is larger than that of the fast path.
__attribute__((noinline)) uint32_t WriteNew(Stream* stream, const char* key, const Shapes& shapes,
                                            const AttributeMap* attributes) {
  Draft draft;
  Drafting drafting(&draft);
  if (OPSCOPE_UNLIKELY(!VisitArguments(shapes, attributes, &drafting) || !drafting.End())) {
    CountFailure();
    return 0;
  }
  const Names& names = drafting.names();
  const NameAndRoom room =
      InternAndReserve(stream, draft.header.bytes, [&] { return InternText(stream, names.text(), names.size()); });
  if (room.name == 0 || room.payload == nullptr) return 0;
  draft.keywords[0] = room.name;
  draft.keywords[1] = 0;
  std::memcpy(room.payload, &draft, draft.header.bytes);
  const uint32_t payload = OffsetInChunk(stream, room.payload);
  *NameCacheSlot(stream->copied_names, key) = {key, room.name, payload};
  return payload;
}

const char* KeyOf(const OpenScope* scope, const Shapes& shapes) {
  constexpr uint64_t kEndOfTensor = uint64_t{1} << 40, kNoAddress = uint64_t{1} << 63;
  uint64_t key = scope->name.load(std::memory_order_relaxed);
  for (const auto& [name, tensors] : shapes) {
    for (const Dims& dims : tensors) {
      for (int32_t i = 0; HasShape(dims) && i < dims.rank; ++i)
        key = HashWord(key ^ static_cast<uint64_t>(dims.sizes[i]), 64);
      key += kEndOfTensor;
    }
  }
  return reinterpret_cast<const char*>(key | kNoAddress);
}

}  // namespace

void RecordArguments(Stream* stream, const Shapes& shapes, const AttributeMap* attributes) {
  const Writing writing(stream);
  if (!writing.allowed()) return;
  OpenScope* scope = InnermostOperator(stream);
  if (scope == nullptr) return;
  const char* key = KeyOf(scope, shapes);
  const NameCacheEntry* entry = NameCacheSlot(stream->copied_names, key);
  const bool is_known = entry->text == key && entry->payload != 0;
  const uint32_t payload = is_known && IsRepeated(stream, entry->payload, shapes, attributes)
                               ? entry->payload
                               : WriteNew(stream, key, shapes, attributes);
  if (payload == 0) return;
  scope->payload.store(payload, std::memory_order_release);
  UpdateOpenEntry(stream, scope);
}

void RecordTensorShapes(Stream* stream, std::span<const PaddleTensorShape> tensors) {
  Shapes shapes;
  const char* last = nullptr;
  for (const PaddleTensorShape& tensor : tensors) {
    if (tensor.argument != last) shapes.push_back({last = tensor.argument, {}});
    Dims& dims = shapes.back().second.emplace_back();
    dims.rank = static_cast<int32_t>(std::min<size_t>(tensor.sizes.size(), paddle_layout::kMaxDims + 1));
    std::copy_n(tensor.sizes.begin(), std::min<size_t>(tensor.sizes.size(), paddle_layout::kMaxDims), dims.sizes);
  }
  RecordArguments(stream, shapes, nullptr);
}

}  // namespace opscope
