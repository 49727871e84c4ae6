// The hot path of the Python source: writes the calls of one thread into its streams, one record at the begin of a call
// (kEnter) and one at its end (kExit). Calls are not scopes of the recorder, because calls and ranges of operators may
// overlap without nesting: a `with` block enters its range inside one call and leaves it inside another.
//
//   CallWindow    what one window of the recorder records of Python, and the names of the calls
//   Binding       one thread in one CallWindow: its stream, and a cache of name offsets in the stream's chunk
//   ThreadCalls   one thread of Python: its bindings. Found by a thread-local variable; reused, never unmapped
//
//   def f(x): return len(x)
//     f called      TryFastEnter: cached name, one record of 32 bytes      else EnterCodeSlow: makes the name
//     len called    TryFastEnter with the key of the C function            else EnterFunctionSlow
//     returns       TryFastExit, twice                                     else ExitSlow
//
// Thread rule: the GIL is held; a ThreadCalls is read by its own thread and changed by starts and stops on any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "opscope/recorder.h"
#include "opscope/torch_source.h"
#include "sources/python/call_names.h"
#include "sources/python/call_sites.h"
#include "sources/python/frames.h"
#include "sources/streams/address_cache.h"

namespace opscope {

namespace call_flags {
inline constexpr uint32_t kAllCalls = 1;   // with_stack; else nn.Module calls alone
inline constexpr uint32_t kGarbage = 2;    // runs of the garbage collector
inline constexpr uint32_t kOneThread = 4;  // only the calling thread
inline constexpr uint32_t kCallSites = 8;  // with kAllCalls: also the call site of each call
}  // namespace call_flags

using HoldTensorsFunction = decltype(TorchSource::hold);

// The window's Python objects down to tensor_types are borrowed from its Source, which is never destroyed.
struct CallWindow {
  uint32_t slot = 0;
  uint32_t flags = 0;
  uint64_t generation = 0;
  uint64_t start = 0;                      // ticks
  PyCodeObject* module_code = nullptr;     // of nn.Module.__call__; null: no torch
  PyCodeObject* optimizer_code = nullptr;  // of Optimizer._optimizer_step_code
  PyObject* module_call = nullptr;         // nn.Module.__call__, the function of module_code; null: unknown
  PyObject* module_inner = nullptr;        // nn.Module._call_impl, which __call__ calls; null: unknown
  PyTypeObject* method_owner = nullptr;    // the class whose C methods method_calls.h watches; null: unknown
  PyObject* tensor_types = nullptr;        // tuple of classes whose attributes run no code of the program
  PyObject* forget_object = nullptr;       // strong; called when a module or an optimizer dies
  HoldTensorsFunction hold = nullptr;      // null: tensors of objects are not recorded
  CallNames names;
  uint64_t replaced = 0;  // threads with another profile function at the end
  uint64_t idle = 0;      // threads that ran without a recorded call
  uint32_t uses = 0;      // number of running slow paths
  bool is_armed = false;
  bool watches_module_calls = false;  // module_calls.h records instead of events, where possible
  bool has_watch = false;             // the vectorcalls are replaced
  bool watches_methods = false;       // method_calls.h records instead of events
  bool watches_collector = false;
  bool is_stopped = false;
  bool all_calls() const { return (flags & call_flags::kAllCalls) != 0; }
  bool wants_sites() const { return all_calls() && (flags & call_flags::kCallSites) != 0; }
};

// Frees the window now, or when its last slow path ends. May run Python code. REQUIRES: no thread is bound to the
// window.
void FreeWindow(CallWindow* window);

// A call that began before the window.
struct OpenFrame {
  PyCodeObject* code = nullptr;  // strong
  PyObject* module = nullptr;    // strong; null: no nn.Module
  const void* key = nullptr;
  int line = 0;
  uint64_t identity = 0;
};

struct alignas(32) CachedName {  // half a cache line
  const void* key = nullptr;
  uint32_t name = 0;               // offset in the chunk
  uint32_t chunk_sequence = ~0u;   // of that chunk; the initial value is of no chunk
  const CallName* call = nullptr;  // valid while `key` is set
};

struct Binding {
  using Names = AddressCache<CachedName, 11>;

