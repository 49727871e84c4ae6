// The slow paths, and binding threads to windows.
//
// If a thread is inside calls when a window begins, Python reports only the ends of these calls. So BindThreads reads
// the frames of every thread, and the first event of a thread writes them as open calls from the start of the window.
// Making a name runs Python code, which may release the GIL; CallWindow::uses keeps a window allocated that another
// thread stops meanwhile.
// SPDX-License-Identifier: Apache-2.0
#include "sources/python/thread_calls.h"

#include <algorithm>
#include <new>
#include <utility>

#include "sources/python/referenced_objects.h"
#include "sources/streams/stream_of.h"

namespace opscope {

constinit uint64_t calls_epoch = 1;
__thread CachedCalls cached_calls = {};

namespace {

constexpr uint64_t kNoThread = ~uint64_t{0};  // ThreadCalls::python_thread of a free one
constexpr size_t kMaxOpenFrames = 128;        // the innermost ones of a thread; as in torch

// Never destroyed: callbacks come until the interpreter ends.
std::vector<ThreadCalls*>& AllCalls() {
  static auto& all = *new std::vector<ThreadCalls*>;
  return all;
}
std::vector<Binding*>& FreeBindings() {
  static auto& bindings = *new std::vector<Binding*>;
  return bindings;
}
// Shared by the threads that no window records.
ThreadCalls no_calls;

Binding* NewBinding() {
  std::vector<Binding*>& free = FreeBindings();
  if (free.empty()) return new Binding;
  Binding* binding = free.back();
  free.pop_back();
  return binding;
}

void ReleaseFrames(std::vector<OpenFrame>* frames) {
  for (const OpenFrame& frame : std::exchange(*frames, {})) {
    Py_DECREF(frame.code);
    Py_XDECREF(frame.module);
  }
}

void FreeBinding(Binding* binding) {
  binding->stream = nullptr;
  binding->generation = 0;
  binding->window = nullptr;
  binding->next = nullptr;
  binding->is_lost = false;
  binding->gets_events = true;
  FreeBindings().push_back(binding);
}

// Removes the bindings of a window from a thread; null: of all windows.
void Unbind(ThreadCalls* calls, const CallWindow* window) {
  for (Binding** link = &calls->bindings; *link != nullptr;) {
    Binding* binding = *link;
    if (window != nullptr && binding->window != window) {
      link = &binding->next;
      continue;
    }
    *link = binding->next;
    if (binding->gets_events) calls->last_unbound = binding->window->generation;
    std::vector<OpenFrame> open = std::exchange(binding->open, {});
    FreeBinding(binding);
    FindFastBindings(calls);
    ReleaseFrames(&open);  // last: it may run Python code
  }
}

ThreadCalls* CallsOf(uint64_t python_thread) {
  ThreadCalls* calls = FindCalls(python_thread);
  if (calls == nullptr) calls = FindCalls(kNoThread);
  if (calls == nullptr) {
    auto made = std::make_unique<ThreadCalls>();
    AllCalls().push_back(made.get());
    calls = made.release();
  }
  calls->python_thread = python_thread;
  return calls;
}

// Frees the ThreadCalls of threads that have ended.
void DropEndedThreads() {
  std::vector<uint64_t> alive;
  VisitThreads([&](PyThreadState* thread) { alive.push_back(thread->id); });
  for (size_t i = 0; i < AllCalls().size(); ++i) {
    ThreadCalls* calls = AllCalls()[i];
    if (std::find(alive.begin(), alive.end(), calls->python_thread) != alive.end()) continue;
    Unbind(calls, nullptr);
    *calls = {};
  }
}

// The thread's frames, outermost first: at most kMaxOpenFrames and their caller.
std::vector<OpenFrame> FramesOf(PyThreadState* thread, const CallWindow* window) {
  std::vector<OpenFrame> frames;
  VisitFrames(thread, [&](FrameObject* frame) {
    PyCodeObject* code = CodeOf(frame);
    const bool is_module = code == window->module_code;
    PyObject* module = is_module ? FirstArgument(frame) : nullptr;
    if (window->all_calls() || module != nullptr) {
      Py_INCREF(code);
      Py_XINCREF(module);
      frames.push_back({code, module, InstructionOf(frame), LineOf(frame), FrameIdentity(frame)});
    }
    return frames.size() <= kMaxOpenFrames;
  });
  std::reverse(frames.begin(), frames.end());
  return frames;
}

CallSite* SiteOf(const Binding* binding, const CallingFrame* caller) {
  return binding->sites == nullptr ? nullptr : binding->sites->Of(caller, &binding->window->names);
}
CallSite* SiteOf(const Binding* binding, const OpenFrame& caller) {
  if (binding->sites == nullptr) return nullptr;
  return binding->sites->Remember(caller.key, caller.code, caller.line, &binding->window->names);
}

// start: ticks; 0: now. site: null if the window records no call sites.
void WriteEntered(const Binding* binding, const void* key, const CallName& name, uint64_t identity, CallKind kind,
                  uint64_t start, CallSite* site) {
  Stream* stream = binding->stream;
  const Writing writing(stream);
  if (!writing.allowed()) return;
  if (!HasRoom(stream, 0)) opscope_make_room(stream, 0);
  Record record;
  for (uint32_t sequence = ~stream->chunk_sequence; sequence != stream->chunk_sequence;) {  // both in one chunk
    sequence = stream->chunk_sequence;
    record.name = InternText(stream, name.text.data(), name.text.size());
    record.payload = site != nullptr ? PayloadOf(stream, site) : 0;
  }
  record.start = start != 0 ? start : ReadTicks();
  record.value = identity;
  record.kind = RecordKind::kEnter;
  record.source = RecordSource::kPython;
  record.scope = static_cast<uint8_t>(kind);
  if (record.name != 0) *binding->CachedFor(key) = {key, record.name, stream->chunk_sequence, &name};
  AppendRecord(stream, record);
}

// start: ticks; 0: now. site() returns the call site or null.
template <typename Site>
void EnterObject(Binding* binding, PyObject* module, uint64_t identity, uint64_t start, const Site& site) {
  const uint64_t epoch = calls_epoch;
  bool is_new = false;
  const CallName* name = binding->window->names.OfModule(module, binding->window->forget_object, &is_new);
  if (epoch != calls_epoch) return;
  WriteEntered(binding, module, *name, identity, CallKind::kModule, start, site());
  if (is_new) ReportModuleTensors(*binding->window, module);
}

// Writes the frames that were open when the window began. Called at the thread's first event.
void WriteOpenFrames(Binding* binding) {
  std::vector<OpenFrame> frames = std::exchange(binding->open, {});
  const uint64_t epoch = calls_epoch;
  const uint64_t start = binding->window->start;
  for (size_t i = frames.size() > kMaxOpenFrames ? 1 : 0; i < frames.size(); ++i) {
    const OpenFrame& frame = frames[i];
    const OpenFrame& caller = frames[i == 0 ? 0 : i - 1];
    const auto site = [&] { return SiteOf(binding, caller); };
    if (frame.module != nullptr) {
      EnterObject(binding, frame.module, frame.identity, start, site);
    } else {
      const CallName* name = binding->window->names.OfCode(frame.key, frame.code, frame.line);
      WriteEntered(binding, frame.key, *name, frame.identity, CallKind::kPython, start, site());
    }
    if (epoch != calls_epoch) break;
  }
  ReleaseFrames(&frames);
}

// The first binding from here on that gets events.
Binding* NextWithEvents(Binding* binding) {
  while (binding != nullptr && !binding->gets_events)
    binding = binding->next;
  return binding;
}

// Gives the binding the calling thread's stream. False: the window is closed, or it cannot take this thread.
bool Attach(Binding* binding) {
  if (IsRecording(binding)) return true;
  if (binding->is_lost) return false;
  const CallWindow* window = binding->window;
  Stream* stream = AttachStream(window->slot, window->generation, 0);
  if (stream == nullptr) {
    binding->is_lost = true;
    return false;
  }
  if (binding->names == nullptr) binding->names = std::make_unique<Binding::Names>();
  std::ranges::fill(*binding->names, CachedName{});
  binding->sites.reset();
  if (window->wants_sites()) binding->sites = std::make_unique<CallSites>();
  binding->generation = window->generation;
  binding->stream = stream;
  WriteOpenFrames(binding);
  return binding->window == window && IsRecording(binding);
}

// Switches Python's garbage collector off while it exists: finalizers could end a thread.
struct CollectorPause {
  const bool was_on = PyGC_Disable() != 0;

