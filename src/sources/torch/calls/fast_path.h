// The fast path: name and payload of a range whose arguments are plain tensors, numbers, short lists of integers, and
// kinds that are recorded without a value. It writes the same words as EncodeArguments, with few instructions in
// adjacent cache lines: between two operators torch replaces the contents of the instruction cache, so each line of
// this code is fetched again.
//
// Equal arguments are written again each time. Finding and comparing earlier ones would need more of that cache (the
// overhead of a training step was 22 % instead of 18 %), and would save 25 bytes per operator. The import merges equal
// argument lists into one row anyway.
//
// Thread rule: the stream's own thread. Calls no code outside of this source and does not throw.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sources/torch/calls/argument_words.h"
#include "sources/torch/calls/range_payload.h"
#include "sources/torch/tensors/tensor_identity.h"

namespace opscope {

// Options of a window as template arguments, so that no event tests for them. kWithTensors implies kWithInputs.
inline constexpr uint32_t kWithInputs = 1, kWithTensors = 2;

// True: the TensorImpl stores its sizes, so reading them runs no other code. False for Python subclasses, functorch
// wrappers and devices that compute sizes on demand.
inline bool IsPlain(const c10::TensorImpl& tensor) {
  using c10::BackendComponent;
  using c10::DispatchKey;
  constexpr c10::DispatchKeySet kPlain =
      c10::DispatchKeySet(BackendComponent::CPUBit) | c10::DispatchKeySet(BackendComponent::CUDABit) |
      c10::DispatchKeySet(DispatchKey::Dense) | c10::DispatchKeySet(DispatchKey::AutogradFunctionality) |
      c10::DispatchKeySet(DispatchKey::ADInplaceOrView) | c10::DispatchKeySet(DispatchKey::AutocastCPU) |
      c10::DispatchKeySet(DispatchKey::AutocastCUDA) | c10::DispatchKeySet(DispatchKey::Conjugate) |
      c10::DispatchKeySet(DispatchKey::Negative);
  const c10::DispatchKeySet keys = tensor.key_set();
  return (keys | kPlain) == kPlain && keys.has(DispatchKey::Dense) && !tensor.has_symbolic_sizes_strides();
}

// The words of the arguments of one call, and the identities of their tensors.
template <bool kHasIdentities>
class FastArguments {
 public:
  // False: an argument is of another kind, or there are too many. Then the slow path has to encode them all.
  __attribute__((always_inline)) bool Encode(c10::ArrayRef<const c10::IValue> inputs) {
    uint32_t* at = words_;
    uint32_t tensors = 0;
    for (const c10::IValue& value : inputs) {
      if (OPSCOPE_UNLIKELY(at > words_ + kWords - kMaxWordsOfOne)) return false;
      if (value.isTensor()) {
        c10::TensorImpl* impl = value.toTensor().unsafeGetTensorImpl();
        if (OPSCOPE_UNLIKELY(!IsPlain(*impl) || !impl->dtype().isScalarType())) {
          if (value.toTensor().defined()) return false;
          *at++ = ArgumentTag(ArgKind::kUndefined);
          continue;
        }
        const c10::IntArrayRef sizes = impl->sizes();
        if (OPSCOPE_UNLIKELY(sizes.size() > kMaxSizes || tensors == kTensors)) return false;
        const auto element = static_cast<uint32_t>(c10::typeMetaToScalarType(impl->dtype()));
        const uint32_t words = PutSmallTensor(at, sizes, impl->strides(), element);
        if (OPSCOPE_UNLIKELY(words == 0)) return false;
        at += words;
        if constexpr (kHasIdentities) {
          const TensorIdentity identity = IdentityWith(impl, NumberOf(impl));
          std::memcpy(tensors_ + tensors++ * sizeof(identity), &identity, sizeof(identity));
        }
      } else if (value.isInt()) {
        at = PutNumber(at, ArgKind::kInt, IntOf(value));
      } else if (value.isDouble()) {
        at = PutNumber(at, ArgKind::kDouble, value.toDouble());
      } else if (value.isList()) {
        at = PutIntegers(at, value);
        if (OPSCOPE_UNLIKELY(at == nullptr)) return false;
      } else if (value.isBool()) {
        *at++ = ArgumentTag(ArgKind::kBool, BoolOf(value) ? 1 : 0);
      } else if (OPSCOPE_UNLIKELY(value.isScalar())) {
        return false;
      } else {
        *at++ = ArgumentTag(ArgKind::kOther);
      }
    }
    word_count_ = static_cast<uint32_t>(at - words_);
    tensor_count_ = tensors;
    *at = 0;  // padding to a multiple of 8 bytes
    return true;
  }

  const uint32_t* words() const { return words_; }
  uint32_t words_bytes() const { return BytesOfWords(word_count_); }
  const std::byte* tensors() const { return tensors_; }
  uint32_t tensor_count() const { return tensor_count_; }
  uint32_t tensors_bytes() const { return tensor_count_ * uint32_t{sizeof(TensorIdentity)}; }

