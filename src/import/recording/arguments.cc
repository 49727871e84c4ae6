// Arguments are tagged 32-bit words (opscope/record.h): kind, element type and count, then sizes and values. A training
// loop calls the same operators with the same shapes, so a table from the hash of the bytes to the row avoids decoding
// nearly every record; bytes with equal hashes are compared.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/arguments.h"

#include <string>

#include "base/text.h"
#include "import/torch/values.h"

namespace opscope {
namespace {

ArgKind KindOf(uint32_t tag) {
  return static_cast<ArgKind>(tag & 15u);
}
uint32_t CountOf(uint32_t tag) {
  return tag >> 16;
}
uint32_t ElementOf(uint32_t tag) {
  return (tag >> 4) & 255u;
}

std::vector<int64_t> DenseStrides(std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size());
  uint64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(sizes[i]);
  }
  return strides;
}

}  // namespace

std::optional<ArgsId> RecordingArguments::Find(const EncodedArguments& arguments) {
  const auto found = known_.find(arguments.hash);
  if (found != known_.end()) {
    if (found->second.arguments.Same(arguments)) return found->second.id;
    return Decode(arguments.count, arguments.bytes);  // two contents with one hash: correct, but slow
  }
  const std::optional<ArgsId> id = Decode(arguments.count, arguments.bytes);
  known_.emplace(arguments.hash, Known{arguments, id});
  return id;
}

std::optional<ArgsId> RecordingArguments::Decode(uint16_t count, std::span<const std::byte> bytes) {
  integers_.clear();
  tensors_.clear();
  ByteReader reader(bytes);
  if (reader.remaining() / sizeof(uint32_t) < count)
    return std::nullopt;  // each argument has a tag; check before rows are allocated
  std::vector<ArgumentRow> rows(count);
  for (ArgumentRow& row : rows) {
    if (!DecodeOne(&reader, &row)) return std::nullopt;
  }
  if (reader.remaining() >= 8) return std::nullopt;  // one word of padding at most
  return builder_->AddArguments(rows);
}

bool RecordingArguments::DecodeOne(ByteReader* reader, ArgumentRow* row) {
  const auto tag = reader->Fixed<uint32_t>();
  if (!reader->ok()) return false;
  switch (KindOf(tag)) {
    case ArgKind::kOther:
      return true;
    case ArgKind::kTensor:
    case ArgKind::kUndefined:
      return DecodeTensor(tag, reader, row);
    case ArgKind::kTensorList:
      return DecodeTensorList(CountOf(tag), reader, row);
    case ArgKind::kIntList:
    case ArgKind::kDoubleList:
    case ArgKind::kBoolList:
    case ArgKind::kScalarList:
      return DecodeList(tag, reader, row);
    default:
      break;
  }
  row->kind = ArgumentKind::kScalar;
  row->dtype = builder_->Intern("Scalar");
  std::string text;
  if (!AppendScalar(tag, reader, &text)) return false;
  row->value = builder_->Intern(text);
  return true;
}

std::span<const int64_t> RecordingArguments::ReadIntegers(uint32_t count, bool wide, ByteReader* reader) {
  std::vector<int64_t>& values = integers_.emplace_back();
  if (reader->remaining() / (wide ? 8 : 4) < count) {
    reader->Bytes(UINT64_MAX);
    return {};
  }
  values.reserve(count);
  for (uint32_t i = 0; i < count; ++i)
    values.push_back(wide ? reader->Fixed<int64_t>() : reader->Fixed<int32_t>());
  return values;
}

bool RecordingArguments::DecodeTensor(uint32_t tag, ByteReader* reader, ArgumentRow* row) {
  if (KindOf(tag) == ArgKind::kUndefined) {
    row->kind = ArgumentKind::kUndefined;
    return true;
  }
  if (KindOf(tag) != ArgKind::kTensor) return false;
  row->kind = ArgumentKind::kTensor;
  if (ElementOf(tag) != kUnknownElement) row->dtype = builder_->Intern(TorchTypeName(ElementOf(tag)));
  const bool wide = (tag & arg_flags::kWide) != 0;
  row->sizes = ReadIntegers(arg_flags::SizesOf(tag), wide, reader);
  row->layout = TensorLayoutFromNumber(arg_flags::LayoutOf(tag));
  row->has_strides = (tag & arg_flags::kNoStrides) == 0;
  if (!row->has_strides) return reader->ok();
  if ((tag & arg_flags::kContiguous) != 0) {
    row->strides = integers_.emplace_back(DenseStrides(row->sizes));
  } else {
    row->strides = ReadIntegers(CountOf(tag), wide, reader);
  }
  return reader->ok();
}

bool RecordingArguments::DecodeTensorList(uint32_t count, ByteReader* reader, ArgumentRow* row) {
  row->kind = ArgumentKind::kTensorList;
  row->dtype = builder_->Intern("TensorList");
  if (reader->remaining() / 4 < count) return false;
  std::vector<ArgumentRow>& tensors = tensors_.emplace_back(count);
  for (ArgumentRow& tensor : tensors) {
    const auto tag = reader->Fixed<uint32_t>();
    if (!reader->ok() || !DecodeTensor(tag, reader, &tensor)) return false;
  }
  row->tensors = tensors;
  return true;
}

bool RecordingArguments::DecodeList(uint32_t tag, ByteReader* reader, ArgumentRow* row) {
  row->kind = ArgumentKind::kScalarList;
  row->dtype = builder_->Intern("ScalarList");
  std::string text = "[";
  for (uint32_t i = 0; i < CountOf(tag); ++i) {
    if (i > 0) text += ", ";
    switch (KindOf(tag)) {
      case ArgKind::kIntList:
        AppendInt(&text, (tag & arg_flags::kWide) != 0 ? reader->Fixed<int64_t>() : reader->Fixed<int32_t>());
        break;
      case ArgKind::kDoubleList:
        AppendTorchDouble(&text, reader->Fixed<double>());
        break;
      case ArgKind::kBoolList:
        text += reader->Fixed<uint32_t>() != 0 ? "True" : "False";
        break;
      default: {
        const auto element = reader->Fixed<uint32_t>();
        if (!reader->ok() || !AppendScalar(element, reader, &text)) return false;
      }
    }
    if (!reader->ok()) return false;
  }
  text += "]";
  row->value = builder_->Intern(text);
  return true;
}

bool RecordingArguments::AppendScalar(uint32_t tag, ByteReader* reader, std::string* text) {
  switch (KindOf(tag)) {
    case ArgKind::kInt:
      AppendInt(text, reader->Fixed<int64_t>());
      break;
    case ArgKind::kDouble:
      AppendTorchDouble(text, reader->Fixed<double>());
      break;
    case ArgKind::kBool:
      *text += CountOf(tag) != 0 ? "True" : "False";
      break;
    case ArgKind::kComplex: {
      const auto real = reader->Fixed<double>();
      AppendTorchComplex(text, real, reader->Fixed<double>());
      break;
    }
    default:
      return false;
  }
  return reader->ok();
}

}  // namespace opscope
