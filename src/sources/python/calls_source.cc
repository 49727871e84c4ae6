// Start binds every thread of Python to the window and arms the events; Stop undoes it and reports threads whose calls
// were missed. Both take the GIL, because the session may call them without it.
// SPDX-License-Identifier: Apache-2.0
#include "sources/python/calls_source.h"

#include <pthread.h>

#include <atomic>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/window_facts.h"
#include "sources/python/call_events.h"
#include "sources/python/collector.h"
#include "sources/python/module_calls.h"
#include "sources/streams/window_fact.h"

namespace opscope {
namespace {

// Holds the GIL. The thread that starts or stops a recording may have released it before.
class GilGuard {
 public:
  GilGuard() : state_(PyGILState_Ensure()) {}
  ~GilGuard() { PyGILState_Release(state_); }
  GilGuard(const GilGuard&) = delete;
  GilGuard& operator=(const GilGuard&) = delete;

 private:
  PyGILState_STATE state_;
};

struct CallsSource {
  Source source;          // first: `start` gets its address
  PythonObjects objects;  // strong; null: unknown
  HoldTensorsFunction hold = nullptr;
};

struct CallsSession {
  CallWindow* calls = nullptr;
  Window* window = nullptr;
  uint64_t fork = 0;
};

uint64_t forks = 0;  // number of forks between the process that loaded the library and this one

// Clears Python's exception and returns its text, which is never freed.
const char* TakeSentence() {
  static auto& sentences = *new std::set<std::string>;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  const bool is_short = type != nullptr && PyErr_GivenExceptionMatches(type, PyExc_MemoryError) != 0;
  PyObject* text = value != nullptr && !is_short ? PyObject_Str(value) : nullptr;
  const char* sentence = "out of memory";
  if (text != nullptr) sentence = sentences.insert(TextOf(text)).first->c_str();
  PyErr_Clear();
  for (PyObject* object : {type, value, traceback, text})
    Py_XDECREF(object);
  return sentence;
}

// Python's own hook of os.fork; pthread_atfork has run before.
PyObject* AfterFork(PyObject*, PyObject*) {
  DisarmInChild();
  Py_RETURN_NONE;
}
PyMethodDef after_fork = {"after_fork", &AfterFork, METH_NOARGS, nullptr};

// Registers the functions for forks, once. False with a Python exception.
bool WatchForks() {
  static bool is_done = false;
  if (is_done) return true;
  pthread_atfork(nullptr, nullptr, [] {
    ++forks;
    ForgetWindows();
  });
  PyObject* os = PyImport_ImportModule("os");
  PyObject* hook = PyCFunction_New(&after_fork, nullptr);
  PyObject* watch = os != nullptr ? PyObject_GetAttrString(os, "register_at_fork") : nullptr;
  PyObject* keywords = hook != nullptr ? Py_BuildValue("{s:O}", "after_in_child", hook) : nullptr;
  PyObject* none = PyTuple_New(0);
  PyObject* done =
      watch != nullptr && keywords != nullptr && none != nullptr ? PyObject_Call(watch, none, keywords) : nullptr;
  for (PyObject* object : {os, hook, watch, keywords, none, done})
    Py_XDECREF(object);
  is_done = done != nullptr;
  return is_done;
}

struct Unseen {
  uint64_t replaced = 0, idle = 0;  // as in CallWindow
};

Unseen StopCalls(CallWindow* window) {
  UnbindThreads(window);
  DisarmEvents(window);
  if (window->watches_collector) UnwatchCollector();
  const Unseen unseen = {window->replaced, window->idle};
  FreeWindow(window);
  return unseen;
}

// `self` is a capsule with the window.
PyObject* ForgetObject(PyObject* self, PyObject* reference) {
  if (!PyCapsule_IsValid(self, nullptr)) Py_RETURN_NONE;
  auto* window = static_cast<CallWindow*>(PyCapsule_GetPointer(self, nullptr));
  if (const void* key = window->names.Forget(reference)) ForgetName(window, key);
  Py_RETURN_NONE;
}
PyMethodDef forget_object = {"forget", &ForgetObject, METH_O, nullptr};

// False with a Python exception; then the window is freed.
bool StartCalls(std::unique_ptr<CallWindow> owned) {
  PyObject* capsule = PyCapsule_New(owned.get(), nullptr, nullptr);
  if (capsule != nullptr) owned->forget_object = PyCFunction_New(&forget_object, capsule);
  Py_XDECREF(capsule);
  CallWindow* window = owned.release();
  if (window->forget_object == nullptr) {
    FreeWindow(window);
    return false;
  }
  try {
    window->start = ReadTicks();
    BindThreads(window);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  const bool is_bound = PyErr_Occurred() == nullptr;
  if (is_bound && (window->flags & call_flags::kGarbage) != 0) window->watches_collector = WatchCollector();
  if (is_bound && PyErr_Occurred() == nullptr && ArmEvents(window)) return true;
  const SavedException saved;
  StopCalls(window);
  return false;
}

std::unique_ptr<CallWindow> NewWindow(const CallsSource& source, Window* window, uint32_t flags) {
  auto calls = std::make_unique<CallWindow>();
  calls->slot = opscope_window_slot(window);
  calls->generation = opscope_window_id(window);
  calls->flags = flags;
  const PythonObjects& known = source.objects;
  for (Py_ssize_t i = 0; known.path_prefixes != nullptr && i < PyTuple_GET_SIZE(known.path_prefixes); ++i)
    calls->names.AddPathPrefix(TextOf(PyTuple_GET_ITEM(known.path_prefixes, i)));
  calls->module_code = reinterpret_cast<PyCodeObject*>(known.module_code);
  calls->optimizer_code = reinterpret_cast<PyCodeObject*>(known.optimizer_code);
  calls->tensor_types = known.tensor_types;
  calls->module_call = known.module_call;
  calls->module_inner = known.module_inner;
  calls->method_owner = reinterpret_cast<PyTypeObject*>(known.method_owner);
  calls->watches_module_calls = CanWatchModuleCalls(*calls);
  calls->hold = source.hold;
  return calls;
}

void* Start(const Source* self, Window* window, uint32_t flags, const char** error) {
  const char* unused = nullptr;
  if (error == nullptr) error = &unused;
  if (Py_IsInitialized() == 0) {
    *error = "there is no Python in this process whose calls could be recorded";
    return nullptr;
  }
  if (opscope_recorder_abi() != kRecorderAbi) {
    *error = "the recorder library in this process is of another version than the source of Python's calls";
    return nullptr;
  }
  const GilGuard gil;
  try {
    auto session = std::make_unique<CallsSession>();
    auto calls = NewWindow(*reinterpret_cast<const CallsSource*>(self), window, flags);
    session->calls = calls.get();
    session->window = window;
    session->fork = forks;
    if (WatchForks() && StartCalls(std::move(calls))) return session.release();
    *error = TakeSentence();
  } catch (const std::bad_alloc&) {
    *error = "out of memory";
  }
  return nullptr;
}

void AddCount(Window* window, std::string_view key, uint64_t threads) {
  if (threads != 0) AddWindowFact(window, key, std::to_string(threads));
}

void Stop(void* of_start) {
  const std::unique_ptr<CallsSession> session(static_cast<CallsSession*>(of_start));
  if (Py_IsInitialized() == 0 || session->fork != forks) return;
  const GilGuard gil;
  const SavedException saved;  // a recording may be stopped while an exception propagates
  const Unseen unseen = StopCalls(session->calls);
  try {
    AddCount(session->window, kCallsUnseenKey, unseen.replaced);
    AddCount(session->window, kIdleThreadsKey, unseen.idle);
  } catch (const std::bad_alloc&) {  // the recording lacks the two counts
  }
}

// Without and with the flag "calls".
constinit std::atomic<const char*> overheads[] = {"", ""};

const char* OverheadJson(uint32_t flags) {
  return overheads[(flags & call_flags::kAllCalls) != 0 ? 1 : 0].load(std::memory_order_acquire);
}

constexpr SourceFlag kFlags[] = {{"calls", call_flags::kAllCalls},
                                 {"garbage", call_flags::kGarbage},
                                 {"one_thread", call_flags::kOneThread},
                                 {"places", call_flags::kCallSites}};

constexpr Source kSource = {.flag_count = std::size(kFlags),
                            .name = "python",
                            .flags = kFlags,
                            .start = &Start,
                            .stop = &Stop,
                            .overhead = &OverheadJson};

// Null if the object is not an instance of the type.
PyObject* InstanceOrNull(PyObject* object, PyTypeObject* type) {
  return object != nullptr && PyObject_TypeCheck(object, type) ? object : nullptr;
}

// 1 if both sources are for equal objects, 0 if not, -1 with a Python exception.
int AreEqual(const CallsSource& made, const CallsSource& asked) {
  const PythonObjects &has = made.objects, &wants = asked.objects;
  if (has.module_code != wants.module_code || has.optimizer_code != wants.optimizer_code ||
      has.module_call != wants.module_call || has.module_inner != wants.module_inner ||
      has.method_owner != wants.method_owner || made.hold != asked.hold) {
    return 0;
  }
  for (const auto& [one, other] :
       {std::pair(has.path_prefixes, wants.path_prefixes), std::pair(has.tensor_types, wants.tensor_types)}) {
    const int equal = one == nullptr || other == nullptr ? one == other : PyObject_RichCompareBool(one, other, Py_EQ);
    if (equal <= 0) return equal;
  }
  return 1;
}

}  // namespace

const Source* CallsSourceOf(const PythonObjects& objects, HoldTensorsFunction hold) {
  CallsSource asked{.source = kSource, .objects = objects, .hold = hold};
  PythonObjects& known = asked.objects;
  known.module_code = InstanceOrNull(objects.module_code, &PyCode_Type);
  known.optimizer_code = InstanceOrNull(objects.optimizer_code, &PyCode_Type);
  known.module_call = InstanceOrNull(objects.module_call, &PyFunction_Type);
  known.module_inner = InstanceOrNull(objects.module_inner, &PyFunction_Type);
  known.method_owner = InstanceOrNull(objects.method_owner, &PyType_Type);
  try {
    static auto& made = *new std::vector<CallsSource*>;
    for (size_t i = 0; i < made.size(); ++i) {
      const int are_equal = AreEqual(*made[i], asked);
      if (are_equal < 0) return nullptr;
      if (are_equal > 0) return &made[i]->source;
    }
    made.push_back(new CallsSource(asked));
    for (PyObject* object : {known.path_prefixes, known.module_code, known.optimizer_code, known.tensor_types,
                             known.module_call, known.module_inner, known.method_owner})
      Py_XINCREF(object);
    return &made.back()->source;
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return nullptr;
  }
}

void SetOverhead(const char* members_json, bool all_calls) {
  static auto& texts = *new std::set<std::string>;  // never freed: readers take no lock
  overheads[all_calls ? 1 : 0].store(texts.insert(members_json).first->c_str(), std::memory_order_release);
}

}  // namespace opscope

const opscope::Source* opscope_source() {
  static const opscope::CallsSource alone{.source = opscope::kSource, .objects = {}};
  return &alone.source;
}
