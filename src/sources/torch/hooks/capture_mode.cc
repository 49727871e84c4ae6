// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/capture_mode.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <forward_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "opscope/recorder.h"
#include "opscope/torch_source.h"
#include "sources/got/patched_entries.h"
#include "sources/streams/failures.h"
#include "sources/streams/stream_of.h"
#include "sources/torch/callbacks/callback_pool.h"
#include "sources/torch/hooks/call_site_cache.h"
#include "sources/torch/hooks/callback_version.h"
#include "sources/torch/hooks/deferred_refcounts.h"
#include "sources/torch/hooks/hook_probe.h"
#include "sources/torch/hooks/range_hooks.h"
#include "sources/torch/hooks/range_layout.h"

namespace opscope {
namespace {

// The thread's last start function that recorded nothing, and the stream that it would have written to; null: none was
// there, or it takes events. Both stay what they are, whatever becomes of the window. Not of the initial-exec model
// either (range_hooks.h).
struct Refusing {
  torch_layout::StartCallback start;
  const CallbackBinding* binding;
  Stream* stream;
  const void* place;  // that asked last whether there are callbacks, and of whose range nothing is known yet; or null
  uint32_t without_range;  // operators that were counted where they asked

  bool is_under_way() const {
    return stream->taking.load(std::memory_order_relaxed) == 0 &&
           stream->generation.load(std::memory_order_relaxed) == binding->generation.load(std::memory_order_relaxed);
  }
};
constinit __thread Refusing refusing{};

const CallbackBinding* BindingOf(torch_layout::StartCallback start) {
  const int instance = InstanceOf(start);
  return instance >= 0 ? &callback_bindings[instance] : nullptr;
}

// Null: it takes events, or is not there.
Stream* RefusingStreamOf(const CallbackBinding* binding) {
  if (binding == nullptr) return nullptr;
  Stream* stream =
      KnownStreamOf(binding->slot.load(std::memory_order_relaxed), binding->generation.load(std::memory_order_relaxed));
  return stream != nullptr && stream->taking.load(std::memory_order_relaxed) == 0 ? stream : nullptr;
}

struct BankSink {
  static constexpr auto kEnd = &EndRange;
  static void EndAndRelease(at::ObserverContext* context) {
    const uint64_t now = ReadTicks();
    EndScope(reinterpret_cast<OpenScope*>(context), now);
  }
  static void EndWhenDeleted(at::ObserverContext* context) { opscope::EndWhenDeleted(context); }
  static void Count(drop_in::What) {}
  static __attribute__((noinline)) void NoteNothing(torch_layout::StartCallback start) {
    if (refusing.start != start) refusing = {start, BindingOf(start), nullptr, nullptr, 0};
    refusing.stream = RefusingStreamOf(refusing.binding);
    drop_in::this_thread.refusing = refusing.stream != nullptr ? start : nullptr;
  }
  static bool StillRefuses() {
    if (refusing.is_under_way()) return true;
    drop_in::this_thread.refusing = nullptr;
    return false;
  }
  static bool RefuseAt(const void* place) {
    if (OPSCOPE_UNLIKELY(refusing.place != nullptr)) asking_places::NoteNoRange(std::exchange(refusing.place, nullptr));
    if (asking_places::IsOfOneOperator(place) && ++refusing.without_range % asking_places::kAskedAgain != 0) {
      Refuse(refusing.stream);
      return true;
    }
    refusing.place = place;
    return false;
  }
  static void RefuseRange(const c10::FunctionSchema& schema) {
    if (refusing.place != nullptr) asking_places::NoteRange(std::exchange(refusing.place, nullptr), &schema);
    if (refusing.stream != nullptr && refusing.is_under_way()) Refuse(refusing.stream);
  }
};

constexpr const char* kNotTried = "this build of the adapter was not tried on its torch";

// With SlotLock(). Never destroyed.
struct Redirection {
  std::vector<CallSlot> slots;  // of torch's functions, numbered as kSymbols
  PointedSlots pointed;
  const char* refused = nullptr;  // why they will not be pointed again in this process
};
Redirection& TheRedirection() {
  static Redirection& redirection = *new Redirection;
  return redirection;
}

enum class Progress : uint32_t { kNotBegun, kUnderWay, kDone };
constinit std::atomic<Progress> search{Progress::kNotBegun};
constinit std::atomic<const char*> not_found{nullptr};  // what the search missed
constinit std::atomic<const char*> verdict{kNotTried};  // "": fits
constinit std::atomic<uint64_t> routed{0};              // one bit per instance
constinit std::array<std::atomic<const char*>, kCallbackInstances> why{};
static_assert(kCallbackInstances <= 64);

// Null: all is there.
const char* FindSlotsOfTorch() {
  const MutexLock lock(SlotLock());
  std::vector<CallSlot>& slots = TheRedirection().slots;
  uint32_t in_cpu = 0;
  slots.clear();
  for (const char* library : torch_layout::kLibraries) {
    const std::vector<CallSlot> found = FindCallSlots(library, torch_layout::kSymbols);
    slots.insert(slots.end(), found.begin(), found.end());
    if (library != torch_layout::kLibraries[0]) continue;
    for (const CallSlot& slot : found)
      in_cpu |= 1u << slot.symbol;
  }
  const bool has_all = (torch_layout::kNeeded & ~in_cpu) == 0;
  return has_all ? nullptr : "libtorch_cpu.so calls its range functions in another way than by slots";
}

const char* FindAll() {
  using namespace torch_layout;
#if !defined(__x86_64__)
  return "drop-in functions were tried on x86-64 alone";
#endif
  if (!drop_in::ThreadViewIsFound()) return "the process has no room for variables of threads";
  if (opscope_range_vtable == nullptr || SequenceOf == nullptr || TorchRun == nullptr || TorchRunWith == nullptr) {
    return "this torch lacks a function that the drop-in functions need";
  }
  if (const char* missing = FindSlotsOfTorch()) return missing;
  if (drop_in::globals.no_schema == nullptr) {
    drop_in::globals.no_schema = new c10::FunctionSchema("", "", {}, {});
  }
  drop_in::globals.changes = FindGlobalChanges();
  return drop_in::globals.changes != nullptr ? nullptr : "torch's count of changes of its observers was not found";
}

// Once per process. Null: all is there.
const char* Find() {
  Progress state = Progress::kNotBegun;
  if (search.compare_exchange_strong(state, Progress::kUnderWay)) {
    const char* missing = "memory was short";
    try {
      missing = FindAll();
    } catch (...) {
      CountFailure();
    }
    not_found.store(missing);
    search.store(Progress::kDone);
    return missing;
  }
  return state == Progress::kDone ? not_found.load() : "another thread was looking for torch's slots";
}

// Null: the environment leaves the choice.
const char* WhyForbidden() {
  const char* value = std::getenv("OPSCOPE_TORCH_ROUTE");
  const std::string_view wanted = value == nullptr ? "" : value;
  if (wanted.empty()) return nullptr;
  return wanted == "callbacks" ? "OPSCOPE_TORCH_ROUTE=callbacks"
                               : "OPSCOPE_TORCH_ROUTE has a value that says nothing, known is: callbacks";
}

// What each slot holds is its library's function, or the calling library's stub that looks for it.
bool AreUntouched(const std::vector<CallSlot>& slots) {
  std::vector<Segment> owners;
  const auto add = [&owners](const char* library) {
    const std::vector<Segment> found = SegmentsOf(library);
    owners.insert(owners.end(), found.begin(), found.end());
  };
  add("libtorch");
  add("libc10");
  return std::all_of(slots.begin(), slots.end(), [&](const CallSlot& slot) {
    const auto target = reinterpret_cast<uintptr_t>(__atomic_load_n(slot.place, __ATOMIC_ACQUIRE));
    return std::any_of(owners.begin(), owners.end(),
                       [target](const Segment& each) { return target >= each.begin && target < each.end; });
  });
}

// Null: they point to us. REQUIRES: SlotLock() is held.
const char* PointToDropIns() {
  Redirection& redirection = TheRedirection();
  if (redirection.refused != nullptr) return redirection.refused;
  if (!AreUntouched(redirection.slots)) return "somebody else has re-pointed torch's slots";
  const drop_in::Replacements replacements = drop_in::ReplacementsOf<BankSink>();
  for (const CallSlot& slot : redirection.slots) {
    void* ours = replacements.of[slot.symbol];
    if (ours == nullptr || redirection.pointed.Point(slot, ours)) continue;
    redirection.pointed.PutBack();
    return redirection.refused = "a slot of torch's libraries cannot be written";
  }
  return nullptr;
}

// Null: nothing is in the way but, perhaps, the slots.
const char* WhyNot(uint32_t flags) {
  if ((flags & torch_source_flags::kAllThreads) != 0) return "all threads are recorded";
  if (const char* forbidden = WhyForbidden()) return forbidden;
  if (const char* sentence = verdict.load(); *sentence != '\0') return sentence;
  return Find();
}

// REQUIRES: SlotLock() is held.
void PutBackIfUnused() {
  if (routed.load() == 0 && boxed_references::Close()) TheRedirection().pointed.PutBack();
}

const char* Begin(uint32_t instance, uint32_t flags) {
  if (const char* reason = WhyNot(flags)) return reason;
  const MutexLock lock(SlotLock());
  if (routed.load() == 0 && TheRedirection().pointed.empty()) {
    if (const char* refused = PointToDropIns()) return refused;
  }
  if ((flags & torch_source_flags::kInputs) != 0) {
    boxed_references::Open([] {
      const MutexLock again(SlotLock());
      PutBackIfUnused();
    });
  }
  routed.fetch_or(uint64_t{1} << instance);
  return nullptr;
}

__attribute__((constructor)) void WatchForksOfRoute() {
  TheRedirection();  // made before a child can ask for it
  WatchForksOfSlots([] {
    routed.store(0);
    boxed_references::CloseInChild();
    TheRedirection().pointed.PutBack();
    Progress under_way = Progress::kUnderWay;
    search.compare_exchange_strong(under_way, Progress::kNotBegun);
  });
}

}  // namespace

const char* TryRoute() {
  if (routed.load() != 0) return "a window is open";
  const char* complaint = Find();
  try {
    if (complaint == nullptr) complaint = drop_in::TryDropIns(TheRedirection().slots);
  } catch (...) {
    complaint = "torch threw an exception where they were tried";
  }
  verdict.store(complaint != nullptr ? complaint : "");
  return complaint;
}

void TakeRouteVerdict(const char* sentence) {
  static constinit Mutex taking;
  static std::forward_list<std::string>& taken = *new std::forward_list<std::string>;  // who reads one may be late
  const MutexLock lock(taking);
  if (verdict.load() != std::string_view(sentence)) verdict.store(taken.emplace_front(sentence).c_str());
  // Now, while the library is loaded, and not in the first start, which a program waits for.
  if (*sentence == '\0' && WhyForbidden() == nullptr) Find();
}

const char* StartHooks(uint32_t instance, uint32_t flags) {
  const char* reason = "memory was short";
  try {
    reason = Begin(instance, flags);
  } catch (...) {
    CountFailure();
  }
  why[instance].store(reason);
  return nullptr;
}

void StopHooks(uint32_t instance) {
  const MutexLock lock(SlotLock());
  routed.fetch_and(~(uint64_t{1} << instance));
  PutBackIfUnused();
}

std::optional<RangeFunctions> DropInsFor(uint32_t flags) {
  if (WhyNot(flags) != nullptr) return std::nullopt;
  using F = drop_in::Functions<BankSink>;
  return RangeFunctions{&F::Construct, &F::Run, &F::RunWith, &F::Destroy};
}

const char* WhyCallbacks(uint32_t instance) {
  return why[instance].load();
}

}  // namespace opscope
