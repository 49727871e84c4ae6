// Hooks: functions of ours that torch's libraries call through their GOT entries in place of torch's own. Each does
// what torch's function does, for one case only: exactly one callback watches the calling thread, and it is ours. In
// that case the hooks construct the same objects in the same states, without torch's copies, indirect calls and
// destructors of empty members; this halves the overhead of an operator. In every other case they call torch's
// function.
//
//   Ask             for  at::getStepCallbacksUnlessEmpty(RecordScope)
//   Construct       for  at::RecordFunction::RecordFunction(StepCallbacks&&)
//   Run, RunWith    for  c10::Dispatcher::runRecordFunction, both
//   Destroy         for  at::RecordFunction::~RecordFunction(), the complete one
//   ConstructScope  for  at::RecordFunction::RecordFunction(RecordScope)
//   Before          for  at::RecordFunction::before(FunctionDescriptor, int64_t), which begins the ranges of autograd's
//                        nodes (node_ranges.h) together with ConstructScope
//   SetList         for  at::set_record_function_tls_(const RecordFunctionTLS&), which autograd calls twice per node
//   Demangle        for  c10::demangle(const char*), which autograd calls twice per watched node
//
// Each hook leaves the objects in the state in which torch's function would leave them: a range that begins in a hook
// may end in torch's function, and the other way round. So GOT entries can be patched (capture_mode.h) and restored at
// any moment, while ranges are open; and a library without such an entry simply calls torch's own function.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "opscope/recorder_abi.h"
#include "sources/streams/failures.h"
#include "sources/streams/hot.h"
#include "sources/torch/hooks/deferred_refcounts.h"
#include "sources/torch/hooks/node_ranges.h"
#include "sources/torch/hooks/range_layout.h"

namespace opscope::range_hooks {

// The calling thread's list of callbacks and its number, both torch's. `list` is null until the thread first calls
// AskTorch, and again from the thread's end on, before torch destroys the list.
//
// Its TLS model is not initial-exec: static TLS is scarce, and the library could not be loaded into a process that has
// used it up.
struct ThreadView {
  const at::RecordFunctionTLS* list;
  uint64_t number;
  torch_layout::StartCallback dropping;  // the callback whose last range was dropped at the memory cap; or null
};
extern __thread ThreadView this_thread __attribute__((visibility("hidden")));
// False: the library uses TLS descriptors and the process has no static TLS left for it. glibc before 2.40 then
// resolves the descriptor by a function that may change registers which the code expects unchanged.
bool ThreadViewIsStatic();

// State of the process. `version` and `no_schema` are set before the first GOT entry is patched.
struct Globals {
  const std::atomic<size_t>* version;    // torch's count of changes of its global callbacks (callback_version.h)
  std::atomic<size_t> quiet;             // a version at which there were no global callbacks
  std::atomic<size_t> noisy;             // a version at which there were some
  const c10::FunctionSchema* no_schema;  // the schema of ranges that have no name yet; never destroyed
};
extern Globals globals __attribute__((visibility("hidden")));

// The slow path of Ask: updates ThreadView, `quiet` and `noisy`, then calls torch.
std::optional<at::StepCallbacks> AskTorch(at::RecordScope scope);
// As torch's function, but returns at once if the thread already has these callbacks in this state.
void SetList(const at::RecordFunctionTLS& list);
// As torch's function, with a cache per thread.
std::string Demangle(const char* name);

enum Step : size_t { kAsked, kConstructed, kBegun, kDestroyed, kSteps };

// The four bytes scope_, needs_inputs_, needs_outputs_ and needs_ids_ are written and read as one word: a load that
// needs bytes of two recent stores cannot be forwarded and waits a dozen cycles. (PairOf reads two pointers one by one
// for the same reason.)
inline void SetNeeds(at::StepCallbacks* of, uint32_t word) {
  std::memcpy(static_cast<void*>(&of->scope_), &word, sizeof(word));
}
inline uint32_t NeedsOf(const at::StepCallbacks& of) {
  uint32_t word;
  std::memcpy(&word, static_cast<const void*>(&of.scope_), sizeof(word));
  return word;
}

// NeedsOf the range of an operator with arguments. The dispatcher begins such a range when it has boxed them.
inline constexpr uint32_t kNeedsInputs = static_cast<uint32_t>(at::RecordScope::FUNCTION) | 1u << 8;

// Marks in StepCallbacks::thread_id_ of ranges whose list of callbacks is empty:
// the operator is dropped at the memory cap;
inline constexpr uint64_t kDropped = ~uint64_t{0};
// the range is recorded, but torch must treat it as unwatched (node_ranges.h).
inline constexpr uint64_t kHidden = kDropped - 1;

// The part of a sink that handles the memory cap, for sinks without a cap.
struct NeverDrops {
  static void OnNotRecorded(torch_layout::StartCallback) {}
  static bool StillDrops() { return false; }
  static bool DropAt(const void*) { return false; }
  static void DropRange(const c10::FunctionSchema&) {}
};

// A Sink has:
//   kEnd                      the end callback that all of our callbacks share
//   EndAndRelease(context)    does what kEnd and the deletion of the context do
//   EndWhenDeleted(context)   makes the deletion of the context end its range
//   Count(Step)               counts calls, for the probe (hook_probe.h); empty elsewhere
// and for operators past the memory cap:
//   OnNotRecorded(start)      a start callback has recorded nothing
//   StillDrops()              whether ranges are still dropped. REQUIRES: `dropping` is the thread's callback.
//   DropAt(call_site)         true: the operator at this call site was counted as dropped and needs no range
//   DropRange(schema)         counts the range of an operator for which DropAt returned false
template <typename Sink>
struct Functions {
  OPSCOPE_UNGUARDED static std::optional<at::StepCallbacks> Ask(at::RecordScope scope) {
    const ThreadView* view = &this_thread;
    __asm__("" : "+r"(view));  // keeps the address in a register: the compiler would call a function to recompute it
    const at::RecordFunctionTLS* list = view->list;
    const Watch watch = WatchOf(list);
    if (watch == Watch::kNone) return std::nullopt;
    if (OPSCOPE_UNLIKELY(watch != Watch::kOurs)) return AskTorch(scope);
    const auto* first = list->sorted_tls_callbacks_.data();
    Sink::Count(kAsked);
    // Operators only: other ranges begin in torch's own before(), which would not count them.
    if (OPSCOPE_UNLIKELY(view->dropping == first->callback_.start()) && scope == at::RecordScope::FUNCTION &&
        Sink::StillDrops()) {
      if (Sink::DropAt(__builtin_return_address(0))) return std::nullopt;
      return NoCallback(scope);
    }
    return OurCallback(view->number, *first, scope);
  }

