// The life of one range: torch calls a start function of the bank, which writes name and payload into
// the calling thread's chunk and opens a scope; the context that torch keeps lies in the scope's own
// slot, so the end finds it without a search and without heap memory.
//
// What it costs (docs/explanation/performance.md): two clock reads, a name look-up by pointer, one store of 32
// bytes. What is written of arguments is a template's argument: nothing of it is tested per event.
// SPDX-License-Identifier: Apache-2.0
#include <ATen/record_function.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "opscope/recorder.h"
#include "opscope/torch_source.h"
#include "sources/streams/hot.h"
#include "sources/streams/stream_of.h"
#include "sources/torch/callbacks/callback_pool.h"
#include "sources/torch/calls/fast_path.h"
#include "sources/torch/calls/range_payload.h"
#include "sources/torch/calls/script_stack.h"
#include "sources/torch/hooks/deferred_refcounts.h"

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
__attribute__((noinline, cold)) OpenScope* OpenWithLongList(uint32_t flags, Stream* stream,
                                                            const at::RecordFunction& range, EncodedInputs* inputs) {
  const ScopeEntries entries = WriteEntries(flags, stream, range, inputs);
  return OpenScopeOn(stream, entries.name, entries.side, RecordSource::kTorch, static_cast<uint8_t>(range.scope()),
                     FlagsOf(range), KindOf(range));
}

inline OpenScope* OpenRange(uint32_t flags, Stream* stream, const at::RecordFunction& range, EncodedInputs* inputs) {
  return OpenScopeOn(
      stream, [&] { return WriteEntries(flags, stream, range, inputs); }, RecordSource::kTorch,
      static_cast<uint8_t>(range.scope()), FlagsOf(range), KindOf(range));
}

// Not range.threadId(): c10d makes a range on one thread and begins it on another.
constexpr auto kThread = &at::RecordFunction::currentThreadId;

inline Context ContextIn(OpenScope* scope) {
  if (OPSCOPE_UNLIKELY(scope == nullptr)) return nullptr;  // counted as dropped
  return Context(::new (scope->context) RangeContext);
}

constexpr uint32_t kScriptFlags = torch_source_flags::kStacks | torch_source_flags::kModules;

inline bool StandsInScript(const at::RecordFunction& range, const Stream* stream) {
  return MayBeInScript(range.scope(), stream->generation.load(std::memory_order_relaxed));
}

// Encodes the arguments, and asks where the script stands. Apart: what that needs of the stack would be prepared for
// every range that begins. Asks for the window's flags when it runs: of each kind of window it was 35 kB of code, and a
// second of the adapter's compilation.
__attribute__((noinline, flatten)) Context StartAtLength(const at::RecordFunction& range,
                                                         const CallbackBinding& binding, Stream* stream) {
  if (OPSCOPE_UNLIKELY(stream->taking.load(std::memory_order_relaxed) == 0)) {
    Refuse(stream);
    return nullptr;
  }
  const uint32_t flags = binding.flags.load(std::memory_order_relaxed);
  EncodedInputs inputs;
  if ((flags & torch_source_flags::kInputs) != 0) {
    EncodeInputs(range, &inputs, (flags & torch_source_flags::kTensors) != 0);
  }
  if ((flags & kScriptFlags) != 0 && OPSCOPE_UNLIKELY(StandsInScript(range, stream))) {
    NoteScriptPlace(stream->generation.load(std::memory_order_relaxed), flags, &inputs);
  }
  stream = StreamOf(binding, kThread);  // again: what ran meanwhile may have ended the window
  if (stream == nullptr) return nullptr;
  const bool is_long = inputs.arguments.words > EncodedInputs::kCapacity;
  return ContextIn(OPSCOPE_UNLIKELY(is_long) ? OpenWithLongList(flags, stream, range, &inputs)
                                             : OpenRange(flags, stream, range, &inputs));
}

template <uint32_t Options>
OPSCOPE_HOT Context StartRange(const at::RecordFunction& range, const CallbackBinding& binding) {
  if constexpr ((Options & kWithInputs) != 0) boxed_references::EndBoxing();
  const bool asks_scripts = (binding.flags.load(std::memory_order_relaxed) & kScriptFlags) != 0;
  if (asks_scripts) NoteIfScript(range.scope());
  Stream* stream = StreamOf(binding, kThread);
  if (stream == nullptr) return nullptr;
  FetchRecords(stream);
  if (__builtin_expect(!asks_scripts || !StandsInScript(range, stream), 1)) {
    OpenScope* scope = OpenScopeOn<true>(
        stream, [&] { return WriteUsual<Options>(stream, range); }, RecordSource::kTorch,
        static_cast<uint8_t>(range.scope()), FlagsOf(range), KindOf(range));
    if (__builtin_expect(scope != nullptr, 1)) return ContextIn(scope);
  }
  return StartAtLength(range, binding, stream);
}

// Overload names are asked for by few (experimental_config), and are written at length.
Context StartWithOverload(const at::RecordFunction& range, const CallbackBinding& binding) {
  boxed_references::EndBoxing();
  NoteIfScript(range.scope());
  Stream* stream = StreamOf(binding, kThread);
  return stream != nullptr ? StartAtLength(range, binding, stream) : nullptr;
}

template <uint32_t Instance>
OPSCOPE_UNGUARDED Context StartOf(const at::RecordFunction& range) {
  const CallbackBinding& binding = callback_bindings[Instance];
  return binding.start.load(std::memory_order_relaxed)(range, binding);
}

template <uint32_t... Instances>
constexpr std::array<at::RecordFunctionCallback::StartCallback, sizeof...(Instances)> AllInstances(
    std::integer_sequence<uint32_t, Instances...>) {
  return {&StartOf<Instances>...};
}

}  // namespace

void EndWhenDeleted(at::ObserverContext* context) {
  ::new (static_cast<void*>(context)) SelfEndingContext;
}

StartOfWindow StartFor(uint32_t flags) {
  if ((flags & torch_source_flags::kOverloadNames) != 0) return &StartWithOverload;
  if ((flags & torch_source_flags::kInputs) == 0) return &StartRange<0>;
  return (flags & torch_source_flags::kTensors) != 0 ? &StartRange<kWithInputs | kWithTensors>
                                                     : &StartRange<kWithInputs>;
}

constinit const std::array<at::RecordFunctionCallback::StartCallback, kCallbackInstances + 1> start_functions =
    AllInstances(std::make_integer_sequence<uint32_t, kCallbackInstances + 1>());

OPSCOPE_HOT void EndRange(const at::RecordFunction& /*range*/, at::ObserverContext* context) {
  if (context == nullptr) return;
  const uint64_t now = ReadTicks();
  CloseScope(reinterpret_cast<OpenScope*>(context), now);
}

}  // namespace opscope
