// The hot path of the Python source: the calls of one thread into its streams, one record when a call begins and one
// when it ends (kEnter, kExit). Calls and ranges of operators may cross, as where a `with` block enters and leaves a
// range, so calls are not scopes of the recorder and its nesting knows nothing of them.
//
//   CallWindow    what one window of the recorder wants of Python, and the names that it has seen
//   Binding       one thread in one CallWindow: its stream, and where names lie in the stream's chunk
//   ThreadCalls   one thread of Python: its bindings. Reached by a thread-local; recycled, never unmapped
//
// Thread rule: the GIL is held; a ThreadCalls is read by its own thread, and changed by whoever starts and stops.
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
#include "sources/python/call_places.h"
#include "sources/python/frames.h"
#include "sources/streams/address_cache.h"

namespace opscope {

namespace call_flags {
inline constexpr uint32_t kAllCalls = 1;   // with_stack; else nn.Module calls alone
inline constexpr uint32_t kGarbage = 2;    // runs of the garbage collector
inline constexpr uint32_t kOneThread = 4;  // of the calling thread alone
inline constexpr uint32_t kPlaces = 8;     // with kAllCalls: from where each was called
}  // namespace call_flags

using HoldTensorsFunction = decltype(TorchSource::hold);

struct CallWindow {
  uint32_t slot = 0;
  uint32_t flags = 0;
  uint64_t generation = 0;
  uint64_t start = 0;                      // ticks
  PyCodeObject* module_code = nullptr;     // of nn.Module.__call__; null: no torch
  PyCodeObject* optimizer_code = nullptr;  // of Optimizer._optimizer_step_code
  PyObject* module_call = nullptr;         // nn.Module.__call__, whose code module_code is; null: not known
  PyObject* module_inner = nullptr;        // nn.Module._call_impl, to which it hands on; null: not known
  PyTypeObject* method_owner = nullptr;    // whose C methods are called often; null: not known
  PyObject* forget_object = nullptr;       // called when a module or an optimizer dies
  PyObject* tensor_types = nullptr;        // tuple: those whose attributes run no code of others
  HoldTensorsFunction hold = nullptr;      // null: nobody wants to know what objects hold
  CallNames names;
  uint64_t replaced = 0;  // threads whose profile function was another at the end
  uint64_t idle = 0;      // threads that ran, and called nothing
  uint32_t uses = 0;      // slow ways that are under way
  bool is_armed = false;
  bool watches_module_calls = false;  // module_calls.h records in place of events, where that is possible
  bool has_watch = false;             // and it has been set up
  bool watches_methods = false;       // method_calls.h does so, in place of events
  bool watches_collector = false;
  bool is_stopped = false;
  bool all_calls() const { return (flags & call_flags::kAllCalls) != 0; }
  bool wants_places() const { return all_calls() && (flags & call_flags::kPlaces) != 0; }
};

// REQUIRES: no thread knows the window. Frees it now, or when the last of its slow ways ends. May run Python code.
void FreeWindow(CallWindow* window);

// A call that began before the window.
struct OpenFrame {
  PyCodeObject* code = nullptr;  // strong
  PyObject* module = nullptr;    // strong; null: no nn.Module
  const void* key = nullptr;
  int line = 0;
  uint64_t identity = 0;
};

struct alignas(32) CachedName {  // none lies in two lines of the processor's cache
  const void* key = nullptr;
  uint32_t name = 0;               // offset in the chunk
  uint32_t chunk_sequence = ~0u;   // of that chunk; no chunk has this one
  const CallName* call = nullptr;  // lives as long as the key is here
};

struct Binding {
  using Names = AddressCache<CachedName, 11>;

  Stream* stream = nullptr;
  uint64_t generation = 0;
  CallWindow* window = nullptr;
  Binding* next = nullptr;
  std::unique_ptr<Names> names;        // from the first event on
  std::unique_ptr<CallPlaces> places;  // likewise; null: the window does not want them
  std::vector<OpenFrame> open;         // outermost first; until the first event
  bool is_lost = false;                // the thread cannot record
  bool hears_events = true;            // of call_events.h; false: module_calls.h records