  static void Construct(at::RecordFunction* self, at::StepCallbacks* from) {
    const uint32_t needs = NeedsOf(*from);
    const bool is_ours = IsOurs(*from);
    // needs_ids_ (the last byte) may be set by a sampled callback of another profiler that does not run this time.
    if ((!is_ours && !IsDropped(*from)) || (needs >> 24) != 0) {
      new (self) at::RecordFunction(std::move(*from));
      return;
    }
    Sink::Count(kConstructed);
    if (needs == kNeedsInputs) deferred_refcounts::BeginBoxing();
    using namespace torch_layout;
    *reinterpret_cast<const void**>(self) = opscope_range_vtable + 2;
    auto* callbacks = new (&(self->*Reach(Callbacks()))) at::StepCallbacks(from->thread_id_, from->scope_);
    auto* contexts = new (&(self->*Reach(Contexts()))) at::ObserverContextList;
    if (__builtin_expect(is_ours, 1)) {
      callbacks->callbacks_.push_back(PairOf(*from));
      contexts->emplace_back();
    }
    SetNeeds(callbacks, needs);
    self->*Reach(Called()) = false;
    new (&(self->*Reach(Name()))) NameOrSchema(std::in_place_index<1>, *globals.no_schema);
    self->*Reach(Sequence()) = -1;
    new (&(self->*Reach(InputList()))) Inputs();
    new (&(self->*Reach(KeywordInputs()))) Keywords();
    new (&(self->*Reach(Outputs()))) std::vector<c10::IValue>();
    self->*Reach(ForwardThread()) = 0;
    self->*Reach(Handle()) = 0;
    self->*Reach(AsyncMark()) = false;
    self->*Reach(Debug()) = -1;
    self->*Reach(OutVariant()) = false;
    self->*Reach(NcclMeta()) = false;
  }

  OPSCOPE_UNGUARDED static void ConstructScope(at::RecordFunction* self, at::RecordScope scope) {
    const void* call_site = __builtin_return_address(0);
    if (scope == at::RecordScope::FUNCTION) {
      if (node_ranges::IsEngine(call_site)) {
        if (BeginNode(self)) return;
      } else if (OPSCOPE_UNLIKELY(!node_ranges::IsEngineKnown())) {
        node_ranges::OnConstructed(self, call_site);
      }
    }
    new (self) at::RecordFunction(scope);
  }

