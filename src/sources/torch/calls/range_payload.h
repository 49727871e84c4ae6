// Writes name and payload of a range that begins into the chunk of its thread. This is the slow path, for arguments of
// any kind, overload names, keyword inputs and TorchScript's stack; fast_path.h has the fast path.
//
// A payload is a PayloadHeader, then the optional fields in the order of payload_fields (record.h), then the words of
// the arguments. Example: `aten::add` of two float tensors of 2 x 3 and an int, with a sequence number:
//
//   header           bytes 64, fields kSequence, 3 arguments               8 bytes
//   kSequence        sequence number, forward thread                       16 bytes
//   words            tag 2 3 | tag 2 3 | tag and the int in two words      36 bytes and 4 of padding
//
// Thread rule: the stream's own thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <variant>

#include "opscope/recorder.h"
#include "opscope/torch_source.h"
#include "sources/streams/failures.h"
#include "sources/torch/abi/torch_layout.h"
#include "sources/torch/calls/argument_encoder.h"
#include "sources/torch/calls/keyword_json.h"
#include "sources/torch/calls/operator_signatures.h"
#include "sources/torch/calls/script_stack.h"
#include "sources/torch/tensors/tensor_identity.h"

namespace opscope {

// Private members are read in place, because torch's accessors copy (kwinputs()) or call into its library (name(),
// isAsync()).
using torch_layout::Schema;

// Null: the range began with a name and not with a schema, as user ranges do.
inline const Schema* SchemaOf(const at::RecordFunction& range) {
  return std::get_if<Schema>(&(range.*Reach(torch_layout::Name())));
}

// Valid during the start callback.
inline const std::string& NameOf(const at::RecordFunction& range) {
  const auto& named = range.*Reach(torch_layout::Name());
  const std::string* name = std::get_if<std::string>(&named);
  return name != nullptr ? *name : std::get_if<Schema>(&named)->get().name();
}

__attribute__((noinline)) inline NameCacheEntry* InternOwnName(Stream* stream, const at::RecordFunction& range) {
  const std::string& name = NameOf(range);
  return InternEntry(stream, name.data(), name.size());
}
// The range's name in the current chunk; null at the cap.
inline NameCacheEntry* InternName(Stream* stream, const at::RecordFunction& range) {
  const Schema* schema = SchemaOf(range);
  if (OPSCOPE_UNLIKELY(schema == nullptr)) return InternOwnName(stream, range);
  const std::string& name = schema->get().name();
  return InternEntryAt(stream, name.data(), name.size());
}
inline uint32_t OffsetOf(const NameCacheEntry* known) {
  return __builtin_expect(known != nullptr, 1) ? known->offset : 0;
}

inline const std::string& OverloadNameOf(const at::RecordFunction& range) {
  static const std::string& none = *new std::string;  // never destroyed: callbacks come at any time
  const Schema* schema = SchemaOf(range);
  return schema != nullptr ? schema->get().overload_name() : none;
}

// Arguments of one call. They are encoded before the stream is changed: reading the sizes of a tensor subclass can run
// Python code, and that can run other operators on this thread.
struct EncodedInputs {
  static constexpr uint32_t kCapacity = 256;
  static_assert(kCapacity % 2 == 0);
  uint32_t words[kCapacity];
  EncodedArguments arguments;
  c10::ArrayRef<const c10::IValue> values;
  std::string keywords;
  TensorIdentities tensors;
};

// A boxed call passes the interpreter's stack, whose last values are the arguments of the call. The schema of an
// autograd node is variadic (node_ranges.h): all values are its arguments.
inline c10::ArrayRef<const c10::IValue> OwnInputs(const at::RecordFunction& range, const Schema& schema) {
  const c10::ArrayRef<const c10::IValue> inputs = range.inputs();
  const size_t own = schema.get().arguments().size(), all = inputs.size();
  if (__builtin_expect(all <= own, 1) || schema.get().is_vararg()) return inputs;
  return c10::ArrayRef<const c10::IValue>(inputs.data() + (all - own), own);
}

__attribute__((noinline)) inline void EncodeInputs(const at::RecordFunction& range, EncodedInputs* inputs,
                                                   bool with_tensors) {
  TensorIdentities* tensors = with_tensors ? &inputs->tensors : nullptr;
  try {
    const Schema* schema = SchemaOf(range);
    inputs->values = schema != nullptr ? OwnInputs(range, *schema) : range.inputs();
    inputs->arguments = EncodeArguments(inputs->values, inputs->words, EncodedInputs::kCapacity, tensors);
    const auto& keywords = range.*Reach(torch_layout::KeywordInputs());
    if (OPSCOPE_UNLIKELY(!keywords.empty())) inputs->keywords = KeywordsAsJsonMembers(keywords);
  } catch (...) {  // a tensor subclass threw: record the range without arguments
    inputs->arguments = {};
    inputs->values = {};
    inputs->tensors.Clear();
    CountFailure();
  }
}

__attribute__((noinline)) inline void TryAddScriptStack(uint64_t window, uint32_t flags, EncodedInputs* inputs) {
  try {
    AddScriptStack(flags, window, &inputs->keywords);
  } catch (...) {
    CountFailure();
  }
}

// Never inlined: each start function would contain the encoder once more.
__attribute__((noinline, cold)) inline void StoreLongList(const EncodedInputs& inputs, char* place) {
  const uint32_t words = inputs.arguments.words;
  std::memset(place, 0, words * sizeof(uint32_t));  // zero words read as kOther, should the encoder throw
  try {
    EncodeArguments(inputs.values, reinterpret_cast<uint32_t*>(place), words, nullptr);
  } catch (...) {
    CountFailure();
  }
}

// Copies `bytes`, a multiple of 8, and returns the address behind the copy. For a few words this loop is faster than a
// call of memcpy; the empty asm keeps the compiler from turning it into that call.
inline char* CopyWords(char* place, const void* from, uint32_t bytes) {
  const char* source = static_cast<const char*>(from);
  for (const char* end = place + bytes; place != end; place += 8, source += 8) {
    __asm__("" : "+r"(source));
    const uint64_t word = LoadWord(source);
    std::memcpy(place, &word, sizeof(word));
  }
  return place;
}

// Rounded up to a multiple of 8.
inline uint32_t BytesOfWords(uint32_t words) {
  return (words * uint32_t{sizeof(uint32_t)} + 7u) & ~7u;
}

// Writes the encoded arguments at `place`. REQUIRES: room for BytesOfWords(inputs->arguments.words).
inline void StoreArguments(EncodedInputs* inputs, char* place) {
  const uint32_t words = inputs->arguments.words;
  if (__builtin_expect(words <= EncodedInputs::kCapacity, 1)) {
    if ((words & 1u) != 0) inputs->words[words] = 0;  // in bounds: the capacity is even
    CopyWords(place, inputs->words, BytesOfWords(inputs->arguments.words));
  } else {
    if ((words & 1u) != 0) std::memset(place + words * sizeof(uint32_t), 0, sizeof(uint32_t));
    StoreLongList(*inputs, place);
  }
}

// As InternName; for windows that identify tensors it also records the operator's signature, once per name and chunk.
// NameCacheEntry::payload marks a recorded name; other sources store the offset of a reusable payload there.
inline NameCacheEntry* InternAndRecordOperator(Stream* stream, const at::RecordFunction& range, bool with_tensors) {
  constexpr uint32_t kRecorded = 1;
  NameCacheEntry* known = InternName(stream, range);
  if (!with_tensors || known == nullptr || known->payload == kRecorded) return known;
  const Schema* schema = SchemaOf(range);
  if (schema != nullptr && range.scope() == at::RecordScope::FUNCTION) {
    known->payload = kRecorded;
    RecordOperator(&schema->get());
  }
  return known;
}

template <typename Word>
inline char* Store(char* place, Word word) {
  std::memcpy(place, &word, sizeof(word));
  return place + sizeof(word);
}

// Writes name and payload of the range into one chunk of the stream. flags: of torch_source_flags.
inline ScopeEntries WriteNameAndPayload(uint32_t flags, Stream* stream, const at::RecordFunction& range,
                                        EncodedInputs* inputs) {
  const int64_t sequence = range.seqNr();
  const uint64_t forward_thread = range.forwardThreadId();
  const bool with_tensors = (flags & torch_source_flags::kTensors) != 0;
  const std::string* overload = nullptr;
  uint16_t fields = 0;
  uint32_t bytes = sizeof(PayloadHeader) + BytesOfWords(inputs->arguments.words);
  if (sequence >= 0 || forward_thread != 0) {
    fields |= payload_fields::kSequence;
    bytes += 16;
  }
  if ((flags & torch_source_flags::kOverloadNames) != 0) {
    overload = &OverloadNameOf(range);
    if (!overload->empty()) {
      fields |= payload_fields::kOverload;
      bytes += 8;
    }
  }
  if (OPSCOPE_UNLIKELY(!inputs->keywords.empty())) {
    fields |= payload_fields::kKeywords;
    bytes += 8;
  }
  if (inputs->tensors.size() != 0) {
    fields |= payload_fields::kTensors;
    bytes += 8 + inputs->tensors.bytes();
  }
  if (OPSCOPE_UNLIKELY(range.handle() != 0)) {
    fields |= payload_fields::kRecordHandle;
    bytes += 8;
  }

  if (bytes == sizeof(PayloadHeader)) return {OffsetOf(InternAndRecordOperator(stream, range, with_tensors)), 0};
  uint32_t overload_offset = 0;
  uint32_t keywords_offset = 0;
  const NameAndRoom room = InternAndReserve(stream, bytes, [&] {
    if ((fields & payload_fields::kOverload) != 0) {
      overload_offset = OffsetOf(InternEntryAt(stream, overload->data(), overload->size()));
    }
    if ((fields & payload_fields::kKeywords) != 0) {
      keywords_offset = opscope_intern_slow(stream, inputs->keywords.data(), inputs->keywords.size());
    }
    return OffsetOf(InternAndRecordOperator(stream, range, with_tensors));
  });
  if (OPSCOPE_UNLIKELY(room.payload == nullptr)) return {room.name, 0};
  PrefetchEntries(stream);
  char* place = room.payload;
  const uint32_t sequence_of_chunk = stream->chunk_sequence;

  PayloadHeader header;
  header.bytes = bytes;
  header.fields = fields;
  header.arg_count = inputs->arguments.count;
  place = Store(place, header);
  if ((fields & payload_fields::kSequence) != 0) {
    place = Store(place, sequence);
    place = Store(place, forward_thread);
  }
  if ((fields & payload_fields::kOverload) != 0) place = Store(place, uint64_t{overload_offset});
  if ((fields & payload_fields::kKeywords) != 0) place = Store(place, uint64_t{keywords_offset});
  if ((fields & payload_fields::kRecordHandle) != 0) place = Store(place, uint64_t{range.handle()});
  if ((fields & payload_fields::kTensors) != 0) {
    place = Store(place, uint64_t{inputs->tensors.size()});
    place = CopyWords(place, inputs->tensors.data(), inputs->tensors.bytes());
  }
  StoreArguments(inputs, place);
  if (OPSCOPE_UNLIKELY(stream->chunk_sequence != sequence_of_chunk)) {
    CountFailure();  // reading a long list a second time ran operators that filled the chunk
    return {OffsetOf(InternName(stream, range)), 0};
  }
  return {room.name, OffsetInChunk(stream, room.payload)};
}

}  // namespace opscope