  CachedName* CachedFor(const void* key) const { return &names->EntryOf(key); }
};

struct ThreadCalls {
  // The only one that hears events, when it wants all calls and no other function does; by whether it wants places.
  Binding* usual = nullptr;
  Binding* usual_at_places = nullptr;
#if !OPSCOPE_HAS_MONITORING
  PyCodeObject* only_code = nullptr;  // of all calls Python tells, those that somebody wants; null: of more than one
#endif
  uint64_t python_thread = ~uint64_t{0};  // PyThreadState::id; all ones: free
  Binding* bindings = nullptr;
#if !OPSCOPE_HAS_MONITORING
  Py_tracefunc previous = nullptr;  // profile function that was there; gets every event too
#endif
  uint64_t last_unbound = 0;  // generation of the window that has just let go of this thread
};

// Bits of a record's value that tell which of a frame's own calls it is: the frame is an address.
inline constexpr uint64_t kCallOfFunction = 1;
inline constexpr uint64_t kCallOfCollector = 2;

// Changes with every start and stop; what a thread remembers of an earlier epoch is looked up again.
extern uint64_t calls_epoch __attribute__((visibility("hidden")));
struct RememberedCalls {
  ThreadCalls* calls;
  uint64_t epoch;
};
extern __thread RememberedCalls remembered_calls __attribute__((tls_model("initial-exec")));
ThreadCalls* LookUpCalls();

inline ThreadCalls* CallsOfThisThread() {
  if (__builtin_expect(remembered_calls.epoch == calls_epoch, 1)) return remembered_calls.calls;
  return LookUpCalls();
}

// False: the stream is not there yet, or its window is closed.
inline bool IsRecording(const Binding* binding) {
  const Stream* stream = binding->stream;
  return __builtin_expect(
      stream != nullptr && stream->generation.load(std::memory_order_relaxed) == binding->generation, 1);
}

// ThreadCalls::usual of this thread, or usual_at_places. Null: events may not go the usual way.
template <bool kAtPlaces>
inline const Binding* UsualOfThisThread() {
  if (OPSCOPE_UNLIKELY(remembered_calls.epoch != calls_epoch)) return nullptr;
  const ThreadCalls* calls = remembered_calls.calls;
  const Binding* usual = kAtPlaces ? calls->usual_at_places : calls->usual;
  return __builtin_expect(usual != nullptr, 1) && IsRecording(usual) ? usual : nullptr;
}

// REQUIRES: room.
__attribute__((always_inline)) inline void WriteCallInRoom(Stream* stream, RecordKind record_kind, uint32_t name,
                                                           uint32_t payload, uint64_t identity, CallKind kind) {
  Record* record = stream->next;
  FetchRecords(stream);
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
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0))) opscope_make_room(stream, 0);
  FetchRecords(stream);
  Record record;
  record.start = ReadTicks();
  record.value = identity;
  record.name = name;
  record.side = payload;
  record.kind = record_kind;
  record.source = RecordSource::kPython;
  record.scope = static_cast<uint8_t>(kind);
  AppendRecord(stream, record);
}

