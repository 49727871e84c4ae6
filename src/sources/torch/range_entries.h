// What a range that begins leaves in its thread's chunk: the name, and a payload with its numbers and arguments.
// Options (option_bits) are template arguments: nothing is tested per event that was decided at start.
//
// Thread rule: the stream's own thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <variant>

#include "opscope/recorder.h"
#include "sources/streams/failures.h"
#include "sources/torch/argument_encoder.h"
#include "sources/torch/callback_bank.h"
#include "sources/torch/keyword_json.h"
#include "sources/torch/known_arguments.h"
#include "sources/torch/operator_kinds.h"
#include "sources/torch/script_place.h"
#include "sources/torch/tensor_identity.h"
#include "sources/torch/torch_layout.h"

namespace opscope {

inline constexpr uint32_t kWithInputs = option_bits::kInputs;
inline constexpr uint32_t kWithOverloads = option_bits::kOverloads;
inline constexpr uint32_t kWithTensors = option_bits::kTensors;
inline constexpr uint32_t kWithScripts = option_bits::kScripts;

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
};
struct EncodedTensors : EncodedInputs {
  TensorIdentities tensors;
};
template <uint32_t Options>
using InputsOf = std::conditional_t<(Options & kWithTensors) != 0, EncodedTensors, EncodedInputs>;

// A boxed call passes the interpreter's whole stack; its own arguments are the last ones.
inline c10::ArrayRef<const c10::IValue> OwnInputs(const at::RecordFunction& range, const Schema& schema) {
  const c10::ArrayRef<const c10::IValue> inputs = range.inputs();
  const size_t own = schema.get().arguments().size(), all = inputs.size();
  if (__builtin_expect(all <= own, 1)) return inputs;
  return c10::ArrayRef<const c10::IValue>(inputs.data() + (all - own), own);
}

// tensors: where the identities go, or null.
__attribute__((noinline)) inline void EncodeInputs(const at::RecordFunction& range, EncodedInputs* inputs,
                                                   TensorIdentities* tensors) {
  inputs->arguments = {};
  try {
    const Schema* schema = SchemaOf(range);
    inputs->values = schema != nullptr ? OwnInputs(range, *schema) : range.inputs();
    inputs->arguments = EncodeArguments(inputs->values, inputs->words, EncodedInputs::kCapacity, tensors);
    const auto& keywords = range.*Reach(torch_layout::KeywordInputs());
    if (OPSCOPE_UNLIKELY(!keywords.empty())) inputs->keywords = KeywordsAsJsonMembers(keywords);
  } catch (...) {  // a tensor subclass that cannot tell its sizes; the range itself is recorded
    inputs->arguments = {};
    inputs->values = {};
    if (tensors != nullptr) tensors->Clear();
    CountFailure();
  }
}

