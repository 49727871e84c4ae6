// Torch's range functions once more, for the one case that counts: exactly one callback watches the calling thread, and
// it is ours. The same objects in the same states with the same meaning, without the copies, the indirect calls and the
// destructors that find nothing; everything else goes to torch's own.
//
//   Ask             for  at::getStepCallbacksUnlessEmpty(RecordScope)
//   Construct       for  at::RecordFunction::RecordFunction(StepCallbacks&&)
//   Run, RunWith    for  c10::Dispatcher::runRecordFunction, both
//   Destroy         for  at::RecordFunction::~RecordFunction(), the complete one
//   ConstructScope  for  at::RecordFunction::RecordFunction(RecordScope)
//   Before          for  at::RecordFunction::before(FunctionDescriptor, int64_t), which begins the ranges of autograd's
//                        nodes (node_ranges.h), as the one above does
//   SetList         for  at::set_record_function_tls_(const RecordFunctionTLS&), which autograd calls twice per node
//   Demangle        for  c10::demangle(const char*), which it calls twice per node that is watched
//
// What each leaves behind is what torch's function would have left: a range that begins in one of these may end in
// torch's, and the other way round. So slots can be re-pointed (capture_mode.h) and put back at any moment, with ranges
// under way, and where a slot is missing torch's own function does the work.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

namespace opscope::drop_in {

// Torch's list of one thread's callbacks, and torch's number of that thread. Null before it was asked for, and again
// from the thread's end on, before torch destroys the list.
//
// Not of the initial-exec model: a process may have no room left for that, and then the library would not load.
struct ThreadView {
  const at::RecordFunctionTLS* list;
  uint64_t number;
  torch_layout::StartCallback refusing;  // what it last began was refused at the memory cap; or null
};
extern __thread ThreadView this_thread __attribute__((visibility("hidden")));
// False: it is of a descriptor, and the process has no room where every thread has it without asking (static TLS). The
// linker's way to others may change registers that descriptors must leave alone (glibc before 2.40).
bool ThreadViewIsFound();

// Of the process. All is set before the first slot is pointed.
struct Globals {
  const std::atomic<size_t>* changes;    // torch's count of changes of its global callbacks (callback_version.h)
  std::atomic<size_t> quiet;             // a count at which there was none of them
  std::atomic<size_t> noisy;             // and one at which there was
  const c10::FunctionSchema* no_schema;  // of ranges that have no name yet; never destroyed
};
extern Globals globals __attribute__((visibility("hidden")));

// Looks closer when the caller found something else than our one callback, then asks torch.
std::optional<at::StepCallbacks> AskTorch(at::RecordScope scope);
// Does what torch's does, unless that would leave all as it is: the same callbacks in the same state.
void SetList(const at::RecordFunctionTLS& list);
// What torch's said when it was asked last, while the text is the same.
std::string Demangle(const char* name);

enum What : size_t { kAsked, kConstructed, kBegun, kDestroyed, kWhats };

// scope_, needs_inputs_, needs_outputs_, needs_ids_: written and read at once, and the two pointers of a pair one by
// one. A load that needs bytes of two stores which are still under way waits for both, a dozen cycles.
inline void SetNeeds(at::StepCallbacks* of, uint32_t word) {
  std::memcpy(static_cast<void*>(&of->scope_), &word, sizeof(word));
}
inline uint32_t NeedsOf(const at::StepCallbacks& of) {
  uint32_t word;
  std::memcpy(&word, static_cast<const void*>(&of.scope_), sizeof(word));
  return word;
}

// Of operators, which the dispatcher begins as soon as it has boxed their arguments.
inline constexpr uint32_t kNeedsInputs = static_cast<uint32_t>(at::RecordScope::FUNCTION) | 1u << 8;

// A range of no callback, of an operator that would be refused: its list says so in place of the thread's number.
inline constexpr uint64_t kRefused = ~uint64_t{0};
// And of one that has begun, of which torch is to believe that nobody watches it.
inline constexpr uint64_t kUnseen = kRefused - 1;

// For sinks that know no cap.
struct TakesAll {
  static void NoteNothing(torch_layout::StartCallback) {}
  static bool StillRefuses() { return false; }
  static bool RefuseAt(const void*) { return false; }
  static void RefuseRange(const c10::FunctionSchema&) {}
};

// Sink: kEnd (the end callback that all of our callbacks share); EndAndRelease(context), which does what kEnd and the
// deletion of the context do; EndWhenDeleted(context), after which its deletion does so, too; Count(What), for the
// trial, nothing elsewhere; and for what begins past the memory cap: NoteNothing(start), a callback has recorded
// nothing; StillRefuses(), where `refusing` is what the thread has; then RefuseAt(place), whether an operator that asks
// there was counted and needs no range, and else RefuseRange(schema).
template <typename Sink>
struct Functions {
  OPSCOPE_UNGUARDED static std::optional<at::StepCallbacks> Ask(at::RecordScope scope) {
    const ThreadView* view = &this_thread;
    __asm__("" : "+r"(view));  // found once: each look at the thread's variable would be a call
    const at::RecordFunctionTLS* list = view->list;
    const Watch watch = WatchOf(list);
    if (watch == Watch::kNobody) return std::nullopt;
    if (OPSCOPE_UNLIKELY(watch != Watch::kOurs)) return AskTorch(scope);
    const auto* first = list->sorted_tls_callbacks_.data();
    Sink::Count(kAsked);
    // Of operators alone: all other ranges begin in torch's own before(), which would not count them.
    if (OPSCOPE_UNLIKELY(view->refusing == first->callback_.start()) && scope == at::RecordScope::FUNCTION &&
        Sink::StillRefuses()) {
      if (Sink::RefuseAt(__builtin_return_address(0))) return std::nullopt;
      return NoCallback(scope);
    }
    return OurCallback(view->number, *first, scope);
  }

