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
#include "sources/streams/stream_of.h"
#include "sources/torch/boxed_references.h"
#include "sources/torch/callback_bank.h"
#include "sources/torch/range_entries.h"
#include "sources/torch/script_place.h"
#include "sources/torch/usual_entries.h"

namespace opscope {
namespace {

using Context = std::unique_ptr<at::ObserverContext>;

// Lives in OpenScope::context. Torch deletes it when it destroys its RecordFunction, which may be
// after the end of the range, on another thread, or after the window closed. The slot goes back in
// operator delete, that is after the destructor has written its last byte into it.
class RangeContext final : public at::ObserverContext {
 public:
  static void operator delete(void* place) { ReleaseScope(static_cast<OpenScope*>(place)); }
};
static_assert(sizeof(RangeContext) <= sizeof(OpenScope::context) && offsetof(OpenScope, context) == 0);

// The same of a range whose end torch tells nobody: it ends where torch deletes this.
class SelfEndingContext final : public at::ObserverContext {
 public:
  ~SelfEndingContext() override { CloseScope(reinterpret_cast<OpenScope*>(this), ReadTicks()); }
  static void operator delete(void* place) { ReleaseScope(static_cast<OpenScope*>(place)); }
};
static_assert(sizeof(SelfEndingContext) == sizeof(RangeContext));

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
                                                            InputsOf<Options>* inputs) {
  const ScopeEntries entries = WriteEntries<Options>(stream, range, inputs);
  return OpenScopeOn(stream, entries.name, entries.side, RecordSource::kTorch, static_cast<uint8_t>(range.scope()),
                     FlagsOf(range), KindOf(range));
}

template <uint32_t Options>
inline OpenScope* OpenRange(Stream* stream, const at::RecordFunction& range, InputsOf<Options>* inputs) {
  return OpenScopeOn(
      stream, [&] { return WriteEntries<Options>(stream, range, inputs); }, RecordSource::kTorch,
      static_cast<uint8_t>(range.scope()), FlagsOf(range), KindOf(range));
}

// Stands for every set with overload names, but for those with tensors.
constexpr uint32_t kAllButTensors = kWithOverloads | kWithScripts | kWithInputs;

inline bool WantsInputs(const CallbackBinding& binding) {
  return (binding.flags.load(std::memory_order_relaxed) & torch_source_flags::kInputs) != 0;
}

// Not range.threadId(): c10d makes a range on one thread and begins it on another.
constexpr auto kThread = &at::RecordFunction::currentThreadId;

inline Context ContextIn(OpenScope* scope) {
  if (OPSCOPE_UNLIKELY(scope == nullptr)) return nullptr;  // counted as dropped
  return Context(::new (scope->context) RangeContext);
}

inline bool StandsInScript(const at::RecordFunction& range, const Stream* stream) {
  return MayBeInScript(range.scope(), stream->generation.load(std::memory_order_relaxed));
}

// Encodes the arguments, and asks where the script stands. Apart: what that needs of the stack would be prepared for
// every range that begins.
template <uint32_t Options>
__attribute__((noinline, flatten)) Context StartAtLength(const at::RecordFunction& range,
                                                         const CallbackBinding& binding, Stream* stream) {
  if (OPSCOPE_UNLIKELY(stream->taking.load(std::memory_order_relaxed) == 0)) {
    Refuse(stream);
    return nullptr;
  }
  InputsOf<Options> inputs;
  if ((Options & kWithOverloads) != 0 && !WantsInputs(binding)) {
    // What others have asked for is not ours.
  } else if constexpr ((Options & kWithTensors) != 0) {
    EncodeInputs(range, &inputs, &inputs.tensors);
  } else if constexpr ((Options & kWithInputs) != 0) {
    EncodeInputs(range, &inputs, nullptr);
  }
  if constexpr ((Options & kWithScripts) != 0) {
    const uint64_t window = stream->generation.load(std::memory_order_relaxed);
    if (OPSCOPE_UNLIKELY(MayBeInScript(range.scope(), window))) NoteScriptPlace(window, binding, &inputs);
  }
  stream = StreamOf(binding, kThread);  // again: what ran meanwhile may have ended the window
  if (stream == nullptr) return nullptr;
  const bool is_long = inputs.arguments.words > EncodedInputs::kCapacity;
  return ContextIn(OPSCOPE_UNLIKELY(is_long) ? OpenWithLongList<Options>(stream, range, &inputs)
                                             : OpenRange<Options>(stream, range, &inputs));
}

template <uint32_t Options>
__attribute__((flatten)) Context StartRange(const at::RecordFunction& range, const CallbackBinding& binding) {
  if constexpr ((Options & kWithInputs) != 0) boxed_references::EndBoxing();
  if constexpr ((Options & kWithScripts) != 0) NoteIfScript(range.scope());
  Stream* stream = StreamOf(binding, kThread);
  if (stream == nullptr) return nullptr;
  FetchRecords(stream);
  if constexpr ((Options & kWithOverloads) == 0) {
    const bool is_apart = (Options & kWithScripts) != 0 && StandsInScript(range, stream);
    if (__builtin_expect(!is_apart, 1)) {
      OpenScope* scope = OpenScopeOn<true>(
          stream, [&] { return WriteUsual<Options>(stream, range); }, RecordSource::kTorch,
          static_cast<uint8_t>(range.scope()), FlagsOf(range), KindOf(range));
      if (__builtin_expect(scope != nullptr, 1)) return ContextIn(scope);
    }
  }
  return StartAtLength<Options>(range, binding, stream);
}

template <uint32_t Instance, uint32_t Options>
Context StartOf(const at::RecordFunction& range) {
  return StartRange<Options>(range, callback_bindings[Instance]);
}

template <uint32_t Options, uint32_t... Instances>
constexpr void Fill(StartFunctions* functions, std::integer_sequence<uint32_t, Instances...>) {
  ((functions->of[Options][Instances] = &StartOf<Instances, Options>), ...);
}

// Overload names are asked for by few (experimental_config): their sets share two functions, which are told by the
// binding what else is wanted. Each that is compiled makes the adapter's compilation longer.
constexpr StartFunctions AllStartFunctions() {
  using All = std::make_integer_sequence<uint32_t, kCallbackInstances + 1>;
  StartFunctions functions{};
  Fill<0>(&functions, All());
  Fill<kWithInputs>(&functions, All());
  Fill<kWithInputs | kWithTensors>(&functions, All());
  Fill<kWithScripts>(&functions, All());
  Fill<kWithScripts | kWithInputs>(&functions, All());
  Fill<kWithScripts | kWithInputs | kWithTensors>(&functions, All());
  Fill<kAllButTensors>(&functions, All());
  Fill<kAllButTensors | kWithTensors>(&functions, All());
  for (const uint32_t others : {0u, kWithInputs, kWithScripts, kWithInputs | kWithTensors}) {
    const uint32_t shared = kAllButTensors | (others & kWithTensors);
    for (uint32_t instance = 0; instance <= kCallbackInstances; ++instance) {
      functions.of[kWithOverloads | others][instance] = functions.of[shared][instance];
    }
  }
  return functions;
}

}  // namespace

void EndWhenDeleted(at::ObserverContext* context) {
  ::new (static_cast<void*>(context)) SelfEndingContext;
}

constinit const StartFunctions start_functions = AllStartFunctions();

__attribute__((flatten)) void EndRange(const at::RecordFunction& /*range*/, at::ObserverContext* context) {
  if (context == nullptr) return;
  const uint64_t now = ReadTicks();
  CloseScope(reinterpret_cast<OpenScope*>(context), now);
}

}  // namespace opscope
