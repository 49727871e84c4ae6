// An argument is a tag word and the words of its value. The tag has the kind, the element type and a count:
//
//   float tensor of 2 x 3, contiguous     tag(kTensor, 2 sizes, kContiguous, float) 2 3
//   the same, transposed                  tag(kTensor, 2 sizes, float) 3 2 1 3        sizes, then strides
//   int 7                                 tag(kInt) 7 0                               64 bits in two words
//
// Strides that follow from the sizes are left out, because a reader can compute them. If a number needs more than 32
// bits, its argument is kWide: two words per number. The encoder counts words beyond the capacity without writing them,
// so the caller learns the size of a long list and encodes it again with enough room; nothing is allocated.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/calls/argument_encoder.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstring>

#include "opscope/record.h"
#include "sources/torch/calls/argument_words.h"

namespace opscope {
namespace {

bool NeedsTwoWords(c10::IntArrayRef values) {
  uint64_t out_of_range = 0;
  for (const int64_t value : values)
    out_of_range |= static_cast<uint64_t>(value) + 0x80000000u;
  return (out_of_range >> 32) != 0;
}

// True: a reader computes exactly these strides from the sizes. PutSmallTensor uses the same rule.
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

  // Inlined: nearly every argument is a tensor.
  __attribute__((always_inline)) void PutTensor(const at::Tensor& tensor) {
    c10::TensorImpl* body = tensor.unsafeGetTensorImpl();
    if (!tensor.defined() || body->is_nested() || body->has_symbolic_sizes_strides()) {
      Put(ArgumentTag(ArgKind::kUndefined));
      return;
    }
    const auto element = static_cast<uint32_t>(c10::typeMetaToScalarType(body->dtype()));
    if (const c10::Layout layout = body->layout(); layout != c10::kStrided) {  // strides() of a sparse tensor throws
      PutTensorWithoutStrides(body->sizes(), layout, element);
      if (tensors_ != nullptr) tensors_->Add(IdentityOf(body, layout));
      return;
    }
    if (!PutSmall(body->sizes(), body->strides(), element)) PutLargeTensor(body->sizes(), body->strides(), element);
    if (tensors_ != nullptr) tensors_->Add(body);
  }

  void PutScalar(const c10::IValue& value) {
    if (value.isInt()) {
      Put(ArgumentTag(ArgKind::kInt));
      PutWide(static_cast<uint64_t>(IntOf(value)));
    } else if (value.isDouble()) {
      Put(ArgumentTag(ArgKind::kDouble));
      PutDouble(value.toDouble());
    } else if (value.isBool()) {
      Put(ArgumentTag(ArgKind::kBool, value.toBool() ? 1 : 0));
    } else if (value.isComplexDouble()) {
      const c10::complex<double> number = value.toComplexDouble();
      Put(ArgumentTag(ArgKind::kComplex));
      PutDouble(number.real());
      PutDouble(number.imag());
    } else {
      Put(ArgumentTag(ArgKind::kOther));  // a symbolic scalar: reading its value would call Python
    }
  }

  void PutTensorList(c10::ArrayRef<c10::IValue> tensors) {
    if (tensors.size() > 0xffff) {
      Put(ArgumentTag(ArgKind::kOther));
      return;
    }
    Put(ArgumentTag(ArgKind::kTensorList, tensors.size()));
    for (const c10::IValue& tensor : tensors)
      PutTensor(tensor.toTensor());
  }

  void PutList(const c10::IValue& list) {
    const c10::ArrayRef<c10::IValue> values = list.toListRef();
    if (values.empty() || values[0].isTensor()) {  // isTensorList() is slower: it compares types
      if (list.isTensorList()) {
        PutTensorList(values);
      } else {  // in torch an empty list of anything but tensors is a list of scalars
        Put(ArgumentTag(values.empty() ? ArgKind::kIntList : ArgKind::kOther));
      }
    } else if (values[0].isScalar() && values.size() <= kMaxScalarListLength) {
      PutScalarList(values);
    } else {
      Put(ArgumentTag(ArgKind::kOther));
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
      Put(ArgumentTag(ArgKind::kOther));
    }
  }

 private:
  // The fast path of a tensor whose numbers all fit 32 bits. False: nothing was written.
  __attribute__((always_inline)) bool PutSmall(c10::IntArrayRef sizes, c10::IntArrayRef strides, uint32_t element) {
    if (words_ + 1 + 2 * sizes.size() > capacity_) return false;
    const uint32_t words = PutSmallTensor(out_ + words_, sizes, strides, element);
    words_ += words;
    return words != 0;
  }

  __attribute__((noinline)) void PutLargeTensor(c10::IntArrayRef sizes, c10::IntArrayRef strides, uint32_t element) {
    const bool dense = StridesFollowFromSizes(sizes, strides);
    const bool wide = NeedsTwoWords(sizes) || (!dense && NeedsTwoWords(strides));
    const uint32_t flags = (dense ? arg_flags::kContiguous : 0) | (wide ? arg_flags::kWide : 0);
    Put(ArgumentTag(ArgKind::kTensor, sizes.size(), flags, element));
    PutIntegers(sizes, wide);
    if (!dense) PutIntegers(strides, wide);
  }

  __attribute__((noinline)) void PutTensorWithoutStrides(c10::IntArrayRef sizes, c10::Layout layout, uint32_t element) {
    if (sizes.size() > arg_flags::kMaxUnstridedSizes) return Put(ArgumentTag(ArgKind::kUndefined));
    const bool wide = NeedsTwoWords(sizes);
    const uint32_t flags = arg_flags::NoStrides(static_cast<uint32_t>(layout)) | (wide ? arg_flags::kWide : 0);
    Put(ArgumentTag(ArgKind::kTensor, sizes.size(), flags, element));
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
      Put(ArgumentTag(ArgKind::kIntList, values.size(), wide ? arg_flags::kWide : 0));
      for (const c10::IValue& value : values) {
        const auto bits = static_cast<uint64_t>(IntOf(value));
        wide ? PutWide(bits) : Put(static_cast<uint32_t>(bits));
      }
    } else if (AllOf(values, [](const c10::IValue& value) { return value.isDouble(); })) {
      Put(ArgumentTag(ArgKind::kDoubleList, values.size()));
      for (const c10::IValue& value : values)
        PutDouble(value.toDouble());
    } else if (AllOf(values, [](const c10::IValue& value) { return value.isBool(); })) {
      Put(ArgumentTag(ArgKind::kBoolList, values.size()));
      for (const c10::IValue& value : values)
        Put(value.toBool() ? 1 : 0);
    } else {
      Put(ArgumentTag(ArgKind::kScalarList, values.size()));
      for (const c10::IValue& value : values)
        PutScalar(value);
    }
  }

  uint32_t* out_;
  uint32_t capacity_;
  TensorIdentities* tensors_;
  uint32_t words_ = 0;
};

}  // namespace

EncodedArguments EncodeArguments(c10::ArrayRef<const c10::IValue> inputs, uint32_t* out, uint32_t capacity,
                                 TensorIdentities* tensors) {
  Encoder encoder(out, capacity, tensors);
  const size_t count = inputs.size() < 0xffff ? inputs.size() : 0xffff;
  for (size_t i = 0; i < count; ++i)
    encoder.PutArgument(inputs[i]);
  return {encoder.words(), static_cast<uint16_t>(count)};
}

}  // namespace opscope