  Stream* stream = nullptr;
  uint64_t generation = 0;
  CallWindow* window = nullptr;
  Binding* next = nullptr;
  std::unique_ptr<Names> names;      // from the first event on
  std::unique_ptr<CallSites> sites;  // likewise; null: the window records no call sites
  std::vector<OpenFrame> open;       // outermost first; until the first event
  bool is_lost = false;              // the thread cannot record
  bool gets_events = true;           // from call_events.h; false: module_calls.h records

  CachedName* CachedFor(const void* key) const { return &names->EntryOf(key); }
};

struct ThreadCalls {
  // The binding for the fast path: the only one that gets events, if it records all calls and no other profile function
  // is set. Two members: without and with call sites.
  Binding* fast = nullptr;
  Binding* fast_at_sites = nullptr;
#if !OPSCOPE_HAS_MONITORING
  PyCodeObject* only_code = nullptr;  // the only code whose calls are recorded; null: more than one
  Py_tracefunc previous = nullptr;    // the program's profile function, which gets every event too
#endif
  uint64_t python_thread = ~uint64_t{0};  // PyThreadState::id; all ones: free
  Binding* bindings = nullptr;
  uint64_t last_unbound = 0;  // generation of the last window that this thread was unbound from
};

// A record's value is the address of the frame; these low bits distinguish calls that have no frame of their own.
inline constexpr uint64_t kCallOfFunction = 1;
inline constexpr uint64_t kCallOfCollector = 2;

// Changes with every start and stop; a thread's cached pointer is valid in the epoch in which it was looked up.
extern uint64_t calls_epoch __attribute__((visibility("hidden")));
struct CachedCalls {
  ThreadCalls* calls;
  uint64_t epoch;
};
extern __thread CachedCalls cached_calls __attribute__((tls_model("initial-exec")));
ThreadCalls* LookUpCalls();

inline ThreadCalls* CallsOfThisThread() {
  if (__builtin_expect(cached_calls.epoch == calls_epoch, 1)) return cached_calls.calls;
  return LookUpCalls();
}

// Calls visit(binding) for each binding of the calling thread, until a window starts or stops: visit may run Python
// code.
template <typename Visit>
inline void VisitBindings(const Visit& visit) {
  const ThreadCalls* calls = CallsOfThisThread();
  const uint64_t epoch = calls_epoch;
  for (Binding* binding = calls->bindings; binding != nullptr && epoch == calls_epoch; binding = binding->next)
    visit(binding);
}

// False: the binding has no stream yet, or its window is closed.
inline bool IsRecording(const Binding* binding) {
  const Stream* stream = binding->stream;
  return __builtin_expect(
      stream != nullptr && stream->generation.load(std::memory_order_relaxed) == binding->generation, 1);
}

// ThreadCalls::fast of this thread, or fast_at_sites. Null: its events take the slow path.
template <bool kAtSites>
inline const Binding* FastBindingOfThisThread() {
  if (OPSCOPE_UNLIKELY(cached_calls.epoch != calls_epoch)) return nullptr;
  const ThreadCalls* calls = cached_calls.calls;
  const Binding* fast = kAtSites ? calls->fast_at_sites : calls->fast;
  return __builtin_expect(fast != nullptr, 1) && IsRecording(fast) ? fast : nullptr;
}

// REQUIRES: room.
__attribute__((always_inline)) inline void WriteCallInRoom(Stream* stream, RecordKind record_kind, uint32_t name,
                                                           uint32_t payload, uint64_t identity, CallKind kind) {
  Record* record = stream->next;
  PrefetchRecords(stream);
  record->value = identity;
  const uint64_t entries = uint64_t{name} | uint64_t{payload} << 32;
  std::memcpy(reinterpret_cast<char*>(record) + offsetof(Record, name), &entries, sizeof(entries));
  record->depth = 0;
  record->kind = record_kind;
  record->flags = 0;
  record->source = RecordSource::kPython;
  record->scope = static_cast<uint8_t>(kind);
  record->reserved = 0;
  record->start = ReadTicks();
  PublishNext(stream, record);
}

inline void WriteCall(Stream* stream, RecordKind record_kind, uint32_t name, uint32_t payload, uint64_t identity,
                      CallKind kind) {
  const Writing writing(stream);
  if (OPSCOPE_UNLIKELY(!writing.allowed())) return;
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0)) && !opscope_make_room(stream, 0)) return CountDrop(stream);
  WriteCallInRoom(stream, record_kind, name, payload, identity, kind);
}

