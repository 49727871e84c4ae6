// Annotates a program: scopes, counters, instants, flows, thread names. This is the
// hot path, so the header includes the recorder's interface alone; profiler.h
// decides when to record and needs <string> and <functional>.
//
//   void Train() {
//     OPSCOPE_SCOPE("train");                        // a literal: its address is the name
//     opscope::Scope scope(layer.name().c_str());    // any text: copied
//     scope.Arg("batch", 32).Arg("device", "cpu");
//     opscope::Counter("loss", loss);
//   }
//
// Cost without a window that takes native scopes: one relaxed load and one untaken
// branch. With one: a scope costs two clock reads and a 32-byte record. Nothing
// waits. Between begin and end of a scope only the text of an Arg allocates. Of
// several open windows, every one that takes this thread gets its own record.
//
// Signal handlers may use everything but Arg, for scopes that end in the handler. A
// handler that interrupts the few nanoseconds in which its thread writes a record
// drops its event and counts it.
//
// Thread rule: any thread. A Scope belongs to the thread that made it; a Scope that
// another thread destroys is recorded as asynchronous.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "opscope/recorder.h"

namespace opscope {

// The calling thread's stream in the first window that takes its native scopes;
// Stream::next_native leads to the others. Null if no window takes them. Attaches
// the thread to new windows.
//
// Usually two loads and two branches: the gate is 0 while no window takes native
// scopes, and equals Thread::gate once the thread has seen the last open or close.
inline Stream* NativeStream() {
  const uint64_t gate = opscope_gate.load(std::memory_order_relaxed);
  if (OPSCOPE_LIKELY(gate == 0)) return nullptr;
  const Thread* thread = opscope_tls;
  if (OPSCOPE_UNLIKELY(thread == nullptr || thread->gate != gate)) {
    thread = opscope_thread_sync();
    if (thread == nullptr) return nullptr;
  }
  return thread->native;
}

// A text with static storage duration: its address identifies it. OPSCOPE_SCOPE
// makes these of literals.
struct StaticName {
  const char* text;
};

// Literals go when a plugin is unloaded. Each module that includes this header has
// one such object, whose destructor tells the recorder to forget the addresses. The
// object is hidden, so two modules never share one.
struct ModuleNamesGuard {
  ~ModuleNamesGuard() { opscope_module_unloads(); }
};
__attribute__((visibility("hidden"))) inline const ModuleNamesGuard module_names_guard;

// The building blocks of Scope, for bindings of other languages. A native scope is
// its OpenScope in the first window that takes it, linked by `sibling` to those in
// other windows. Null: no window records it.
inline OpenScope* OpenAnnotation(Stream* stream, StaticName name) {
  return OpenScopeOn(
      stream, [=] { return ScopeEntries{InternStable(stream, name.text)}; }, RecordSource::kAnnotation, 0);
}
inline OpenScope* OpenAnnotation(Stream* stream, const char* name) {
  return OpenScopeOn(stream, [=] { return ScopeEntries{InternText(stream, name)}; }, RecordSource::kAnnotation, 0);
}
// Begins the scope in every window behind `stream` and links it to `first`, which
// is null if the first window could not take the scope. Returns
// the head of the list.
__attribute__((noinline, cold)) inline OpenScope* OpenInOtherWindows(OpenScope* first, Stream* stream,
                                                                     const char* name) {
  OpenScope** link = first == nullptr ? &first : &first->sibling;
  while ((stream = stream->next_native) != nullptr) {
    *link = OpenAnnotation(stream, name);
    if (*link != nullptr) link = &(*link)->sibling;
  }
  return first;
}
// Slow path of a begin: works for any state of the thread, the chunk and the
// windows.
__attribute__((noinline)) inline OpenScope* BeginSlow(StaticName name) {
  Stream* stream = NativeStream();
  if (stream == nullptr) return nullptr;
  OpenScope* open = OpenAnnotation(stream, name);
  if (OPSCOPE_UNLIKELY(stream->next_native != nullptr)) open = OpenInOtherWindows(open, stream, name.text);
  return open;
}
// The rest of a begin whose chunk lies in a mapped file: the open table gets the
// scope.
__attribute__((noinline)) inline OpenScope* BeginInMappedFile(Thread* thread, Stream* stream, OpenScope* scope,
                                                              const char* name) {
  opscope_write_open_scope(stream);
  SetFreeSlots(thread, scope->next_free);
  return OPSCOPE_UNLIKELY(stream->next_native != nullptr) ? OpenInOtherWindows(scope, stream, name) : scope;
}
// Fast path of a begin while a window is open: OpenScopeOn and InternStable by
// hand. It checks everything that could need a slow path first, and takes nothing
// back later:
//
//   1. the thread is attached and has a free slot
//   2. the chunk knows the name
//   3. the stream accepts events, its innermost scope has not ended on another thread, the clock is the TSC
//
// Every call in it is a tail call, so it saves no registers, which would be a tenth
// of its instructions.
__attribute__((noinline)) inline OpenScope* BeginFast(StaticName name, uint64_t gate) {
  Thread* thread = opscope_tls;
  if (OPSCOPE_UNLIKELY(thread == nullptr || thread->gate != gate)) return BeginSlow(name);
  Stream* stream = thread->native;
  if (stream == nullptr) return nullptr;
  OpenScope* scope = thread->free_slots;
  if (OPSCOPE_UNLIKELY(!IsSlot(scope))) return BeginSlow(name);
  // The mark comes before the name: a handler could begin the next chunk in
  // between.
  SetFreeSlots(thread, WritingMark());
  const NameCacheEntry* entry = NameCacheSlot(stream->stable_names, name.text);
  const uint64_t generation = stream->accepting.load(std::memory_order_relaxed);
  OpenScope* outer = stream->top.load(std::memory_order_relaxed);
  const bool has_ended = outer != nullptr && outer->start.load(std::memory_order_relaxed) == 0;
  // A cap in the only window is the one slow case that happens for every event:
  // DropEvent takes no lock.
  if (OPSCOPE_UNLIKELY(entry->text != name.text || generation == 0 || has_ended || opscope_clock_is_slow != 0)) {
    SetFreeSlots(thread, scope);
    return generation == 0 && stream->next_native == nullptr ? DropEvent(stream) : BeginSlow(name);
  }
  // The clock is read last, so that the scope does not contain its own begin.
  FillScope(stream, scope, outer, {entry->offset, 0}, generation, RecordSource::kAnnotation, 0, 0, RecordKind::kScope);
  StartScope(stream, scope, ReadFastTicks());
  if (OPSCOPE_UNLIKELY(stream->open_table != nullptr)) return BeginInMappedFile(thread, stream, scope, name.text);
  SetFreeSlots(thread, scope->next_free);
  return OPSCOPE_UNLIKELY(stream->next_native != nullptr) ? OpenInOtherWindows(scope, stream, name.text) : scope;
}
// Begins a scope in every window that takes this thread. Null: no window does.
inline OpenScope* BeginNativeScope(StaticName name) {
  const uint64_t gate = opscope_gate.load(std::memory_order_relaxed);
  return OPSCOPE_LIKELY(gate == 0) ? nullptr : BeginFast(name, gate);
}
// The same for any text, which is copied.
inline OpenScope* BeginNativeScope(const char* name) {
  Stream* stream = NativeStream();
  if (OPSCOPE_LIKELY(stream == nullptr)) return nullptr;
  OpenScope* open = OpenAnnotation(stream, name);
  if (OPSCOPE_UNLIKELY(stream->next_native != nullptr)) open = OpenInOtherWindows(open, stream, name);
  return open;
}
// Ends the scopes linked behind `first`. Reads each link before the slot can be
// reused.
__attribute__((noinline, cold)) inline void EndInOtherWindows(OpenScope* first, uint64_t now) {
  OpenScope* scope = first->sibling;
  first->sibling = nullptr;
  while (scope != nullptr) {
    OpenScope* next = scope->sibling;
    scope->sibling = nullptr;
    EndScope(scope, now);
    scope = next;
  }
}
// Ends a scope and its siblings. Any thread. REQUIRES: `open` is not null, one call
// per scope.
inline void EndNativeScope(OpenScope* open) {
  const uint64_t now = ReadTicks();
  if (OPSCOPE_UNLIKELY(open->sibling != nullptr)) EndInOtherWindows(open, now);
  EndScope(open, now);
}
// Adds an argument to an open scope (src/profiler/scope_arguments.cc). Does not
// throw: if an allocation fails, the scope gets the member "opscope.arguments_lost"
// instead. AddScopeJson does not check its value. REQUIRES: `open` is not null, the
// calling thread began the scope.
void AddScopeText(OpenScope* open, const char* key, const char* text, size_t size);
void AddScopeInt(OpenScope* open, const char* key, int64_t value);
void AddScopeUint(OpenScope* open, const char* key, uint64_t value);
void AddScopeDouble(OpenScope* open, const char* key, double value);
void AddScopeJson(OpenScope* open, const char* key, const char* json);

// Records the time from its construction to its destruction.
class [[nodiscard]] Scope {
 public:
  // `name`: a literal, whose address identifies it.
  explicit Scope(StaticName name) : open_(BeginNativeScope(name)) {}
  // `name`: any text; it is copied. REQUIRES: not null
  explicit Scope(const char* name) : open_(BeginNativeScope(name)) {}
  // Ends the scope in every window that still records it.
  ~Scope() {
    if (OPSCOPE_UNLIKELY(open_ != nullptr)) EndNativeScope(open_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // True if some window records this scope. Guards work that only computes
  // arguments.
  bool recording() const { return open_ != nullptr; }

  // Adds an argument, shown with the scope. Without a window this costs one branch;
  // with one it formats JSON. A window that closes before the scope ends keeps the
  // arguments added so far. Only the thread that made the scope may call it. Copies
  // key and value.
  Scope& Arg(const char* key, const char* text) { return Arg(key, text, std::strlen(text)); }
  // The text need not end with a NUL.
  Scope& Arg(const char* key, const char* text, size_t size) {
    if (OPSCOPE_UNLIKELY(open_ != nullptr)) AddScopeText(open_, key, text, size);
    return *this;
  }
  // std::string, std::string_view and the like.
  template <typename Text>
    requires requires(const Text& text) { text.data() + text.size(); }
  Scope& Arg(const char* key, const Text& text) {
    return Arg(key, text.data(), text.size());
  }
  // A JSON true or false.
  Scope& Arg(const char* key, bool value) {
    if (OPSCOPE_UNLIKELY(open_ != nullptr)) AddScopeJson(open_, key, value ? "true" : "false");
    return *this;
  }
  // Integers of every size; unsigned ones up to 2^64 - 1.
  template <typename Number>
    requires std::is_integral_v<Number>
  Scope& Arg(const char* key, Number value) {
    if (OPSCOPE_UNLIKELY(open_ != nullptr)) {
      if constexpr (static_cast<Number>(-1) < Number{0}) {
        AddScopeInt(open_, key, static_cast<int64_t>(value));
      } else {
        AddScopeUint(open_, key, static_cast<uint64_t>(value));
      }
    }
    return *this;
  }
  // NaN and infinities become the texts "NaN", "Infinity" and "-Infinity".
  Scope& Arg(const char* key, float value) { return Arg(key, static_cast<double>(value)); }
  Scope& Arg(const char* key, double value) {
    if (OPSCOPE_UNLIKELY(open_ != nullptr)) AddScopeDouble(open_, key, value);
    return *this;
  }

 private:
  // In the first window that takes it; siblings in the others. Null: not recorded.
  OpenScope* open_ = nullptr;
};

// Appends one record without duration to `stream` and to every stream linked behind
// it. REQUIRES: the calling thread owns them.
inline void RecordNowOn(Stream* stream, RecordKind kind, const char* name, uint64_t value) {
  Record record;
  record.start = ReadTicks();
  record.value = value;
  record.kind = kind;
  for (; stream != nullptr; stream = stream->next_native) {
    // A handler that interrupts this thread's writing drops its event; Writing has
    // counted it.
    const Writing writing(stream);
    if (!writing.allowed()) continue;
    // The room comes before the name: the next chunk would need the name again.
    if (HasRoom(stream, 0) || opscope_make_room(stream, 0)) record.name = InternText(stream, name);
    const OpenScope* top = stream->top.load(std::memory_order_relaxed);
    record.depth = 0;
    if (top != nullptr)
      record.depth = static_cast<uint16_t>(UnpackDepth(top->depth_kind_flags.load(std::memory_order_relaxed)) + 1);
    AppendRecord(stream, record);
  }
}
// The same in every window that takes this thread.
inline void RecordNow(RecordKind kind, const char* name, uint64_t value) {
  Stream* stream = NativeStream();
  if (OPSCOPE_UNLIKELY(stream != nullptr)) RecordNowOn(stream, kind, name, value);
}

// Records the value of a counter now. Viewers draw one curve per name. Copies the
// name, as the following functions do.
//
//   opscope::Counter("loss", loss);
inline void Counter(const char* name, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  RecordNow(RecordKind::kCounter, name, bits);
}

// Records a point in time.
inline void Instant(const char* name) {
  RecordNow(RecordKind::kInstant, name, 0);
}

// Records the begin of an arrow that leads to every FlowEnd with the same name and
// id, on any thread: from the code that queues work to the code that does it.
//
//   opscope::FlowBegin("task", task.id);                              // producer
//   OPSCOPE_SCOPE("run"); opscope::FlowEnd("task", task.id);          // consumer
inline void FlowBegin(const char* name, uint64_t id) {
  RecordNow(RecordKind::kFlowBegin, name, id);
}
inline void FlowEnd(const char* name, uint64_t id) {
  RecordNow(RecordKind::kFlowEnd, name, id);
}

// Names the calling thread in recordings from now on; 31 bytes at most. The
// system's name stays.
inline void SetThreadName(const char* name) {
  opscope_set_thread_name(name);
}

}  // namespace opscope

// Two steps, so that __COUNTER__ is expanded before it is pasted.
#define OPSCOPE_JOIN_AGAIN(a, b) a##b
#define OPSCOPE_JOIN(a, b) OPSCOPE_JOIN_AGAIN(a, b)
// A scope from here to the end of the block. `name` is a string literal; any other
// expression does not compile. Several per block are allowed.
#define OPSCOPE_SCOPE(name) \
  const ::opscope::Scope OPSCOPE_JOIN(opscope_scope_, __COUNTER__)(::opscope::StaticName{"" name})
