// Installs the hooks, and counts the operators that a full stream drops at the memory cap.
//
// Constructing a range of torch's only to drop it costs as much as recording it. So Ask returns that no callback
// watches the operator, and counts the drop at once (DropAt). But torch also calls Ask for operators that it hides from
// callbacks, and these must not be counted. The call-site cache (call_site_cache.h) knows the call sites that always
// begin a range; only at those is a drop counted early. Elsewhere torch constructs the range without a callback, and
// Run counts it (DropRange).
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/capture_mode.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <forward_list>
#include <span>
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

// The thread's last start function that recorded nothing, and the stream that dropped the range. Pointers stay valid
// after the window. The TLS model is not initial-exec, as for ThreadView (range_hooks.h).
struct Dropping {
  torch_layout::StartCallback start;
  const CallbackBinding* binding;
  Stream* stream;          // null: the thread has no stream in the window, or the stream accepts events
  const void* call_site;   // of the last Ask, whose range has not begun yet; or null
  uint32_t without_range;  // number of operators counted at their call site, for kRecheckInterval

  bool is_under_way() const {
    return stream->accepting.load(std::memory_order_relaxed) == 0 &&
           stream->generation.load(std::memory_order_relaxed) == binding->generation.load(std::memory_order_relaxed);
  }
};
constinit __thread Dropping dropping{};

const CallbackBinding* BindingOf(torch_layout::StartCallback start) {
  const int instance = InstanceOf(start);
  return instance >= 0 ? &callback_bindings[instance] : nullptr;
}

// Null: the thread has no stream, or the stream accepts events.
Stream* DroppingStreamOf(const CallbackBinding* binding) {
  if (binding == nullptr) return nullptr;
  Stream* stream =
      KnownStreamOf(binding->slot.load(std::memory_order_relaxed), binding->generation.load(std::memory_order_relaxed));
  return stream != nullptr && stream->accepting.load(std::memory_order_relaxed) == 0 ? stream : nullptr;
}

struct PoolSink {
  static constexpr auto kEnd = &EndRange;
  static void EndAndRelease(at::ObserverContext* context) {
    const uint64_t now = ReadTicks();
    EndScope(reinterpret_cast<OpenScope*>(context), now);
  }
  static void EndWhenDeleted(at::ObserverContext* context) { opscope::EndWhenDeleted(context); }
  static void Count(range_hooks::Step) {}
  static __attribute__((noinline)) void OnNotRecorded(torch_layout::StartCallback start) {
    if (dropping.start != start) dropping = {start, BindingOf(start), nullptr, nullptr, 0};
    dropping.stream = DroppingStreamOf(dropping.binding);
    range_hooks::this_thread.dropping = dropping.stream != nullptr ? start : nullptr;
  }
  static bool StillDrops() {
    if (dropping.is_under_way()) return true;
    range_hooks::this_thread.dropping = nullptr;
    return false;
  }
  static bool DropAt(const void* call_site) {
    if (OPSCOPE_UNLIKELY(dropping.call_site != nullptr))
      call_site_cache::RecordNoRange(std::exchange(dropping.call_site, nullptr));
    if (call_site_cache::IsOfOneOperator(call_site) &&
        ++dropping.without_range % call_site_cache::kRecheckInterval != 0) {
      DropEvent(dropping.stream);
      return true;
    }
    dropping.call_site = call_site;
    return false;
  }
  static void DropRange(const c10::FunctionSchema& schema) {
    if (dropping.call_site != nullptr)
      call_site_cache::RecordRange(std::exchange(dropping.call_site, nullptr), &schema);
    if (dropping.stream != nullptr && dropping.is_under_way()) DropEvent(dropping.stream);
  }
};

constexpr const char* kNotProbed = "this build of the adapter was not tried on its torch";