__attribute__((noinline)) inline void NoteScriptPlace(uint64_t window, const CallbackBinding& binding,
                                                      EncodedInputs* inputs) {
  try {
    AddScriptPlace(binding.flags.load(std::memory_order_relaxed), window, &inputs->keywords);
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

inline uint32_t BytesOf(const EncodedArguments& arguments) {
  return (arguments.words * uint32_t{sizeof(uint32_t)} + 7u) & ~7u;
}

// Writes the encoded arguments at `place`, which has room for them and what fills the last eight bytes.
inline void StoreArguments(EncodedInputs* inputs, char* place) {
  const uint32_t words = inputs->arguments.words;
  if (__builtin_expect(words <= EncodedInputs::kCapacity, 1)) {
    if ((words & 1u) != 0) inputs->words[words] = 0;  // there is one more: the capacity is even
    CopyWords(place, inputs->words, BytesOf(inputs->arguments));
  } else {
    if ((words & 1u) != 0) std::memset(place + words * sizeof(uint32_t), 0, sizeof(uint32_t));
    StoreLongList(*inputs, place);
  }
}

// The range's name, as InternName, whose operator is noted where its tensors are: once per name and chunk. The mark
// stands where payloads that may be repeated are remembered, those without tensors.
template <uint32_t Options>
inline NameCacheEntry* InternNoted(Stream* stream, const at::RecordFunction& range) {
  constexpr uint32_t kNoted = 1;
  NameCacheEntry* known = InternName(stream, range);
  if ((Options & kWithTensors) == 0 || known == nullptr || known->payload == kNoted) return known;
  if (const Schema* schema = SchemaOf(range); schema != nullptr) {
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

// The arguments of calls are equal, mostly, to those of the call before: then they are not written again. A payload
// without a sequence number serves as it is, else one that names the arguments of the other.
struct PayloadBefore {
  const char* place;  // in the current chunk
  PayloadHeader header;
  // Its fields are of kSequence and kOverload, and its arguments its own.
  explicit PayloadBefore(const char* at) : place(at) { std::memcpy(&header, place, sizeof(header)); }
  uint32_t fields_end() const {
    return static_cast<uint32_t>(sizeof(header)) + ((header.fields & payload_fields::kSequence) != 0 ? 16u : 0u) +
           ((header.fields & payload_fields::kOverload) != 0 ? 8u : 0u);
  }
};

inline bool HasArguments(const PayloadBefore& before, const EncodedInputs& inputs) {
  const uint32_t words = inputs.arguments.words;
  const uint32_t begin = before.fields_end();
  const bool has_as_many = before.header.arg_count == inputs.arguments.count &&
                           before.header.bytes - begin == ((words * uint32_t{sizeof(uint32_t)} + 7u) & ~7u);
  if (!has_as_many) return false;
  const char* own = before.place + begin;
  const auto* ours = reinterpret_cast<const char*>(inputs.words);
  const uint32_t bytes = words * uint32_t{sizeof(uint32_t)};
  for (uint32_t at = 0; at + 8 <= bytes; at += 8) {
    if (LoadWord(own + at) != LoadWord(ours + at)) return false;
  }
  if ((words & 1u) == 0) return true;
  uint32_t last = 0;
  std::memcpy(&last, own + bytes - sizeof(last), sizeof(last));
  return last == inputs.words[words - 1];
}

inline constexpr uint32_t kWorthComparing = 3;  // words; fewer are as long as what names them

// Fields of a payload that a later one may be compared with.
inline constexpr uint16_t kComparable = payload_fields::kSequence | payload_fields::kOverload;

// Name and payload of a range whose arguments are those of this payload, as has_arguments(PayloadBefore) tells; name 0:
// they are not, or there is no room for it in this chunk. All offsets are of the current chunk.
template <typename HasTheSame>
inline ScopeEntries WriteRepeated(Stream* stream, const at::RecordFunction& range, uint32_t name, uint32_t payload,
                                  uint64_t overload_offset, uint16_t fields, const HasTheSame& has_arguments) {
  const PayloadBefore before(reinterpret_cast<const char*>(stream->chunk) + payload);
  if (!has_arguments(before)) return {};
  const bool is_same = before.header.fields == fields && (fields & payload_fields::kSequence) == 0 &&
                       (overload_offset == 0 || LoadWord(before.place + sizeof(PayloadHeader)) == overload_offset);
  if (is_same) return {name, payload};
  PayloadHeader header;
  header.bytes = static_cast<uint32_t>(sizeof(header)) + ((fields & payload_fields::kSequence) != 0 ? 16u : 0u) +
                 (overload_offset != 0 ? 8u : 0u) + 8u;
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, header.bytes))) return {};
  header.fields = static_cast<uint16_t>(fields | payload_fields::kArgumentsOf);
  header.arg_count = before.header.arg_count;
  char* side = ReserveSide(stream, header.bytes);
  FetchSide(stream);
  char* place = Store(side, header);
  if ((fields & payload_fields::kSequence) != 0) {
    place = Store(place, range.seqNr());
    place = Store(place, range.forwardThreadId());
  }
  if (overload_offset != 0) place = Store(place, overload_offset);
  Store(place, uint64_t{payload});
  return {name, OffsetInChunk(stream, side)};
}

// Where arguments that came before lie in this chunk, whatever was called with them: layers take turns, so the last
// ones of a name are not enough. Among the stable names, as a text that lies at no address.
inline NameCacheEntry* ArgumentsSlot(Stream* stream, uint64_t key) {
  return NameCacheSlot(stream->stable_names, reinterpret_cast<const char*>(key));
}
inline void RememberArguments(Stream* stream, c10::ArrayRef<const c10::IValue> inputs, uint32_t payload) {
  const uint64_t key = KeyOf(inputs);
  if (key != 0) *ArgumentsSlot(stream, key) = {reinterpret_cast<const char*>(key), 0, payload};
}

// Whether WriteKnown may be asked first. With tensors not: their identities are written anew for each call, and what is
// spared beside them (18,000 of 713,000 instructions of a training step with all flags) took as much time as it saved.
template <uint32_t Options>
inline constexpr bool kMayBeKnown = (Options & (kWithInputs | kWithTensors | kWithOverloads)) == kWithInputs;

// Name and payload of the range in one chunk of the stream.
template <uint32_t Options>
inline ScopeEntries WriteEntries(Stream* stream, const at::RecordFunction& range, InputsOf<Options>* inputs) {
  const int64_t sequence = range.seqNr();
  const uint64_t forward_thread = range.forwardThreadId();
  [[maybe_unused]] const std::string* overload = nullptr;
  uint16_t fields = 0;
  uint32_t bytes = sizeof(PayloadHeader);
  if (sequence >= 0 || forward_thread != 0) {
    fields |= payload_fields::kSequence;
    bytes += 16;
  }
  if constexpr ((Options & kWithOverloads) != 0) {
    overload = &OverloadNameOf(range);
    if (!overload->empty()) {
      fields |= payload_fields::kOverload;
      bytes += 8;
    }
  }
  if constexpr ((Options & (kWithInputs | kWithScripts)) != 0) {
    if (OPSCOPE_UNLIKELY(!inputs->keywords.empty())) {
      fields |= payload_fields::kKeywords;
      bytes += 8;
    }
  }
  if constexpr ((Options & kWithInputs) != 0) {
    bytes += BytesOf(inputs->arguments);
  }
  if constexpr ((Options & kWithTensors) != 0) {
    if (inputs->tensors.size() != 0) {
      fields |= payload_fields::kTensors;
      bytes += 8 + inputs->tensors.bytes();
    }
  }
  if (OPSCOPE_UNLIKELY(range.handle() != 0)) {
    fields |= payload_fields::kRecordHandle;
    bytes += 8;
  }

  if (bytes == sizeof(PayloadHeader)) return {OffsetOf(InternNoted<Options>(stream, range)), 0};
  constexpr bool kMayRepeat = (Options & kWithInputs) != 0 && (Options & kWithTensors) == 0;
  [[maybe_unused]] bool may_repeat = false;
  if constexpr (kMayRepeat) {
    may_repeat = (fields & ~kComparable) == 0 && inputs->arguments.words <= EncodedInputs::kCapacity;
    if (may_repeat && inputs->arguments.words >= kWorthComparing) {
      const auto has_arguments = [&](const PayloadBefore& before) { return HasArguments(before, *inputs); };
      const uint64_t offset = (fields & payload_fields::kOverload) != 0 ? InternOverload(stream, *overload) : 0;
      const NameCacheEntry* last = InternName(stream, range);
      if (__builtin_expect(last != nullptr && last->payload != 0, 1)) {
        const ScopeEntries repeated =
            WriteRepeated(stream, range, last->offset, last->payload, offset, fields, has_arguments);
        if (__builtin_expect(repeated.name != 0, 1)) return repeated;
      }
    }
  }
  uint32_t overload_offset = 0;
  uint32_t keywords_offset = 0;
  NameCacheEntry* known = nullptr;
  const NameAndRoom room = InternAndReserve(stream, bytes, [&] {
    if ((fields & payload_fields::kOverload) != 0) {
      overload_offset = InternOverload(stream, *overload);
    }
    if constexpr ((Options & (kWithInputs | kWithScripts)) != 0) {
      if ((fields & payload_fields::kKeywords) != 0) {
        keywords_offset = opscope_intern_slow(stream, inputs->keywords.data(), inputs->keywords.size());
      }
    }
    known = InternNoted<Options>(stream, range);
    return OffsetOf(known);
  });
  if (OPSCOPE_UNLIKELY(room.side == nullptr)) return {room.name, 0};
  FetchSide(stream);
  char* place = room.side;
  [[maybe_unused]] const uint32_t sequence_of_chunk = stream->chunk_sequence;

  PayloadHeader header;
  header.bytes = bytes;
  header.fields = fields;
  if constexpr ((Options & kWithInputs) != 0) header.arg_count = inputs->arguments.count;
  place = Store(place, header);
  if ((fields & payload_fields::kSequence) != 0) {
    place = Store(place, sequence);
    place = Store(place, forward_thread);
  }
  if ((fields & payload_fields::kOverload) != 0) place = Store(place, uint64_t{overload_offset});
  if ((fields & payload_fields::kKeywords) != 0) place = Store(place, uint64_t{keywords_offset});
  if ((fields & payload_fields::kRecordHandle) != 0) place = Store(place, uint64_t{range.handle()});
  if constexpr ((Options & kWithTensors) != 0) {
    if (inputs->tensors.size() != 0) {
      place = Store(place, uint64_t{inputs->tensors.size()});
      place = CopyWords(place, inputs->tensors.data(), inputs->tensors.bytes());
    }
  }
  if constexpr ((Options & kWithInputs) != 0) {
    StoreArguments(inputs, place);
    if (OPSCOPE_UNLIKELY(stream->chunk_sequence != sequence_of_chunk)) {
      CountFailure();  // the second look at a long list ran operators that filled the chunk
      return {OffsetOf(InternName(stream, range)), 0};
    }
  }
  const uint32_t side = OffsetInChunk(stream, room.side);
  if constexpr (kMayRepeat) {
    if (may_repeat && known != nullptr) {
      known->payload = side;
      if constexpr (kMayBeKnown<Options>) RememberArguments(stream, inputs->values, side);
    }
  }
  return {room.name, side};
}

}  // namespace opscope