 private:
  static constexpr uint32_t kWords = 128, kTensors = 8;
  static constexpr size_t kMaxSizes = 5, kMaxIntegers = 10;
  static constexpr uint32_t kMaxWordsOfOne = 1 + 2 * kMaxSizes;
  static_assert(kMaxWordsOfOne >= 1 + kMaxIntegers);

  template <typename Number>
  static uint32_t* PutNumber(uint32_t* at, ArgKind kind, Number number) {
    static_assert(sizeof(number) == 2 * sizeof(*at));
    *at = ArgumentTag(kind);
    std::memcpy(at + 1, &number, sizeof(number));
    return at + 3;
  }

  // Null: not all elements are integers of 32 bits.
  static uint32_t* PutIntegers(uint32_t* at, const c10::IValue& list) {
    const c10::ArrayRef<c10::IValue> values = list.toListRef();
    if (OPSCOPE_UNLIKELY(values.size() > kMaxIntegers)) return nullptr;
    if (OPSCOPE_UNLIKELY(values.empty()) && !IsOfIntegers(list)) return nullptr;
    *at++ = ArgumentTag(ArgKind::kIntList, values.size());
    for (const c10::IValue& value : values) {
      if (OPSCOPE_UNLIKELY(!value.isInt() || IntOf(value) != static_cast<int32_t>(IntOf(value)))) return nullptr;
      *at++ = static_cast<uint32_t>(IntOf(value));
    }
    return at;
  }

  // The element type of an empty list is known only from the type of the list. (The sizes of a scalar tensor are such a
  // list.)
  static __attribute__((noinline)) bool IsOfIntegers(const c10::IValue& list) { return list.isIntList(); }

  uint32_t word_count_, tensor_count_;
  alignas(8) uint32_t words_[kWords + 1];
  alignas(TensorIdentity) std::byte tensors_[kTensors * sizeof(TensorIdentity)];
};

struct NoArguments {
  bool Encode(c10::ArrayRef<const c10::IValue>) { return true; }
  static constexpr const uint32_t* words() { return nullptr; }
  static constexpr uint32_t words_bytes() { return 0; }
  static constexpr const std::byte* tensors() { return nullptr; }
  static constexpr uint32_t tensor_count() { return 0; }
  static constexpr uint32_t tensors_bytes() { return 0; }
};
template <uint32_t Options>
using FastArgumentsOf =
    std::conditional_t<(Options & kWithInputs) == 0, NoArguments, FastArguments<(Options & kWithTensors) != 0>>;

// Returns name 0 if the slow path has to write the entries. The offsets are those of the stream's current chunk.
template <uint32_t Options>
inline ScopeEntries TryWriteFast(Stream* stream, const at::RecordFunction& range) {
  constexpr bool kHasInputs = (Options & kWithInputs) != 0;
  const bool has_keywords = kHasInputs && !(range.*Reach(torch_layout::KeywordInputs())).empty();
  if (OPSCOPE_UNLIKELY(range.handle() != 0 || has_keywords)) return {};
  c10::ArrayRef<const c10::IValue> inputs;
  if constexpr (kHasInputs) {
    const Schema* schema = SchemaOf(range);
    inputs = schema != nullptr ? OwnInputs(range, *schema) : range.inputs();
  }
  FastArgumentsOf<Options> arguments;
  if (OPSCOPE_UNLIKELY(!arguments.Encode(inputs))) return {};
  const uint32_t name = OffsetOf(InternAndRecordOperator(stream, range, (Options & kWithTensors) != 0));
  PayloadHeader header;
  header.bytes = static_cast<uint32_t>(sizeof(header)) + arguments.words_bytes();
  header.fields = 0;
  header.arg_count = static_cast<uint16_t>(inputs.size());
  const bool has_sequence = range.seqNr() >= 0 || range.forwardThreadId() != 0;
  if (has_sequence) {
    header.bytes += 16;
    header.fields |= payload_fields::kSequence;
  }
  if (arguments.tensor_count() != 0) {
    header.bytes += 8 + arguments.tensors_bytes();
    header.fields |= payload_fields::kTensors;
  }
  if (header.bytes == sizeof(header)) return {name, 0};
  if (OPSCOPE_UNLIKELY(name == 0 || !HasRoom(stream, header.bytes))) return {};
  char* payload = ReserveEntry(stream, header.bytes);
  PrefetchEntries(stream);
  char* place = Store(payload, header);
  if (has_sequence) place = Store(Store(place, range.seqNr()), range.forwardThreadId());
  if (arguments.tensor_count() != 0) {
    place = Store(place, uint64_t{arguments.tensor_count()});
    place = CopyWords(place, arguments.tensors(), arguments.tensors_bytes());
  }
  CopyWords(place, arguments.words(), arguments.words_bytes());
  return {name, OffsetInChunk(stream, payload)};
}

}  // namespace opscope