// Guarded by GotLock(). Never destroyed.
struct Patches {
  std::vector<GotEntry> entries;  // of torch's functions, numbered as kSymbols
  PatchedEntries patched;
  const char* refused = nullptr;  // why this process must not patch them again; null: it may
};
Patches& ThePatches() {
  static Patches& patches = *new Patches;
  return patches;
}

enum class Progress : uint32_t { kNotBegun, kUnderWay, kDone };
constinit std::atomic<Progress> search{Progress::kNotBegun};
constinit std::atomic<const char*> not_found{nullptr};                                  // what the search did not find
constinit std::atomic<const char*> probe_result{kNotProbed};                            // "": the hooks fit
constinit InstanceSet hooked;                                                           // recorded by hooks
constinit std::array<std::atomic<const char*>, kCallbackInstances> fallback_reasons{};  // null: hooks record

// Null: all needed entries were found.
const char* FindEntriesOfTorch() {
  const MutexLock lock(GotLock());
  std::vector<GotEntry>& entries = ThePatches().entries;
  uint32_t in_cpu = 0;
  entries.clear();
  for (const char* library : torch_layout::kLibraries) {
    const std::vector<GotEntry> found = FindGotEntries(library, torch_layout::kSymbols);
    entries.insert(entries.end(), found.begin(), found.end());
    if (library != torch_layout::kLibraries[0]) continue;
    for (const GotEntry& entry : found)
      in_cpu |= 1u << entry.symbol;
  }
  const bool has_all = (torch_layout::kNeeded & ~in_cpu) == 0;
  return has_all ? nullptr : "libtorch_cpu.so does not call its range functions through GOT entries";
}

// Null: this torch has all that the hooks need.
const char* FindEntriesAndVersion() {
  using namespace torch_layout;
#if !defined(__x86_64__)
  return "hooks were tried on x86-64 alone";
#endif
  if (!range_hooks::ThreadViewIsStatic()) return "the process has no static TLS left";
  if (opscope_range_vtable == nullptr || SequenceOf == nullptr || TorchRun == nullptr || TorchRunWith == nullptr) {
    return "this torch lacks a function that the hooks need";
  }
  if (const char* missing = FindEntriesOfTorch()) return missing;
  if (range_hooks::globals.no_schema == nullptr) {
    range_hooks::globals.no_schema = new c10::FunctionSchema("", "", {}, {});
  }
  range_hooks::globals.version = FindGlobalCallbackVersion();
  return range_hooks::globals.version != nullptr ? nullptr : "torch's count of changes of its observers was not found";
}

// Searches once per process. Null: the hooks can be installed.
const char* EnsureEntriesFound() {
  Progress state = Progress::kNotBegun;
  if (search.compare_exchange_strong(state, Progress::kUnderWay)) {
    const char* missing = "out of memory";
    try {
      missing = FindEntriesAndVersion();
    } catch (...) {
      CountFailure();
    }
    not_found.store(missing);
    search.store(Progress::kDone);
    return missing;
  }
  return state == Progress::kDone ? not_found.load() : "another thread was looking for torch's GOT entries";
}

// Null: the environment does not forbid the hooks.
const char* WhyForbidden() {
  const char* value = std::getenv("OPSCOPE_TORCH_ROUTE");
  const std::string_view wanted = value == nullptr ? "" : value;
  if (wanted.empty()) return nullptr;
  return wanted == "callbacks" ? "OPSCOPE_TORCH_ROUTE=callbacks"
                               : "OPSCOPE_TORCH_ROUTE: unknown value; the only one is 'callbacks'";
}

// Whether each entry holds torch's function, or the stub of its own library that resolves it lazily.
bool AreUnpatched(std::span<const GotEntry> entries) {
  std::vector<Segment> owners = SegmentsOf("libtorch");
  const std::vector<Segment> c10 = SegmentsOf("libc10");
  owners.insert(owners.end(), c10.begin(), c10.end());
  return std::ranges::all_of(entries, [&](const GotEntry& entry) {
    return FindSegment(__atomic_load_n(entry.address, __ATOMIC_ACQUIRE), owners) != nullptr;
  });
}