  static void Before(at::RecordFunction* self, torch_layout::Described described, int64_t sequence) {
    const at::StepCallbacks& callbacks = self->*Reach(torch_layout::Callbacks());
    const std::string_view text = torch_layout::TextOf(described);
    if (callbacks.scope_ == at::RecordScope::BACKWARD_FUNCTION && text.data() != nullptr && IsOurs(callbacks)) {
      if (const c10::FunctionSchema* schema = node_ranges::SchemaNamed(text)) {
        new (&(self->*Reach(torch_layout::Name()))) torch_layout::NameOrSchema(std::in_place_index<1>, *schema);
        self->*Reach(torch_layout::Sequence()) = sequence;
        return CallStart(self);
      }
    }
    self->before(described, sequence);
  }

  // Begins a range and then hides it: torch treats it as a range without callbacks. If the GOT entries are restored
  // before it ends, torch's destructor destroys it; therefore the deletion of its context also ends the range.
  // REQUIRES: `ours` is the thread's only callback.
  static void BeginHidden(at::RecordFunction* self, const at::RecordFunctionCallbacksEntry& ours,
                          torch_layout::Schema schema) {
    at::StepCallbacks from(this_thread.number, at::RecordScope::FUNCTION);
    AddOurs(ours, &from);
    Construct(self, &from);
    new (&(self->*Reach(torch_layout::Name()))) torch_layout::NameOrSchema(std::in_place_index<1>, schema);
    CallStart(self);
    if (at::ObserverContext* context = (self->*Reach(torch_layout::Contexts())).begin()->get()) {
      Sink::EndWhenDeleted(context);
    }
    at::StepCallbacks& callbacks = self->*Reach(torch_layout::Callbacks());
    callbacks.callbacks_.clear();
    callbacks.thread_id_ = kHidden;
  }

  OPSCOPE_UNGUARDED static void Run(at::RecordFunction& range, torch_layout::Schema schema, c10::DispatchKey key,
                                    c10::DispatchKeySet keys) {
    const at::StepCallbacks& callbacks = range.*Reach(torch_layout::Callbacks());
    if (!IsOurs(callbacks)) {
      return IsDropped(callbacks) ? Sink::DropRange(schema) : torch_layout::TorchRun(range, schema, key, keys);
    }
    Begin(&range, schema, key, keys);
  }

  OPSCOPE_UNGUARDED static void RunWith(at::RecordFunction& range, torch_layout::Schema schema, c10::DispatchKey key,
                                        c10::DispatchKeySet keys, torch_layout::Inputs inputs) {
    const at::StepCallbacks& callbacks = range.*Reach(torch_layout::Callbacks());
    if (!IsOurs(callbacks)) {
      return IsDropped(callbacks) ? Sink::DropRange(schema)
                                  : torch_layout::TorchRunWith(range, schema, key, keys, inputs);
    }
    range.*Reach(torch_layout::InputList()) = inputs;
    Begin(&range, schema, key, keys);
  }

  static void Destroy(at::RecordFunction* self) {
    using namespace torch_layout;
    at::StepCallbacks& callbacks = self->*Reach(Callbacks());
    if (!IsOurs(callbacks) && !IsWithout(callbacks, kHidden)) {
      if (!IsDropped(callbacks) || !OwnsNothing(self)) self->at::RecordFunction::~RecordFunction();
      return;
    }
    Sink::Count(kDestroyed);
    const bool has_boxed = NeedsOf(callbacks) == kNeedsInputs && deferred_refcounts::this_thread.deferred != 0;
    if (OPSCOPE_UNLIKELY(has_boxed)) deferred_refcounts::ApplyDeferred();
    std::unique_ptr<at::ObserverContext>& owner = *(self->*Reach(Contexts())).begin();
    if (__builtin_expect(self->*Reach(Called()), 1)) {
      if (at::ObserverContext* context = owner.release()) Sink::EndAndRelease(context);
      self->*Reach(Called()) = false;
    }
    if (__builtin_expect(owner == nullptr && OwnsNothing(self), 1)) return;
    if (OPSCOPE_UNLIKELY(!node_ranges::IsEngineKnown())) node_ranges::OnEnding(*self);
    self->at::RecordFunction::~RecordFunction();
  }

 private:
  static bool IsQuiet() {
    return globals.version->load(std::memory_order_relaxed) == globals.quiet.load(std::memory_order_relaxed);
  }

  // Which callbacks watch a thread with this list: none, only ours, or some that torch has to look up.
  enum class Watch { kNone, kOurs, kOthers };
  static Watch WatchOf(const at::RecordFunctionTLS* list) {
    if (OPSCOPE_UNLIKELY(list == nullptr || !IsQuiet() || !list->tls_record_function_enabled_)) return Watch::kOthers;
    const auto* first = list->sorted_tls_callbacks_.data();
    const auto* end = std::to_address(list->sorted_tls_callbacks_.end());
    if (first == end) return Watch::kNone;
    const bool is_ours = end == first + 1 && first->callback_.end() == Sink::kEnd && first->enabled_;
    return is_ours ? Watch::kOurs : Watch::kOthers;
  }

