// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/argument_encoder.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstring>

#include "opscope/record.h"

namespace opscope {
namespace {

constexpr uint32_t Tag(ArgKind kind, uint64_t count = 0, uint32_t flags = 0, uint32_t element = 0) {
  return static_cast<uint32_t>(kind) | (element & 0xffu) << 4 | flags | static_cast<uint32_t>(count) << 16;
}

// REQUIRES: isInt(). Without the look at symbolic integers, for which toInt() is a call.
__attribute__((flatten)) inline int64_t IntOf(const c10::IValue& value) {
  if (!value.isInt()) __builtin_unreachable();
  return value.toInt();
}

bool NeedsTwoWords(c10::IntArrayRef values) {
  uint64_t out_of_range = 0;
  for (const int64_t value : values)
    out_of_range |= static_cast<uint64_t>(value) + 0x80000000u;
  return (out_of_range >> 32) != 0;
}

// True when a reader gets exactly these strides back from the sizes (PutSmallTensor has the same rule). Torch counts an
// empty dimension as one when it lays out a dense tensor; a plain product would not, so such tensors keep their
// strides.
bool StridesFollowFromSizes(c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (strides[i] != expected || (sizes[i] == 0 && i != 0)) return false;
    expected *= sizes[i];
  }
  return true;
}

class Encoder {
 public:
  Encoder(uint32_t* out, uint32_t capacity, TensorIdentities* tensors)
      : out_(out), capacity_(capacity), tensors_(tensors) {}

  uint32_t words() const { return words_; }

  void Put(uint32_t word) {
    if (words_ < capacity_) out_[words_] = word;
    ++words_;
  }

  void PutWide(uint64_t value) {
    Put(static_cast<uint32_t>(value));
    Put(static_cast<uint32_t>(value >> 32));
  }

  void PutDouble(double value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    PutWide(bits);
  }

  void PutIntegers(c10::IntArrayRef values, bool wide) {
    if (!wide && words_ + values.size() <= capacity_) {
      for (const int64_t value : values)
        out_[words_++] = static_cast<uint32_t>(value);
      return;
    }
    for (const int64_t value : values)
      wide ? PutWide(static_cast<uint64_t>(value)) : Put(static_cast<uint32_t>(value));
  }

  // Nearly every argument is one.
  __attribute__((always_inline)) void PutTensor(const at::Tensor& tensor) {
    c10::TensorImpl* body = tensor.unsafeGetTensorImpl();
    if (!tensor.defined() || body->is_nested() || body->has_symbolic_sizes_strides()) {
      Put(Tag(ArgKind::kUndefined));
      return;
    }
    const auto element = static_cast<uint32_t>(c10::typeMetaToScalarType(body->dtype()));
    if (const c10::Layout layout = body->layout(); layout != c10::kStrided) {  // strides() of a sparse tensor throws
      PutTensorWithoutStrides(body->sizes(), layout, element);
      if (tensors_ != nullptr) tensors_->Add(IdentityOf(body, layout));
      return;
    }
    if (!PutSmallTensor(body->sizes(), body->strides(), element)) {
      PutLargeTensor(body->sizes(), body->strides(), element);
    }
    if (tensors_ != nullptr) tensors_->Add(body);
  }

  void PutScalar(const c10::IValue& value) {
    if (value.isInt()) {
      Put(Tag(ArgKind::kInt));
      PutWide(static_cast<uint64_t>(IntOf(value)));
    } else if (value.isDouble()) {
      Put(Tag(ArgKind::kDouble));
      PutDouble(value.toDouble());
    } else if (value.isBool()) {
      Put(Tag(ArgKind::kBool, value.toBool() ? 1 : 0));
    } else if (value.isComplexDouble()) {
      const c10::complex<double> number = value.toComplexDouble();
      Put(Tag(ArgKind::kComplex));
      PutDouble(number.real());
      PutDouble(number.imag());
    } else {
      Put(Tag(ArgKind::kOther));  // symbolic scalars: their value would have to be asked from Python
    }
  }

  void PutTensorList(c10::ArrayRef<c10::IValue> tensors) {
    if (tensors.size() > 0xffff) {
      Put(Tag(ArgKind::kOther));
      return;
    }
    Put(Tag(ArgKind::kTensorList, tensors.size()));
    for (const c10::IValue& tensor : tensors)
      PutTensor(tensor.toTensor());
  }

  void PutList(const c10::IValue& list) {
    const c10::ArrayRef<c10::IValue> values = list.toListRef();
    if (values.empty() || values[0].isTensor()) {  // only then: isTensorList() compares types, elsewhere
      if (list.isTensorList()) {
        PutTensorList(values);
      } else {  // torch: an empty list of anything but tensors is a list of scalars
        Put(Tag(values.empty() ? ArgKind::kIntList : ArgKind::kOther));
      }
    } else if (values[0].isScalar() && values.size() <= kMaxScalarListLength) {
      PutScalarList(values);
    } else {
      Put(Tag(ArgKind::kOther));
    }
  }

  void PutArgument(const c10::IValue& value) {
    if (value.isTensor()) {
      PutTensor(value.toTensor());
    } else if (value.isScalar()) {
      PutScalar(value);
    } else if (value.isList()) {
      PutList(value);
    } else {
      Put(Tag(ArgKind::kOther));
    }
  }