  CollectorPause() = default;
  CollectorPause(const CollectorPause&) = delete;
  CollectorPause& operator=(const CollectorPause&) = delete;
  ~CollectorPause() {
    if (was_on) PyGC_Enable();
  }
};

// Keeps the window allocated while it exists, even if another thread stops the window.
class WindowUse {
 public:
  explicit WindowUse(CallWindow* window) : window_(window) { ++window->uses; }
  ~WindowUse() {
    if (--window_->uses == 0 && window_->is_stopped) FreeWindow(window_);
  }
  WindowUse(const WindowUse&) = delete;
  WindowUse& operator=(const WindowUse&) = delete;

 private:
  CallWindow* window_;
};

// Calls write() if the thread can record. A std::bad_alloc from it is counted as a dropped event.
template <typename Write>
void OnStream(Binding* binding, const Write& write) {
  const uint64_t epoch = calls_epoch;
  const WindowUse use(binding->window);
  try {
    if (Attach(binding) && epoch == calls_epoch) write();
  } catch (const std::bad_alloc&) {
    if (epoch == calls_epoch && IsRecording(binding)) CountDrop(binding->stream);
  }
}

}  // namespace

void FreeWindow(CallWindow* window) {
  window->is_stopped = true;
  if (window->uses != 0) return;
  window->uses = 1;                        // Python code below may use the window
  if (window->forget_object != nullptr) {  // the program may still have weak references that call it
    PyCapsule_SetName(PyCFunction_GET_SELF(window->forget_object), "of a window that is gone");
  }
  window->names.Clear();
  Py_XDECREF(window->forget_object);
  delete window;
}

ThreadCalls* FindCalls(uint64_t python_thread) {
  for (ThreadCalls* calls : AllCalls()) {
    if (calls->python_thread == python_thread) return calls;
  }
  return nullptr;
}

bool GetsEvents(const ThreadCalls* calls) {
  return NextWithEvents(calls->bindings) != nullptr;
}

void FindFastBindings(ThreadCalls* calls) {
  Binding* only = NextWithEvents(calls->bindings);
  if (only != nullptr && NextWithEvents(only->next) != nullptr) only = nullptr;
#if !OPSCOPE_HAS_MONITORING
  if (calls->previous != nullptr) only = nullptr;
#endif
  const bool wants_all = only != nullptr && only->window->all_calls();
  const bool wants_sites = wants_all && only->window->wants_sites();
  calls->fast = wants_all && !wants_sites ? only : nullptr;
  calls->fast_at_sites = wants_sites ? only : nullptr;
#if !OPSCOPE_HAS_MONITORING
  calls->only_code = only != nullptr && !wants_all ? only->window->module_code : nullptr;
#endif
}

ThreadCalls* LookUpCalls() {
  ThreadCalls* calls = FindCalls(PyThreadState_Get()->id);
  if (calls == nullptr) calls = &no_calls;
  cached_calls = {calls, calls_epoch};
  return calls;
}

void EnterInNewChunk(const Binding* binding, CachedName* cached, uint64_t identity, CallKind kind, CallSite* site) {
  WriteEntered(binding, cached->key, *cached->call, identity, kind, 0, site);
}

void EnterCodeSlow(Binding* binding, PyCodeObject* code, FrameObject* frame) {
  OnStream(binding, [&] {
    const uint64_t epoch = calls_epoch;
    const void* key = CallKey(code, frame);
    const CallName* name = binding->window->names.OfCode(key, code, LineOf(frame));
    WriteEntered(binding, key, *name, FrameIdentity(frame), CallKind::kPython, 0, SiteOf(binding, CallerOf(frame)));
    if (code != binding->window->optimizer_code) return;
    *binding->CachedFor(code) = {};  // so that each call takes the slow path
    PyObject* optimizer = FirstArgument(frame);
    bool is_new = false;
    if (optimizer != nullptr) binding->window->names.OfOptimizer(optimizer, binding->window->forget_object, &is_new);
    if (is_new && epoch == calls_epoch) ReportOptimizerTensors(*binding->window, optimizer);
  });
}

void EnterFunctionSlow(Binding* binding, PyObject* function, PyObject* self, const FrameObject* caller) {
  OnStream(binding, [&] {
    const uint64_t epoch = calls_epoch;
    const CallName* name = binding->window->names.OfFunction(function, self);
    if (epoch != calls_epoch) return;
    WriteEntered(binding, FunctionKey(function), *name, FrameIdentity(caller) | kCallOfFunction, CallKind::kFunction, 0,
                 SiteOf(binding, AsCalling(caller)));
  });
}

void EnterModuleSlow(Binding* binding, PyObject* module, uint64_t identity, const CallingFrame* caller) {
  OnStream(binding, [&] { EnterObject(binding, module, identity, 0, [&] { return SiteOf(binding, caller); }); });
}

void EnterCollector(Binding* binding) {
  static const CallName& name = *new CallName{"Python GC"};
  OnStream(binding, [&] { WriteEntered(binding, &name, name, kCallOfCollector, CallKind::kCollector, 0, nullptr); });
}

void ExitSlow(Binding* binding, uint64_t identity, CallKind kind) {
  // The first event of a thread may be the end of a C function that began before the window, such as start() itself.
  // This happens if the thread had a profile function or another window already.
  const bool began_before = binding->stream == nullptr && kind != CallKind::kPython;
  OnStream(binding, [&] {
    if (!began_before) WriteCall(binding->stream, RecordKind::kExit, 0, 0, identity, kind);
  });
}

void BindThreads(CallWindow* window) {
  DropEndedThreads();
  const CollectorPause pause;
  const PyThreadState* self = PyThreadState_Get();
  const bool is_for_one = (window->flags & call_flags::kOneThread) != 0;
  VisitThreads([&](PyThreadState* thread) {
    if (is_for_one && thread != self) return;
    ThreadCalls* calls = CallsOf(thread->id);
    Binding* binding = NewBinding();
    binding->window = window;
    binding->next = calls->bindings;
    calls->bindings = binding;
    binding->open = FramesOf(thread, window);
    binding->gets_events = !window->watches_module_calls || !binding->open.empty();
    FindFastBindings(calls);
  });
  ++calls_epoch;
}

void UnbindThreads(CallWindow* window) {
  ++calls_epoch;
  VisitThreads([&](PyThreadState* thread) {
    const ThreadCalls* calls = FindCalls(thread->id);
    for (const Binding* binding = calls != nullptr ? calls->bindings : nullptr; binding != nullptr;
         binding = binding->next) {
      window->idle += binding->window == window && !binding->open.empty() ? 1 : 0;
    }
  });
  for (size_t i = 0; i < AllCalls().size(); ++i)
    Unbind(AllCalls()[i], window);
}

void ForgetName(const CallWindow* window, const void* key) {
  for (const ThreadCalls* calls : AllCalls()) {
    for (Binding* binding = calls->bindings; binding != nullptr; binding = binding->next) {
      if (binding->window != window || binding->names == nullptr) continue;
      if (CachedName* cached = binding->CachedFor(key); cached->key == key) *cached = {};
    }
  }
}

void ForgetWindows() {
  ++calls_epoch;
  for (ThreadCalls* calls : AllCalls()) {
    calls->bindings = nullptr;
    FindFastBindings(calls);
  }
}

}  // namespace opscope
