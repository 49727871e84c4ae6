// The life of one range: torch calls a start function of the bank, which writes name and payload into
// the calling thread's chunk and opens a scope; the context that torch keeps lies in the scope's own
// slot, so the end finds it without a search and without heap memory.
//
// What it costs (docs/performance.md): two clock reads, a name look-up by pointer, one store of 32
// bytes. Options are template arguments: nothing is tested per event that was decided at start.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/record_function.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "opscope/recorder.h"
#include "opscope/torch_source.h"
#include "sources/torch/argument_encoder.h"
#include "sources/torch/callback_bank.h"
#include "sources/torch/failures.h"
#include "sources/torch/keyword_json.h"
#include "sources/torch/operator_kinds.h"
#include "sources/torch/script_place.h"
#include "sources/torch/stream_of.h"
#include "sources/torch/tensor_identity.h"
#include "sources/torch/torch_layout.h"

namespace opscope {
namespace {

using Context = std::unique_ptr<at::ObserverContext>;

constexpr uint32_t kWithInputs = option_bits::kInputs;
constexpr uint32_t kWithOverloads = option_bits::kOverloads;
constexpr uint32_t kWithTensors = option_bits::kTensors;
constexpr uint32_t kWithScripts = option_bits::kScripts;

// Lives in OpenScope::context. Torch deletes it when it destroys its RecordFunction, which may be
// after the end of the range, on another thread, or after the window closed. The slot goes back in
// operator delete, that is after the destructor has written its last byte into it.
class RangeContext final : public at::ObserverContext {
 public:
  static void operator delete(void* place) { ReleaseScope(static_cast<OpenScope*>(place)); }
};
static_assert(sizeof(RangeContext) <= sizeof(OpenScope::context) && offsetof(OpenScope, context) == 0);

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

const std::string& OverloadNameOf(const at::RecordFunction& range) {
  static const std::string& none = *new std::string;  // never destroyed: callbacks come at any time
  const Schema* schema = SchemaOf(range);
  return schema != nullptr ? schema->get().overload_name() : none;
}

// Arguments of a call, encoded before anything is taken from the stream: reading a tensor's sizes can
// run Python code (tensor subclasses), and so other operators of this very thread.
struct EncodedInputs {
  static constexpr uint32_t kCapacity = 256;
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

// tensors: where the identities go, or null.
__attribute__((noinline)) void EncodeInputs(const at::RecordFunction& range, EncodedInputs* inputs,
                                            TensorIdentities* tensors) {
  inputs->arguments = {};
  try {
    inputs->values = range.inputs();
    if (const Schema* schema = SchemaOf(range)) {
      // A boxed call passes the interpreter's whole stack; its own arguments are the last ones.
      const size_t own = schema->get().arguments().size(), all = inputs->values.size();
      if (OPSCOPE_UNLIKELY(all > own)) {
        inputs->values = c10::ArrayRef<const c10::IValue>(inputs->values.data() + (all - own), own);
      }
      if (tensors != nullptr) NoteOperator(&schema->get());
    }
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

__attribute__((noinline)) void NoteScriptPlace(uint64_t window, const CallbackBinding& binding, EncodedInputs* inputs) {
  try {
    AddScriptPlace(binding.flags.load(std::memory_order_relaxed), window, &inputs->keywords);
  } catch (...) {
    CountFailure();
  }
}

// Writes the encoded arguments at `place`, which has room for `arguments.words`.
void StoreArguments(const EncodedInputs& inputs, char* place) {
  const uint32_t words = inputs.arguments.words;
  if (__builtin_expect(words <= EncodedInputs::kCapacity, 1)) {
    std::memcpy(place, inputs.words, words * sizeof(uint32_t));
    return;
  }
  std::memset(place, 0, words * sizeof(uint32_t));  // reads as kOther should anything below fail
  try {
    EncodeArguments(inputs.values, reinterpret_cast<uint32_t*>(place), words, nullptr);
  } catch (...) {
    CountFailure();
  }
}

template <typename Word>
inline char* Store(char* place, Word word) {
  std::memcpy(place, &word, sizeof(word));
  return place + sizeof(word);
}

// Name and payload of the range in one chunk of the stream.
template <uint32_t Options>
inline ScopeEntries WriteEntries(Stream* stream, const at::RecordFunction& range, const InputsOf<Options>* inputs) {
  const std::string& name = NameOf(range);
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
    bytes += (inputs->arguments.words * uint32_t{sizeof(uint32_t)} + 7u) & ~7u;
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

  if (bytes == sizeof(PayloadHeader)) return {InternText(stream, name.data(), name.size()), 0};
  uint32_t overload_offset = 0;
  uint32_t keywords_offset = 0;
  const NameAndRoom room = InternAndReserve(stream, bytes, [&] {
    if ((fields & payload_fields::kOverload) != 0) {
      overload_offset = InternText(stream, overload->data(), overload->size());
    }
    if constexpr ((Options & (kWithInputs | kWithScripts)) != 0) {
      if ((fields & payload_fields::kKeywords) != 0) {
        keywords_offset = opscope_intern_slow(stream, inputs->keywords.data(), inputs->keywords.size());
      }
    }
    return InternText(stream, name.data(), name.size());
  });
  if (OPSCOPE_UNLIKELY(room.side == nullptr)) return {room.name, 0};
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
      std::memcpy(place, inputs->tensors.data(), inputs->tensors.bytes());
      place += inputs->tensors.bytes();
    }
  }
  if constexpr ((Options & kWithInputs) != 0) {
    if ((inputs->arguments.words & 1u) != 0) std::memset(place + inputs->arguments.words * sizeof(uint32_t), 0, 4);
    StoreArguments(*inputs, place);
    if (OPSCOPE_UNLIKELY(stream->chunk_sequence != sequence_of_chunk)) {
      CountFailure();  // the second look at a long list ran operators that filled the chunk
      return {InternText(stream, name.data(), name.size()), 0};
    }
  }
  return {room.name, OffsetInChunk(stream, room.side)};
}

uint8_t FlagsOf(const at::RecordFunction& range) {
  if (__builtin_expect(range.scope() != at::RecordScope::USER_SCOPE, 1)) return 0;
  return NameOf(range).starts_with("ProfilerStep#") ? record_flags::kStep : 0;
}

// Asked at the begin only, as torch does it: a future that is attached later leaves the range in the nesting.
inline RecordKind KindOf(const at::RecordFunction& range) {
  return OPSCOPE_UNLIKELY(range.*Reach(torch_layout::AsyncMark())) ? RecordKind::kAsync : RecordKind::kScope;
}

// A long list is looked at twice (StoreArguments), which may run operators of this thread; so its entries
// are written before the scope takes its slot and the thread counts as writing.
template <uint32_t Options>
__attribute__((noinline, cold)) OpenScope* OpenWithLongList(Stream* stream, const at::RecordFunction& range,
                                                            const InputsOf<Options>& inputs) {
  const ScopeEntries entries = WriteEntries<Options>(stream, range, &inputs);
  return OpenScopeOn(stream, entries.name, entries.side, RecordSource::kTorch, static_cast<uint8_t>(range.scope()),
                     FlagsOf(range), KindOf(range));
}

template <uint32_t Options>
inline OpenScope* OpenRange(Stream* stream, const at::RecordFunction& range, const InputsOf<Options>* inputs) {
  return OpenScopeOn(
      stream, [&] { return WriteEntries<Options>(stream, range, inputs); }, RecordSource::kTorch,
      static_cast<uint8_t>(range.scope()), FlagsOf(range), KindOf(range));
}

template <uint32_t Options>
__attribute__((flatten)) Context StartRange(const at::RecordFunction& range, const CallbackBinding& binding) {
  // Not range.threadId(): c10d makes a range on one thread and begins it on another.
  constexpr auto thread = &at::RecordFunction::currentThreadId;
  if constexpr ((Options & kWithScripts) != 0) NoteIfScript(range.scope());
  Stream* stream = StreamOf(binding, thread);
  if (stream == nullptr) return nullptr;
  OpenScope* scope = nullptr;
  if constexpr ((Options & (kWithInputs | kWithScripts)) != 0) {
    if (OPSCOPE_UNLIKELY(stream->taking.load(std::memory_order_relaxed) == 0)) {
      Refuse(stream);
      return nullptr;
    }
    InputsOf<Options> inputs;
    if constexpr ((Options & kWithTensors) != 0) {
      EncodeInputs(range, &inputs, &inputs.tensors);
    } else if constexpr ((Options & kWithInputs) != 0) {
      EncodeInputs(range, &inputs, nullptr);
    }
    if constexpr ((Options & kWithScripts) != 0) {
      const uint64_t window = stream->generation.load(std::memory_order_relaxed);
      if (OPSCOPE_UNLIKELY(MayBeInScript(range.scope(), window))) NoteScriptPlace(window, binding, &inputs);
    }
    stream = StreamOf(binding, thread);  // again: what ran meanwhile may have ended the window
    if (stream == nullptr) return nullptr;
    scope = OPSCOPE_UNLIKELY(inputs.arguments.words > EncodedInputs::kCapacity)
                ? OpenWithLongList<Options>(stream, range, inputs)
                : OpenRange<Options>(stream, range, &inputs);
  } else {
    scope = OpenRange<Options>(stream, range, nullptr);
  }
  if (OPSCOPE_UNLIKELY(scope == nullptr)) return nullptr;  // counted as dropped
  return Context(::new (scope->context) RangeContext);
}

template <uint32_t Instance, uint32_t Options>
Context StartOf(const at::RecordFunction& range) {
  return StartRange<Options>(range, callback_bindings[Instance]);
}

template <uint32_t Options, uint32_t... Instances>
constexpr void Fill(StartFunctions* functions, std::integer_sequence<uint32_t, Instances...>) {
  ((functions->of[Options][Instances] = &StartOf<Instances, Options>), ...);
}

constexpr StartFunctions AllStartFunctions() {
  using All = std::make_integer_sequence<uint32_t, kCallbackInstances + 1>;
  StartFunctions functions{};
  Fill<0>(&functions, All());
  Fill<kWithInputs>(&functions, All());
  Fill<kWithOverloads>(&functions, All());
  Fill<kWithInputs | kWithOverloads>(&functions, All());
  Fill<kWithInputs | kWithTensors>(&functions, All());
  Fill<kWithInputs | kWithOverloads | kWithTensors>(&functions, All());
  Fill<kWithScripts>(&functions, All());
  Fill<kWithScripts | kWithInputs>(&functions, All());
  Fill<kWithScripts | kWithOverloads>(&functions, All());
  Fill<kWithScripts | kWithInputs | kWithOverloads>(&functions, All());
  Fill<kWithScripts | kWithInputs | kWithTensors>(&functions, All());
  Fill<kWithScripts | kWithInputs | kWithOverloads | kWithTensors>(&functions, All());
  return functions;
}

}  // namespace

constinit const StartFunctions start_functions = AllStartFunctions();

__attribute__((flatten)) void EndRange(const at::RecordFunction& /*range*/, at::ObserverContext* context) {
  if (context == nullptr) return;
  const uint64_t now = ReadTicks();
  CloseScope(reinterpret_cast<OpenScope*>(context), now);
}

}  // namespace opscope