  static void Construct(at::RecordFunction* self, at::StepCallbacks* from) {
    const uint32_t needs = NeedsOf(*from);
    const bool is_ours = IsOurs(*from);
    // A sampled callback of others may want ids, though it rests.
    if ((!is_ours && !IsRefused(*from)) || (needs >> 24) != 0) {
      new (self) at::RecordFunction(std::move(*from));
      return;
    }
    Sink::Count(kConstructed);
    if (needs == kNeedsInputs) boxed_references::BeginBoxing();
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
    const void* place = __builtin_return_address(0);
    if (scope == at::RecordScope::FUNCTION) {
      if (node_ranges::IsEngine(place)) {
        if (BeginNode(self)) return;
      } else if (OPSCOPE_UNLIKELY(!node_ranges::IsEngineKnown())) {
        node_ranges::NoteConstructed(self, place);
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

  // What torch takes for a range without callbacks has begun. Should its own destructor meet it, because the slots were
  // put back meanwhile, the context ends it. REQUIRES: `ours` is the thread's only callback.
  static void BeginUnseen(at::RecordFunction* self, const at::RecordFunctionCallbacksEntry& ours,
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
    callbacks.thread_id_ = kUnseen;
  }

  OPSCOPE_UNGUARDED static void Run(at::RecordFunction& range, torch_layout::Schema schema, c10::DispatchKey key,
                                    c10::DispatchKeySet keys) {
    const at::StepCallbacks& callbacks = range.*Reach(torch_layout::Callbacks());
    if (!IsOurs(callbacks)) {
      return IsRefused(callbacks) ? Sink::RefuseRange(schema) : torch_layout::TorchRun(range, schema, key, keys);
    }
    Begin(&range, schema, key, keys);
  }

  OPSCOPE_UNGUARDED static void RunWith(at::RecordFunction& range, torch_layout::Schema schema, c10::DispatchKey key,
                                        c10::DispatchKeySet keys, torch_layout::Inputs inputs) {
    const at::StepCallbacks& callbacks = range.*Reach(torch_layout::Callbacks());
    if (!IsOurs(callbacks)) {
      return IsRefused(callbacks) ? Sink::RefuseRange(schema)
                                  : torch_layout::TorchRunWith(range, schema, key, keys, inputs);
    }
    range.*Reach(torch_layout::InputList()) = inputs;
    Begin(&range, schema, key, keys);
  }

  static void Destroy(at::RecordFunction* self) {
    using namespace torch_layout;
    at::StepCallbacks& callbacks = self->*Reach(Callbacks());
    if (!IsOurs(callbacks) && !IsWithout(callbacks, kUnseen)) {
      if (!IsRefused(callbacks) || !OwnsNothing(self)) self->at::RecordFunction::~RecordFunction();
      return;
    }
    Sink::Count(kDestroyed);
    const bool has_boxed = NeedsOf(callbacks) == kNeedsInputs && boxed_references::this_thread.left_out != 0;
    if (OPSCOPE_UNLIKELY(has_boxed)) boxed_references::MakeUp();
    std::unique_ptr<at::ObserverContext>& place = *(self->*Reach(Contexts())).begin();
    if (__builtin_expect(self->*Reach(Called()), 1)) {
      if (at::ObserverContext* context = place.release()) Sink::EndAndRelease(context);
      self->*Reach(Called()) = false;
    }
    if (__builtin_expect(place == nullptr && OwnsNothing(self), 1)) return;
    if (OPSCOPE_UNLIKELY(!node_ranges::IsEngineKnown())) node_ranges::NoteEnding(*self);
    self->at::RecordFunction::~RecordFunction();
  }

 private:
  static bool IsQuiet() {
    return globals.changes->load(std::memory_order_relaxed) == globals.quiet.load(std::memory_order_relaxed);
  }

  // By whom a thread is watched whose list is this one: our one callback, or what torch has to be asked about.
  enum class Watch { kNobody, kOurs, kOthers };
  static Watch WatchOf(const at::RecordFunctionTLS* list) {
    if (OPSCOPE_UNLIKELY(list == nullptr || !IsQuiet() || !list->tls_record_function_enabled_)) return Watch::kOthers;
    const auto* first = list->sorted_tls_callbacks_.data();
    const auto* end = std::to_address(list->sorted_tls_callbacks_.end());
    if (first == end) return Watch::kNobody;
    const bool is_ours = end == first + 1 && first->callback_.end() == Sink::kEnd && first->enabled_;
    return is_ours ? Watch::kOurs : Watch::kOthers;
  }

  // False: it is a range for torch.
  static bool BeginNode(at::RecordFunction* self) {
    const ThreadView& view = this_thread;
    if (WatchOf(view.list) != Watch::kOurs) return false;
    const c10::FunctionSchema* schema = node_ranges::SchemaAroundNode();
    if (schema == nullptr || WatchOf(view.list) != Watch::kOurs) return false;  // again: to name a node may run code
    BeginUnseen(self, view.list->sorted_tls_callbacks_[0], *schema);
    return true;
  }

  // One return, so that it is made where the caller wants it.
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
    std::optional<at::StepCallbacks> out(std::in_place, kRefused, scope);
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
  static bool IsRefused(const at::StepCallbacks& callbacks) { return IsWithout(callbacks, kRefused); }

  // But for its contexts.
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
      if (OPSCOPE_UNLIKELY(context == nullptr)) Sink::NoteNothing(start);
      new (contexts.begin()) std::unique_ptr<at::ObserverContext>(std::move(context));
    } catch (...) {
      CountFailure();
    }
    range->*Reach(Called()) = true;
  }
};

struct Replacements {
  void* of[torch_layout::kFunctions];  // null: the slot stays as it is
};

template <typename Sink>
Replacements ReplacementsOf() {
  using F = Functions<Sink>;
  return {{reinterpret_cast<void*>(&F::Ask), reinterpret_cast<void*>(&F::Construct), reinterpret_cast<void*>(&F::Run),
           reinterpret_cast<void*>(&F::RunWith), reinterpret_cast<void*>(&F::Destroy),
           reinterpret_cast<void*>(&F::ConstructScope), reinterpret_cast<void*>(&F::Before),
           reinterpret_cast<void*>(&SetList), reinterpret_cast<void*>(&Demangle)}};
}

}  // namespace opscope::drop_in