// Null: done. REQUIRES: GotLock() is held.
const char* InstallHooks() {
  Patches& patches = ThePatches();
  if (patches.refused != nullptr) return patches.refused;
  if (!AreUnpatched(patches.entries)) return "another library has patched torch's GOT entries";
  if (patches.patched.PatchAll(patches.entries, range_hooks::HooksOf<PoolSink>())) return nullptr;
  return patches.refused = range_hooks::kNotWritable;
}

// Null: hooks may record such a window, unless patching fails.
const char* WhyNoHooks(uint32_t flags) {
  if ((flags & torch_source_flags::kAllThreads) != 0) return "all threads are recorded";
  if (const char* forbidden = WhyForbidden()) return forbidden;
  if (const char* sentence = probe_result.load(); *sentence != '\0') return sentence;
  return EnsureEntriesFound();
}

// REQUIRES: GotLock() is held.
void RestoreIfUnused() {
  if (hooked.empty() && deferred_refcounts::Close()) ThePatches().patched.Restore();
}

const char* BeginHooks(uint32_t instance, uint32_t flags) {
  if (const char* reason = WhyNoHooks(flags)) return reason;
  const MutexLock lock(GotLock());
  if (hooked.empty() && ThePatches().patched.empty()) {
    if (const char* refused = InstallHooks()) return refused;
  }
  if ((flags & torch_source_flags::kInputs) != 0) {
    deferred_refcounts::Open([] {
      const MutexLock again(GotLock());
      RestoreIfUnused();
    });
  }
  hooked.Add(instance);
  return nullptr;
}

__attribute__((constructor)) void WatchForksOfHooks() {
  ThePatches();  // constructed before a forked child can use it
  CallInForkedChild([] {
    hooked.Clear();
    deferred_refcounts::CloseInChild();
    ThePatches().patched.Restore();
    Progress under_way = Progress::kUnderWay;
    search.compare_exchange_strong(under_way, Progress::kNotBegun);
  });
}

}  // namespace

const char* ProbeCaptureMode() {
  if (!hooked.empty()) return "a window is open";
  const char* complaint = EnsureEntriesFound();
  try {
    if (complaint == nullptr) complaint = range_hooks::ProbeHooks(ThePatches().entries);
  } catch (...) {
    complaint = "torch threw an exception where they were tried";
  }
  probe_result.store(complaint != nullptr ? complaint : "");
  return complaint;
}

void SetProbeResult(const char* sentence) {
  static constinit Mutex mutex;
  static auto& sentences = *new std::forward_list<std::string>;  // never freed: readers take no lock
  const MutexLock lock(mutex);
  if (probe_result.load() != std::string_view(sentence)) probe_result.store(sentences.emplace_front(sentence).c_str());
  // Search now, while the library loads, so that the first start is fast.
  if (*sentence == '\0' && WhyForbidden() == nullptr) EnsureEntriesFound();
}

const char* StartHooks(uint32_t instance, uint32_t flags) {
  const char* reason = "out of memory";
  try {
    reason = BeginHooks(instance, flags);
  } catch (...) {
    CountFailure();
  }
  fallback_reasons[instance].store(reason);
  return nullptr;
}

void StopHooks(uint32_t instance) {
  const MutexLock lock(GotLock());
  hooked.Remove(instance);
  RestoreIfUnused();
}

std::optional<RangeFunctions> HooksFor(uint32_t flags) {
  if (WhyNoHooks(flags) != nullptr) return std::nullopt;
  using F = range_hooks::Functions<PoolSink>;
  return RangeFunctions{&F::Construct, &F::Run, &F::RunWith, &F::Destroy};
}

const char* WhyCallbacks(uint32_t instance) {
  return fallback_reasons[instance].load();
}

}  // namespace opscope