// Calls write() with the thread marked as writing, without a function call. False: a signal handler has interrupted the
// thread's writing, or the mark is stale; nothing was done.
template <typename Write>
__attribute__((always_inline)) inline bool TryWriting(const Write& write) {
  Thread* thread = opscope_tls;
  OpenScope* slots = thread->free_slots;
  if (OPSCOPE_UNLIKELY(!IsSlot(slots) && slots != NoSlot())) return false;
  SetFreeSlots(thread, WritingMark());
  write();
  SetFreeSlots(thread, slots);
  return true;
}

// The fast path of the begin and the end of a call. It calls no function, so the compiler saves no registers. False:
// nothing was done. kAtSite: the binding records call sites, and caller() returns the calling frame.
template <bool kAtSite, typename Caller>
__attribute__((always_inline)) inline bool TryFastEnter(const Binding* binding, const void* key, uint64_t identity,
                                                        CallKind kind, const Caller& caller) {
  Stream* stream = binding->stream;
  const CachedName* cached = binding->CachedFor(key);
  if (OPSCOPE_UNLIKELY(cached->key != key || cached->chunk_sequence != stream->chunk_sequence || !HasRoom(stream, 0))) {
    return false;
  }
  uint32_t payload = 0;
  if constexpr (kAtSite) {
    const CallSite* site = binding->sites->Find(caller());
    if (OPSCOPE_UNLIKELY(site == nullptr || site->chunk_sequence != stream->chunk_sequence)) return false;
    payload = site->payload;
  }
  return TryWriting([=] { WriteCallInRoom(stream, RecordKind::kEnter, cached->name, payload, identity, kind); });
}
__attribute__((always_inline)) inline bool TryFastExit(const Binding* binding, uint64_t identity, CallKind kind) {
  Stream* stream = binding->stream;
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0))) return false;
  return TryWriting([=] { WriteCallInRoom(stream, RecordKind::kExit, 0, 0, identity, kind); });
}

// Name and call site are known, but not both in the current chunk. site: null if not recorded. REQUIRES: IsRecording.
void EnterInNewChunk(const Binding* binding, CachedName* cached, uint64_t identity, CallKind kind, CallSite* site);

// The slow paths, which make names, take chunks and attach threads. They may run Python code, during which other
// threads may start and stop windows: compare calls_epoch before using a binding again.
void EnterCodeSlow(Binding* binding, PyCodeObject* code, FrameObject* frame);
void EnterFunctionSlow(Binding* binding, PyObject* function, PyObject* self, const FrameObject* caller);
void EnterModuleSlow(Binding* binding, PyObject* module, uint64_t identity, const CallingFrame* caller);
void EnterCollector(Binding* binding);
void ExitSlow(Binding* binding, uint64_t identity, CallKind kind);

// False: take the slow path. caller: may be null if the window records only modules.
inline bool TryEnter(Binding* binding, const void* key, uint64_t identity, CallKind kind, const CallingFrame* caller) {
  if (!IsRecording(binding)) return false;
  Stream* stream = binding->stream;
  CachedName* cached = binding->CachedFor(key);
  if (OPSCOPE_UNLIKELY(cached->key != key)) return false;
  CallSite* site = binding->sites != nullptr ? binding->sites->Find(caller) : nullptr;
  if (OPSCOPE_UNLIKELY(site == nullptr && binding->sites != nullptr)) return false;
  const bool is_here = cached->chunk_sequence == stream->chunk_sequence &&
                       (site == nullptr || site->chunk_sequence == stream->chunk_sequence);
  if (OPSCOPE_UNLIKELY(!is_here || !HasRoom(stream, 0))) {
    EnterInNewChunk(binding, cached, identity, kind, site);
  } else {
    WriteCall(stream, RecordKind::kEnter, cached->name, site != nullptr ? site->payload : 0, identity, kind);
  }
  return true;
}