// The usual begin or end of a call, without a function call: nothing needs more than the caller's registers. False:
// nothing was done. kAtPlace: the binding has places, and caller() is the frame that calls.
template <bool kAtPlace, typename Caller>
__attribute__((always_inline)) inline bool TryUsualEnter(const Binding* binding, const void* key, uint64_t identity,
                                                         CallKind kind, const Caller& caller) {
  Stream* stream = binding->stream;
  const CachedName* cached = binding->CachedFor(key);
  if (OPSCOPE_UNLIKELY(cached->key != key || cached->chunk_sequence != stream->chunk_sequence || !HasRoom(stream, 0))) {
    return false;
  }
  uint32_t payload = 0;
  if constexpr (kAtPlace) {
    const CallPlace* place = binding->places->Find(caller());
    if (OPSCOPE_UNLIKELY(place == nullptr || place->chunk_sequence != stream->chunk_sequence)) return false;
    payload = place->payload;
  }
  Thread* thread = opscope_tls;
  OpenScope* slots = thread->free_slots;
  if (OPSCOPE_UNLIKELY(!IsSlot(slots) && slots != NoSlot())) return false;
  SetFreeSlots(thread, WritingMark());
  WriteCallInRoom(stream, RecordKind::kEnter, cached->name, payload, identity, kind);
  SetFreeSlots(thread, slots);
  return true;
}
__attribute__((always_inline)) inline bool TryUsualExit(const Binding* binding, uint64_t identity, CallKind kind) {
  Stream* stream = binding->stream;
  if (OPSCOPE_UNLIKELY(!HasRoom(stream, 0))) return false;
  Thread* thread = opscope_tls;
  OpenScope* slots = thread->free_slots;
  if (OPSCOPE_UNLIKELY(!IsSlot(slots) && slots != NoSlot())) return false;
  SetFreeSlots(thread, WritingMark());
  WriteCallInRoom(stream, RecordKind::kExit, 0, 0, identity, kind);
  SetFreeSlots(thread, slots);
  return true;
}

// Name and place are known, but not both in this chunk. place: null: it is not wanted. REQUIRES: IsRecording.
void EnterInNewChunk(const Binding* binding, CachedName* cached, uint64_t identity, CallKind kind, CallPlace* place);

// The ways that make names, take chunks and attach threads. They may run Python code, so other threads may start and
// stop windows meanwhile: compare calls_epoch before a binding is used again.
void EnterCodeSlow(Binding* binding, PyCodeObject* code, FrameObject* frame);
void EnterFunctionSlow(Binding* binding, PyObject* function, PyObject* self, const FrameObject* caller);
void EnterModuleSlow(Binding* binding, PyObject* module, uint64_t identity, const CallingFrame* caller);
void EnterCollector(Binding* binding);
void ExitSlow(Binding* binding, uint64_t identity, CallKind kind);

// False: the slow way must go. caller: may be null where modules alone are recorded.
inline bool TryEnter(Binding* binding, const void* key, uint64_t identity, CallKind kind, const CallingFrame* caller) {
  if (!IsRecording(binding)) return false;
  Stream* stream = binding->stream;
  CachedName* cached = binding->CachedFor(key);
  if (OPSCOPE_UNLIKELY(cached->key != key)) return false;
  CallPlace* place = binding->places != nullptr ? binding->places->Find(caller) : nullptr;
  if (OPSCOPE_UNLIKELY(place == nullptr && binding->places != nullptr)) return false;
  const bool is_here = cached->chunk_sequence == stream->chunk_sequence &&
                       (place == nullptr || place->chunk_sequence == stream->chunk_sequence);
  if (OPSCOPE_UNLIKELY(!is_here || !HasRoom(stream, 0))) {
    EnterInNewChunk(binding, cached, identity, kind, place);
  } else {
    WriteCall(stream, RecordKind::kEnter, cached->name, place != nullptr ? place->payload : 0, identity, kind);
  }
  return true;
}

// Apart: what is rare stays out of the way of Python functions.
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

// Of a C function, a descriptor of a C method, or something else that is none of both.
// self: its first argument, of a descriptor what it is called on; may be null.
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

// Whether some window wants what Python tells of this thread's calls.
bool HearsEvents(const ThreadCalls* calls);
// After a change of bindings or of the profile function that was there.
void FindUsual(ThreadCalls* calls);
// Every thread of Python that there is, and the frames that it runs, into the window. std::bad_alloc.
void BindThreads(CallWindow* window);
// No thread knows the window any more.
void UnbindThreads(CallWindow* window);
// No thread remembers the name of this key any more, which is about to be another object's.
void ForgetName(const CallWindow* window, const void* key);
// Null: no window ever wanted this thread.
ThreadCalls* FindCalls(uint64_t python_thread);
// In the child of a fork: the parent's windows are not the child's.
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
