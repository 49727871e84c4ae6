// Begin and end of one range. Torch calls a start function of the pool, which writes the name and the payload into the
// chunk of the calling thread and opens a scope. Torch stores the context that the start function returns and passes it
// to EndRange. The context lies inside the open scope, so EndRange finds the scope without a search and no range needs
// heap memory.
//
//   at::add(a, b)
//     StartRange      fast path: name and arguments of common kinds (fast_path.h), then OpenScopeOn
//       StartSlow     otherwise: EncodeArguments, TorchScript's stack, long lists (range_payload.h)
//     ... the kernel runs ...
//     EndRange        CloseScope writes the record of 32 bytes
//
// Costs: two clock reads, a name look-up by pointer, one store of 32 bytes. Whether arguments are written is a template
// argument, so no event tests for it.
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

// Lies in OpenScope::context. Torch deletes it when it destroys its RecordFunction: after the end of the range, perhaps
// on another thread, perhaps after the window closed. operator delete releases the scope, because only then has the
// destructor written its last byte into it.
class RangeContext final : public at::ObserverContext {
 public:
  static void operator delete(void* place) { ReleaseScope(static_cast<OpenScope*>(place)); }
};
static_assert(sizeof(RangeContext) <= sizeof(OpenScope::context) && offsetof(OpenScope, context) == 0);

// For a range whose EndRange torch will not call (EndWhenDeleted): the range ends when torch deletes the context.
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

// Evaluated once, at the begin, as in torch. A range that becomes asynchronous later (a future is attached to it) stays
// in the nesting of its thread.
inline RecordKind KindOf(const at::RecordFunction& range) {
  return OPSCOPE_UNLIKELY(range.*Reach(torch_layout::AsyncMark())) ? RecordKind::kAsync : RecordKind::kScope;
}

// A long argument list is read twice (StoreArguments), and reading it may run Python code and so other operators of
// this thread. Therefore the payload is written before the scope is taken and the thread is marked as writing.
__attribute__((noinline, cold)) OpenScope* OpenWithLongList(uint32_t flags, Stream* stream,
                                                            const at::RecordFunction& range, EncodedInputs* inputs) {
  const ScopeEntries entries = WriteNameAndPayload(flags, stream, range, inputs);
  return OpenScopeOn(stream, entries.name, entries.payload, RecordSource::kTorch, static_cast<uint8_t>(range.scope()),
                     FlagsOf(range), KindOf(range));
}

inline OpenScope* OpenRange(uint32_t flags, Stream* stream, const at::RecordFunction& range, EncodedInputs* inputs) {
  return OpenScopeOn(
      stream, [&] { return WriteNameAndPayload(flags, stream, range, inputs); }, RecordSource::kTorch,
      static_cast<uint8_t>(range.scope()), FlagsOf(range), KindOf(range));
}

// Not range.threadId(): c10d constructs a range on one thread and begins it on another.
constexpr auto kThread = &at::RecordFunction::currentThreadId;

inline Context ContextIn(OpenScope* scope) {
  if (OPSCOPE_UNLIKELY(scope == nullptr)) return nullptr;  // counted as dropped
  return Context(::new (scope->context) RangeContext);
}

constexpr uint32_t kScriptFlags = torch_source_flags::kStacks | torch_source_flags::kModules;

inline bool IsInScript(const at::RecordFunction& range, const Stream* stream) {
  return MayBeInScript(range.scope(), stream->generation.load(std::memory_order_relaxed));
}

// The slow path: encodes arguments of any kind and reads TorchScript's stack. Never inlined: its large stack frame
// would be set up for every range. It reads the window's flags at run time: one template instance per kind of window
// would add 35 kB of code and a second to the adapter's compilation.
__attribute__((noinline, flatten)) Context StartSlow(const at::RecordFunction& range, const CallbackBinding& binding,
                                                     Stream* stream) {
  if (OPSCOPE_UNLIKELY(stream->accepting.load(std::memory_order_relaxed) == 0)) {
    DropEvent(stream);
    return nullptr;
  }
  const uint32_t flags = binding.flags.load(std::memory_order_relaxed);
  EncodedInputs inputs;
  if ((flags & torch_source_flags::kInputs) != 0) {
    EncodeInputs(range, &inputs, (flags & torch_source_flags::kTensors) != 0);
  }
  if ((flags & kScriptFlags) != 0 && OPSCOPE_UNLIKELY(IsInScript(range, stream))) {
    TryAddScriptStack(stream->generation.load(std::memory_order_relaxed), flags, &inputs);
  }
  stream = StreamOf(binding, kThread);  // again: code that ran meanwhile may have closed the window
  if (stream == nullptr) return nullptr;
  const bool is_long = inputs.arguments.words > EncodedInputs::kCapacity;
  return ContextIn(OPSCOPE_UNLIKELY(is_long) ? OpenWithLongList(flags, stream, range, &inputs)
                                             : OpenRange(flags, stream, range, &inputs));
}

template <uint32_t Options>
OPSCOPE_HOT Context StartRange(const at::RecordFunction& range, const CallbackBinding& binding) {
  if constexpr ((Options & kWithInputs) != 0) deferred_refcounts::EndBoxing();
  const bool records_scripts = (binding.flags.load(std::memory_order_relaxed) & kScriptFlags) != 0;
  if (records_scripts) MarkIfScript(range.scope());
  Stream* stream = StreamOf(binding, kThread);
  if (stream == nullptr) return nullptr;
  PrefetchRecords(stream);
  if (__builtin_expect(!records_scripts || !IsInScript(range, stream), 1)) {
    OpenScope* scope = OpenScopeOn<true>(
        stream, [&] { return TryWriteFast<Options>(stream, range); }, RecordSource::kTorch,
        static_cast<uint8_t>(range.scope()), FlagsOf(range), KindOf(range));
    if (__builtin_expect(scope != nullptr, 1)) return ContextIn(scope);
  }
  return StartSlow(range, binding, stream);
}

// Overload names are rarely requested (experimental_config), so such windows have no fast path.
Context StartWithOverload(const at::RecordFunction& range, const CallbackBinding& binding) {
  deferred_refcounts::EndBoxing();
  MarkIfScript(range.scope());
  Stream* stream = StreamOf(binding, kThread);
  return stream != nullptr ? StartSlow(range, binding, stream) : nullptr;
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