// Never inlined, to keep the rare case out of the hot code.
__attribute__((noinline)) inline void EnterModule(Binding* binding, PyObject* module, uint64_t identity,
                                                  const CallingFrame* caller) {
  if (!TryEnter(binding, module, identity, CallKind::kModule, caller)) {
    EnterModuleSlow(binding, module, identity, caller);
  }
}

inline void EnterFrame(Binding* binding, PyCodeObject* code, FrameObject* frame) {
  const CallWindow* window = binding->window;
  if (OPSCOPE_UNLIKELY(code == window->module_code)) {
    PyObject* module = FirstArgument(frame);
    if (module != nullptr) return EnterModule(binding, module, FrameIdentity(frame), CallerOf(frame));
    return EnterCodeSlow(binding, code, frame);
  }
  if (OPSCOPE_UNLIKELY(!window->all_calls())) return;
  if (!TryEnter(binding, CallKey(code, frame), FrameIdentity(frame), CallKind::kPython, CallerOf(frame))) {
    EnterCodeSlow(binding, code, frame);
  }
}

// function: a C function, a descriptor of a C method, or another callable. self: for a descriptor the object of the
// call; may be null.
inline void EnterFunction(Binding* binding, PyObject* function, PyObject* self, const FrameObject* caller) {
  if (OPSCOPE_UNLIKELY(!binding->window->all_calls())) return;
  const void* key = FunctionKey(function);
  if (OPSCOPE_UNLIKELY(key == nullptr)) return;
  const uint64_t identity = FrameIdentity(caller) | kCallOfFunction;
  if (!TryEnter(binding, key, identity, CallKind::kFunction, AsCalling(caller))) {
    EnterFunctionSlow(binding, function, self, caller);
  }
}

inline void ExitCall(Binding* binding, uint64_t identity, CallKind kind) {
  if (IsRecording(binding)) {
    WriteCall(binding->stream, RecordKind::kExit, 0, 0, identity, kind);
  } else {
    ExitSlow(binding, identity, kind);
  }
}

inline void ExitFrame(Binding* binding, PyCodeObject* code, const FrameObject* frame) {
  const CallWindow* window = binding->window;
  if (OPSCOPE_UNLIKELY(!window->all_calls() && code != window->module_code)) return;
  ExitCall(binding, FrameIdentity(frame), CallKind::kPython);
}

inline void ExitFunction(Binding* binding, const FrameObject* caller) {
  if (OPSCOPE_UNLIKELY(!binding->window->all_calls())) return;
  ExitCall(binding, FrameIdentity(caller) | kCallOfFunction, CallKind::kFunction);
}

// True if one of the thread's bindings gets events.
bool GetsEvents(const ThreadCalls* calls);
// Call this after a change of the bindings or of the program's profile function.
void FindFastBindings(ThreadCalls* calls);
// Binds every thread of Python to the window, with its open frames. Throws std::bad_alloc.
void BindThreads(CallWindow* window);
// Unbinds all threads from the window.
void UnbindThreads(CallWindow* window);
// Removes the key from the caches of all threads: its address is about to be reused for another object.
void ForgetName(const CallWindow* window, const void* key);
// Null: no window has recorded this thread.
ThreadCalls* FindCalls(uint64_t python_thread);
// Call this in the child of a fork: it unbinds all threads from the parent's windows.
void ForgetWindows();

// visit(thread) for the interpreter's threads.
template <typename Visit>
void VisitThreads(const Visit& visit) {
  PyInterpreterState* interpreter = PyThreadState_Get()->interp;
  for (PyThreadState* thread = PyInterpreterState_ThreadHead(interpreter); thread != nullptr;
       thread = PyThreadState_Next(thread)) {
    visit(thread);
  }
}

}  // namespace opscope