 private:
  // Writes sizes and strides in one pass and forgets the strides again when they follow from the sizes.
  // Does nothing when a number needs two words or room is short: the usual tensor is small.
  __attribute__((always_inline)) bool PutSmallTensor(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                                                     uint32_t element) {
    const size_t count = sizes.size();
    if (words_ + 1 + 2 * count > capacity_) return false;
    uint32_t* out = out_ + words_;
    uint64_t out_of_range = 0;
    int64_t expected = 1;
    bool dense = true;
    for (size_t i = count; i-- > 0;) {
      const int64_t size = sizes[i];
      const int64_t stride = strides[i];
      out_of_range |= static_cast<uint64_t>(size) | static_cast<uint64_t>(stride);
      dense = dense && stride == expected && (size != 0 || i == 0);
      expected *= size;
      out[1 + i] = static_cast<uint32_t>(size);
      out[1 + count + i] = static_cast<uint32_t>(stride);
    }
    if ((out_of_range >> 31) != 0) return false;
    out[0] = Tag(ArgKind::kTensor, count, dense ? arg_flags::kContiguous : 0, element);
    words_ += static_cast<uint32_t>(1 + (dense ? count : 2 * count));
    return true;
  }

  __attribute__((noinline)) void PutLargeTensor(c10::IntArrayRef sizes, c10::IntArrayRef strides, uint32_t element) {
    const bool dense = StridesFollowFromSizes(sizes, strides);
    const bool wide = NeedsTwoWords(sizes) || (!dense && NeedsTwoWords(strides));
    const uint32_t flags = (dense ? arg_flags::kContiguous : 0) | (wide ? arg_flags::kWide : 0);
    Put(Tag(ArgKind::kTensor, sizes.size(), flags, element));
    PutIntegers(sizes, wide);
    if (!dense) PutIntegers(strides, wide);
  }

  __attribute__((noinline)) void PutTensorWithoutStrides(c10::IntArrayRef sizes, c10::Layout layout, uint32_t element) {
    if (sizes.size() > arg_flags::kMostUnstridedSizes) return Put(Tag(ArgKind::kUndefined));
    const bool wide = NeedsTwoWords(sizes);
    const uint32_t flags = arg_flags::NoStrides(static_cast<uint32_t>(layout)) | (wide ? arg_flags::kWide : 0);
    Put(Tag(ArgKind::kTensor, sizes.size(), flags, element));
    PutIntegers(sizes, wide);
  }

  template <typename Predicate>
  static bool AllOf(c10::ArrayRef<c10::IValue> values, Predicate predicate) {
    for (const c10::IValue& value : values) {
      if (!predicate(value)) return false;
    }
    return true;
  }

  void PutScalarList(c10::ArrayRef<c10::IValue> values) {
    if (AllOf(values, [](const c10::IValue& value) { return value.isInt(); })) {
      uint64_t out_of_range = 0;
      for (const c10::IValue& value : values)
        out_of_range |= static_cast<uint64_t>(IntOf(value)) + 0x80000000u;
      const bool wide = (out_of_range >> 32) != 0;
      Put(Tag(ArgKind::kIntList, values.size(), wide ? arg_flags::kWide : 0));
      for (const c10::IValue& value : values) {
        const auto bits = static_cast<uint64_t>(IntOf(value));
        wide ? PutWide(bits) : Put(static_cast<uint32_t>(bits));
      }
    } else if (AllOf(values, [](const c10::IValue& value) { return value.isDouble(); })) {
      Put(Tag(ArgKind::kDoubleList, values.size()));
      for (const c10::IValue& value : values)
        PutDouble(value.toDouble());
    } else if (AllOf(values, [](const c10::IValue& value) { return value.isBool(); })) {
      Put(Tag(ArgKind::kBoolList, values.size()));
      for (const c10::IValue& value : values)
        Put(value.toBool() ? 1 : 0);
    } else {
      Put(Tag(ArgKind::kScalarList, values.size()));
      for (const c10::IValue& value : values)
        PutScalar(value);
    }
  }

  uint32_t* out_;
  uint32_t capacity_;
  TensorIdentities* tensors_;
  uint32_t words_ = 0;
};

// Of tensors that know their own sizes: none of a class of Python, of a transformation, of a device that counts them
// when it is asked.
bool IsPlain(const c10::TensorImpl& tensor) {
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

// Looks through the words of an encoding, one argument after the other. Every word that it reads is one that the tag
// before it promises.
class Comparer {
 public:
  explicit Comparer(const uint32_t* words) : at_(words) {}

  // Whether the argument is encoded as the next words are; these are behind it then.
  __attribute__((always_inline)) bool Passes(const c10::IValue& value) {
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      if (OPSCOPE_UNLIKELY(!tensor.defined())) return *at_++ == Tag(ArgKind::kUndefined);
      return PassesTensor(*tensor.unsafeGetTensorImpl());
    }
    if (value.isInt()) return PassesWide(ArgKind::kInt, static_cast<uint64_t>(IntOf(value)));
    if (value.isNone()) return *at_++ == Tag(ArgKind::kOther);
    if (value.isBool()) return *at_++ == Tag(ArgKind::kBool, value.toBool() ? 1 : 0);
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
    if (*at_ != Tag(kind)) return false;
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
    if ((tag & ~arg_flags::kContiguous) != Tag(ArgKind::kTensor, count, 0, element)) return false;
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
    if (*at_++ != Tag(ArgKind::kIntList, values.size())) return false;
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

EncodedArguments EncodeArguments(c10::ArrayRef<const c10::IValue> inputs, uint32_t* out, uint32_t capacity,
                                 TensorIdentities* tensors) {
  Encoder encoder(out, capacity, tensors);
  const size_t count = inputs.size() < 0xffff ? inputs.size() : 0xffff;
  for (size_t i = 0; i < count; ++i)
    encoder.PutArgument(inputs[i]);
  return {encoder.words(), static_cast<uint16_t>(count)};
}

}  // namespace opscope
