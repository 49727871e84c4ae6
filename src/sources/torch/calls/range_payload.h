// What a range that begins leaves in its thread's chunk: the name, and a payload with its numbers and arguments.
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

// What torch hands out only by a copy (kwinputs()) or by a call into its library (name(), isAsync()) is read in place.
using torch_layout::Schema;

// Null: the range was begun by its name.
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

inline uint32_t InternOverload(Stream* stream, const std::string& overload) {
  return OffsetOf(InternEntryAt(stream, overload.data(), overload.size()));
}

// Arguments of a call, encoded before anything is taken from the stream: reading a tensor's sizes can
// run Python code (tensor subclasses), and so other operators of this very thread.
struct EncodedInputs {
  static constexpr uint32_t kCapacity = 256;
  static_assert(kCapacity % 2 == 0);
  uint32_t words[kCapacity];
  EncodedArguments arguments;
  c10::ArrayRef<const c10::IValue> values;
  std::string keywords;
  TensorIdentities tensors;
};

// A boxed call passes the interpreter's whole stack; its own arguments are the last ones. A node of autograd has as
// many as it has.
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
  } catch (...) {  // a tensor subclass that cannot tell its sizes; the range itself is recorded
    inputs->arguments = {};
    inputs->values = {};
    inputs->tensors.Clear();
    CountFailure();
  }
}

__attribute__((noinline)) inline void NoteScriptPlace(uint64_t window, uint32_t flags, EncodedInputs* inputs) {
  try {
    AddScriptPlace(flags, window, &inputs->keywords);
  } catch (...) {
    CountFailure();
  }
}

// Apart: the encoder would be compiled into every start function once more.
__attribute__((noinline, cold)) inline void StoreLongList(const EncodedInputs& inputs, char* place) {
  const uint32_t words = inputs.arguments.words;
  std::memset(place, 0, words * sizeof(uint32_t));  // reads as kOther should anything below fail
  try {
    EncodeArguments(inputs.values, reinterpret_cast<uint32_t*>(place), words, nullptr);
  } catch (...) {
    CountFailure();
  }
}

// Copies `bytes`, a multiple of 8, and returns the place behind them. A few words: a call of memcpy takes longer than
// they do, and the compiler makes one of every loop that it knows as such.
inline char* CopyWords(char* place, const void* from, uint32_t bytes) {
  const char* source = static_cast<const char*>(from);
  for (const char* end = place + bytes; place != end; place += 8, source += 8) {
    __asm__("" : "+r"(source));
    const uint64_t word = LoadWord(source);
    std::memcpy(place, &word, sizeof(word));
  }
  return place;
}

// With what fills the last eight bytes.
inline uint32_t BytesOfWords(uint32_t words) {
  return (words * uint32_t{sizeof(uint32_t)} + 7u) & ~7u;
}

// Writes the encoded arguments at `place`, which has room for them and what fills the last eight bytes.
inline void StoreArguments(EncodedInputs* inputs, char* place) {
  const uint32_t words = inputs->arguments.words;
  if (__builtin_expect(words <= EncodedInputs::kCapacity, 1)) {
    if ((words & 1u) != 0) inputs->words[words] = 0;  // there is one more: the capacity is even
    CopyWords(place, inputs->words, BytesOfWords(inputs->arguments.words));
  } else {
    if ((words & 1u) != 0) std::memset(place + words * sizeof(uint32_t), 0, sizeof(uint32_t));
    StoreLongList(*inputs, place);
  }
}

// The range's name, as InternName, whose operator is noted where its tensors are: once per name and chunk. The mark
// stands where other sources remember a payload that may be repeated; ours never is.
inline NameCacheEntry* InternNoted(Stream* stream, const at::RecordFunction& range, bool with_tensors) {
  constexpr uint32_t kNoted = 1;
  NameCacheEntry* known = InternName(stream, range);
  if (!with_tensors || known == nullptr || known->payload == kNoted) return known;
  const Schema* schema = SchemaOf(range);
  if (schema != nullptr && range.scope() == at::RecordScope::FUNCTION) {
    known->payload = kNoted;
    NoteOperator(&schema->get());
  }
  return known;
}

template <typename Word>
inline char* Store(char* place, Word word) {
  std::memcpy(place, &word, sizeof(word));
  return place + sizeof(word);
}

// Name and payload of the range in one chunk of the stream.
// flags: of torch_source_flags.
inline ScopeEntries WriteEntries(uint32_t flags, Stream* stream, const at::RecordFunction& range,
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

  if (bytes == sizeof(PayloadHeader)) return {OffsetOf(InternNoted(stream, range, with_tensors)), 0};
  uint32_t overload_offset = 0;
  uint32_t keywords_offset = 0;
  const NameAndRoom room = InternAndReserve(stream, bytes, [&] {
    if ((fields & payload_fields::kOverload) != 0) overload_offset = InternOverload(stream, *overload);
    if ((fields & payload_fields::kKeywords) != 0) {
      keywords_offset = opscope_intern_slow(stream, inputs->keywords.data(), inputs->keywords.size());
    }
    return OffsetOf(InternNoted(stream, range, with_tensors));
  });
  if (OPSCOPE_UNLIKELY(room.side == nullptr)) return {room.name, 0};
  FetchSide(stream);
  char* place = room.side;
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
    CountFailure();  // the second look at a long list ran operators that filled the chunk
    return {OffsetOf(InternName(stream, range)), 0};
  }
  return {room.name, OffsetInChunk(stream, room.side)};
}

}  // namespace opscope
