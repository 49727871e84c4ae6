// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/known_arguments.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstring>

#include "opscope/record.h"
#include "opscope/recorder_abi.h"
#include "sources/torch/argument_words.h"

namespace opscope {
namespace {

// Looks through the words of an encoding, one argument after the other. Every word that it reads is one that the tag
// before it promises.
class Comparer {
 public:
  explicit Comparer(const uint32_t* words) : at_(words) {}

  // Whether the argument is encoded as the next words are; these are behind it then.
  __attribute__((always_inline)) bool Passes(const c10::IValue& value) {
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      if (OPSCOPE_UNLIKELY(!tensor.defined())) return *at_++ == ArgumentTag(ArgKind::kUndefined);
      return PassesTensor(*tensor.unsafeGetTensorImpl());
    }
    if (value.isInt()) return PassesWide(ArgKind::kInt, static_cast<uint64_t>(IntOf(value)));
    if (value.isNone()) return *at_++ == ArgumentTag(ArgKind::kOther);
    if (value.isBool()) return *at_++ == ArgumentTag(ArgKind::kBool, value.toBool() ? 1 : 0);
    if (value.isDouble()) {
      uint64_t bits = 0;
      const double number = value.toDouble();
      std::memcpy(&bits, &number, sizeof(bits));
      return PassesWide(ArgKind::kDouble, bits);
    }
    return value.isList() && PassesIntegers(value.toListRef());
  }

 private:
  bool PassesWide(ArgKind kind, uint64_t value) {
    if (*at_ != ArgumentTag(kind)) return false;
    uint64_t stored = 0;
    std::memcpy(&stored, at_ + 1, sizeof(stored));
    at_ += 3;
    return stored == value;
  }

  __attribute__((always_inline)) bool PassesTensor(const c10::TensorImpl& tensor) {
    if (OPSCOPE_UNLIKELY(!IsPlain(tensor))) return false;
    const c10::IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
    const size_t count = sizes.size();
    const auto element = static_cast<uint32_t>(c10::typeMetaToScalarType(tensor.dtype()));
    const uint32_t tag = *at_;
    if ((tag & ~arg_flags::kContiguous) != ArgumentTag(ArgKind::kTensor, count, 0, element)) return false;
    const uint32_t* stored = at_ + 1;
    uint64_t difference = 0;
    if ((tag & arg_flags::kContiguous) != 0) {
      int64_t expected = 1;
      for (size_t i = count; i-- > 0;) {
        const int64_t size = sizes[i];
        difference |= static_cast<uint64_t>(size) ^ stored[i];
        difference |= static_cast<uint64_t>(strides[i]) ^ static_cast<uint64_t>(expected);
        expected *= size;
      }
      at_ = stored + count;
    } else {
      for (size_t i = 0; i < count; ++i) {
        difference |= static_cast<uint64_t>(sizes[i]) ^ stored[i];
        difference |= static_cast<uint64_t>(strides[i]) ^ stored[count + i];
      }
      at_ = stored + 2 * count;
    }
    return difference == 0;
  }

  bool PassesIntegers(c10::ArrayRef<c10::IValue> values) {
    if (values.empty() || values.size() > kMaxScalarListLength) return false;
    if (*at_++ != ArgumentTag(ArgKind::kIntList, values.size())) return false;
    for (const c10::IValue& value : values) {
      if (!value.isInt() || IntOf(value) != static_cast<int32_t>(*at_++)) return false;
    }
    return true;
  }

  const uint32_t* at_;
};

class KeyMaker {
 public:
  uint64_t key() const { return bits_ | uint64_t{1} << 63; }

  // False: of a kind that Comparer does not pass.
  bool Take(const c10::IValue& value) {
    if (value.isTensor()) return TakeTensor(value.toTensor());
    if (value.isList()) return TakeList(value.toListRef());
    if (value.isDouble()) {
      uint64_t bits = 0;
      const double number = value.toDouble();
      std::memcpy(&bits, &number, sizeof(bits));
      Mix(bits);
      return true;
    }
    Mix(value.isInt() ? static_cast<uint64_t>(IntOf(value)) : value.isBool() && value.toBool() ? 1 : 0);
    return value.isInt() || value.isBool() || value.isNone();
  }

 private:
  void Mix(uint64_t value) {
    bits_ = (bits_ ^ value) * 0x9e3779b97f4a7c15u;
    bits_ ^= bits_ >> 29;
  }

  bool TakeTensor(const at::Tensor& tensor) {
    if (!tensor.defined()) return true;
    const c10::TensorImpl& body = *tensor.unsafeGetTensorImpl();
    if (!IsPlain(body)) return false;
    const c10::IntArrayRef sizes = body.sizes(), strides = body.strides();
    auto shape = static_cast<uint64_t>(c10::typeMetaToScalarType(body.dtype()));
    for (const int64_t size : sizes)
      shape = shape * 0x100000001b3u + static_cast<uint64_t>(size);
    if (!strides.empty()) shape = shape * 0x100000001b3u + static_cast<uint64_t>(strides[0]);
    Mix(shape);
    return true;
  }

  bool TakeList(c10::ArrayRef<c10::IValue> values) {
    if (values.empty() || values.size() > kMaxScalarListLength) return false;
    uint64_t all = values.size();
    for (const c10::IValue& value : values) {
      if (!value.isInt()) return false;
      all = all * 0x100000001b3u + static_cast<uint64_t>(IntOf(value));
    }
    Mix(all);
    return true;
  }

  uint64_t bits_ = 0;
};

}  // namespace

uint64_t KeyOf(c10::ArrayRef<const c10::IValue> inputs) {
  KeyMaker maker;
  for (const c10::IValue& input : inputs) {
    if (!maker.Take(input)) return 0;
  }
  return maker.key();
}

bool AreEncodedAs(c10::ArrayRef<const c10::IValue> inputs, const uint32_t* words) {
  Comparer comparer(words);
  for (const c10::IValue& input : inputs) {
    if (!comparer.Passes(input)) return false;
  }
  return true;
}

}  // namespace opscope