  // False: torch has to make the range.
  static bool BeginNode(at::RecordFunction* self) {
    const ThreadView& view = this_thread;
    if (WatchOf(view.list) != Watch::kOurs) return false;
    const c10::FunctionSchema* schema = node_ranges::SchemaAroundNode();
    if (schema == nullptr || WatchOf(view.list) != Watch::kOurs) return false;  // again: naming a node may run code
    BeginHidden(self, view.list->sorted_tls_callbacks_[0], *schema);
    return true;
  }

  // One return statement, so that the result is constructed in the caller's storage.
  static std::optional<at::StepCallbacks> OurCallback(uint64_t thread, const at::RecordFunctionCallbacksEntry& entry,
                                                      at::RecordScope scope) {
    std::optional<at::StepCallbacks> out(std::in_place, thread, scope);
    AddOurs(entry, &*out);
    return out;
  }

  static void AddOurs(const at::RecordFunctionCallbacksEntry& entry, at::StepCallbacks* out) {
    out->callbacks_.push_back({entry.callback_.start(), Sink::kEnd});
    SetNeeds(out, static_cast<uint32_t>(out->scope_) | static_cast<uint32_t>(entry.callback_.needsInputs()) << 8);
  }

  static std::optional<at::StepCallbacks> NoCallback(at::RecordScope scope) {
    std::optional<at::StepCallbacks> out(std::in_place, kDropped, scope);
    SetNeeds(&*out, static_cast<uint32_t>(scope));
    return out;
  }

  static at::StepCallbacks::StartEndPair PairOf(const at::StepCallbacks& of) {
    return {*const_cast<const torch_layout::StartCallback volatile*>(&of.callbacks_.begin()->start_), Sink::kEnd};
  }

  static bool IsOurs(const at::StepCallbacks& callbacks) {
    return __builtin_expect(callbacks.callbacks_.size() == 1, 1) &&
           __builtin_expect(callbacks.callbacks_.begin()->end_ == Sink::kEnd, 1);
  }

  static bool IsWithout(const at::StepCallbacks& callbacks, uint64_t why) {
    return callbacks.callbacks_.empty() && callbacks.thread_id_ == why;
  }
  static bool IsDropped(const at::StepCallbacks& callbacks) { return IsWithout(callbacks, kDropped); }

  // Whether the destructor would free nothing but contexts.
  static bool OwnsNothing(at::RecordFunction* self) {
    using namespace torch_layout;
    const Keywords& keywords = self->*Reach(KeywordInputs());
    return (self->*Reach(Name())).index() == 1 && (self->*Reach(Outputs())).capacity() == 0 &&
           keywords.bucket_count() == 1 && keywords.empty();
  }

  static void Begin(at::RecordFunction* range, torch_layout::Schema schema, c10::DispatchKey key,
                    c10::DispatchKeySet keys) {
    using namespace torch_layout;
    new (&(range->*Reach(Name()))) NameOrSchema(std::in_place_index<1>, schema);
    range->*Reach(Sequence()) = SequenceOf(key, keys);
    CallStart(range);
  }

  static void CallStart(at::RecordFunction* range) {
    using namespace torch_layout;
    Sink::Count(kBegun);
    at::ObserverContextList& contexts = range->*Reach(Contexts());
    try {
      const torch_layout::StartCallback start = (range->*Reach(Callbacks())).callbacks_.begin()->start_;
      auto context = start(*range);
      if (OPSCOPE_UNLIKELY(context == nullptr)) Sink::OnNotRecorded(start);
      new (contexts.begin()) std::unique_ptr<at::ObserverContext>(std::move(context));
    } catch (...) {
      CountFailure();
    }
    range->*Reach(Called()) = true;
  }
};

// The hooks, by torch_layout::Function.
template <typename Sink>
std::array<void*, torch_layout::kFunctions> HooksOf() {
  using F = Functions<Sink>;
  return {reinterpret_cast<void*>(&F::Ask),     reinterpret_cast<void*>(&F::Construct),
          reinterpret_cast<void*>(&F::Run),     reinterpret_cast<void*>(&F::RunWith),
          reinterpret_cast<void*>(&F::Destroy), reinterpret_cast<void*>(&F::ConstructScope),
          reinterpret_cast<void*>(&F::Before),  reinterpret_cast<void*>(&SetList),
          reinterpret_cast<void*>(&Demangle)};
}
// Why they could not be installed, if PatchedEntries::PatchAll fails.
inline constexpr const char* kNotWritable = "a GOT entry of torch's libraries cannot be written";

}  // namespace opscope::range_hooks
