// What a program says about itself while it runs: scopes, counters, instants, flows, thread names.
// This is the hot path, so it includes nothing but the recorder's interface; Profiler, which decides
// when this is recorded and needs strings and functions, is in profiler.h.
//
//   void Train() {
//     OPSCOPE_SCOPE("train");                        // a literal: its pointer is the name
//     opscope::Scope scope(layer.name().c_str());    // any text: copied
//     scope.Arg("batch", 32).Arg("device", "cpu");
//     opscope::Counter("loss", loss);
//   }
//
// While no window takes native scopes, each of these is one relaxed load and a branch that is not
// taken. While one does, a scope costs two clock reads and one 32-byte record. Nothing here waits, and
// between begin and end of a scope nothing allocates but the text of an Arg. With several windows open at once, every
// window that takes this thread gets its own record.
//
// In a signal handler everything here but Arg may be used, for scopes that end in it. A handler that
// interrupts the few nanoseconds in which its thread writes a record is refused; counted as dropped.
//
// Thread rule: any thread. A Scope belongs to the thread that made it; one that is destroyed on another
// thread is recorded as asynchronous.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "opscope/recorder.h"

namespace opscope {

// The calling thread's stream in the first window that takes its native scopes; Stream::next_native
// leads to the others. Null when nothing is to be recorded.
inline Stream* NativeStream() {
  const uint64_t gate = opscope_gate.load(std::memory_order_relaxed);
  if (__builtin_expect(gate == 0, 1)) return nullptr;
  const Thread* thread = opscope_tls;
  if (OPSCOPE_UNLIKELY(thread == nullptr || thread->gate != gate)) {
    thread = opscope_thread_sync();
    if (thread == nullptr) return nullptr;
  }
  return thread->native;
}

// A text with static storage: its address may stand for it. OPSCOPE_SCOPE makes these of literals.
struct StaticName {
  const char* text;
};

// Static storage ends where a plugin is unloaded. One of these lies in each module that includes this
// (hidden: the same name in another module is another object) and tells the recorder.
struct NamesOfThisModule {
  ~NamesOfThisModule() { opscope_names_go(); }
};
__attribute__((visibility("hidden"))) inline const NamesOfThisModule names_of_this_module;

// What Scope is made of, for bindings of other languages: a scope is its OpenScope in the first window that
// takes it, with siblings in the others. Null: nothing is recorded.
inline OpenScope* OpenAnnotation(Stream* stream, StaticName name) {
  return OpenScopeOn(
      stream, [=] { return ScopeEntries{InternStable(stream, name.text)}; }, RecordSource::kAnnotation, 0);
}
inline OpenScope* OpenAnnotation(Stream* stream, const char* name) {
  return OpenScopeOn(stream, [=] { return ScopeEntries{InternText(stream, name)}; }, RecordSource::kAnnotation, 0);
}
__attribute__((noinline, cold)) inline OpenScope* OpenInOtherWindows(OpenScope* first, Stream* stream,
                                                                     const char* name) {
  OpenScope** link = first == nullptr ? &first : &first->sibling;
  while ((stream = stream->next_native) != nullptr) {
    *link = OpenAnnotation(stream, name);
    if (*link != nullptr) link = &(*link)->sibling;
  }
  return first;
}
// In every window that takes this thread, whatever state they are in.
__attribute__((noinline)) inline OpenScope* BeginAnywhere(StaticName name) {
  Stream* stream = NativeStream();
  if (stream == nullptr) return nullptr;
  OpenScope* open = OpenAnnotation(stream, name);
  if (OPSCOPE_UNLIKELY(stream->next_native != nullptr)) open = OpenInOtherWindows(open, stream, name.text);
  return open;
}
__attribute__((noinline)) inline OpenScope* BegunInFile(Thread* thread, Stream* stream, OpenScope* scope,
                                                        const char* name) {
  opscope_note_open_scope(stream);
  SetFreeSlots(thread, scope->next_free);
  return OPSCOPE_UNLIKELY(stream->next_native != nullptr) ? OpenInOtherWindows(scope, stream, name) : scope;
}
// The usual begin: the name is known in the chunk. It calls nothing but what it ends with, so no register is saved: a
// tenth of its instructions.
__attribute__((noinline)) inline OpenScope* BeginRecorded(StaticName name, uint64_t gate) {
  Thread* thread = opscope_tls;
  if (OPSCOPE_UNLIKELY(thread == nullptr || thread->gate != gate)) return BeginAnywhere(name);
  Stream* stream = thread->native;
  if (stream == nullptr) return nullptr;
  OpenScope* scope = thread->free_slots;
  if (OPSCOPE_UNLIKELY(!IsSlot(scope))) return BeginAnywhere(name);
  SetFreeSlots(thread, WritingMark());  // first: a handler could begin the next chunk
  const NameCacheEntry* entry = NameCacheSlot(stream->stable_names, name.text);
  const uint64_t generation = stream->taking.load(std::memory_order_relaxed);
  OpenScope* outer = stream->top.load(std::memory_order_relaxed);
  const bool has_ended = outer != nullptr && outer->start.load(std::memory_order_relaxed) == 0;
  if (OPSCOPE_UNLIKELY(entry->text != name.text || generation == 0 || has_ended || opscope_clock_is_slow != 0)) {
    SetFreeSlots(thread, scope);
    return generation == 0 && stream->next_native == nullptr ? Refuse(stream) : BeginAnywhere(name);
  }
  FillScope(stream, scope, outer, {entry->offset, 0}, generation, RecordSource::kAnnotation, 0, 0, RecordKind::kScope);
  StartScope(stream, scope, ReadFastTicks());
  if (OPSCOPE_UNLIKELY(stream->open_table != nullptr)) return BegunInFile(thread, stream, scope, name.text);
  SetFreeSlots(thread, scope->next_free);
  return OPSCOPE_UNLIKELY(stream->next_native != nullptr) ? OpenInOtherWindows(scope, stream, name.text) : scope;
}
inline OpenScope* BeginNativeScope(StaticName name) {
  const uint64_t gate = opscope_gate.load(std::memory_order_relaxed);
  return __builtin_expect(gate == 0, 1) ? nullptr : BeginRecorded(name, gate);
}
inline OpenScope* BeginNativeScope(const char* name) {
  Stream* stream = NativeStream();
  if (__builtin_expect(stream == nullptr, 1)) return nullptr;
  OpenScope* open = OpenAnnotation(stream, name);
  if (OPSCOPE_UNLIKELY(stream->next_native != nullptr)) open = OpenInOtherWindows(open, stream, name);
  return open;
}
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
// REQUIRES: not null, and once only.
inline void EndNativeScope(OpenScope* open) {
  const uint64_t now = ReadTicks();
  if (OPSCOPE_UNLIKELY(open->sibling != nullptr)) EndInOtherWindows(open, now);
  EndScope(open, now);
}
// Arguments of an open scope, in src/profiler/scope_arguments.cc. None throws: where memory is short the
// scope has the member "opscope.arguments_lost" instead. REQUIRES: `open` is not null.
void AddScopeText(OpenScope* open, const char* key, const char* text, size_t size);
void AddScopeInt(OpenScope* open, const char* key, int64_t value);
void AddScopeUint(OpenScope* open, const char* key, uint64_t value);
void AddScopeDouble(OpenScope* open, const char* key, double value);
void AddScopeJson(OpenScope* open, const char* key, const char* json);

class [[nodiscard]] Scope {
 public:
  explicit Scope(StaticName name) : open_(BeginNativeScope(name)) {}
  explicit Scope(const char* name) : open_(BeginNativeScope(name)) {}
  ~Scope() {
    if (OPSCOPE_UNLIKELY(open_ != nullptr)) EndNativeScope(open_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // True when something is being recorded: guards work that only makes arguments.
  bool recording() const { return open_ != nullptr; }

  // An argument, shown with the scope. Formats text when recording, else costs nothing. What was added
  // is kept also when the window closes before the scope ends.
  // On the thread that made the scope only.
  Scope& Arg(const char* key, const char* text) { return Arg(key, text, std::strlen(text)); }
  Scope& Arg(const char* key, const char* text, size_t size) {
    if (OPSCOPE_UNLIKELY(open_ != nullptr)) AddScopeText(open_, key, text, size);
    return *this;
  }
  template <typename Text>
    requires requires(const Text& text) { text.data() + text.size(); }
  Scope& Arg(const char* key, const Text& text) {
    return Arg(key, text.data(), text.size());
  }
  Scope& Arg(const char* key, bool value) {
    if (OPSCOPE_UNLIKELY(open_ != nullptr)) AddScopeJson(open_, key, value ? "true" : "false");
    return *this;
  }
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
  Scope& Arg(const char* key, float value) { return Arg(key, static_cast<double>(value)); }
  Scope& Arg(const char* key, double value) {
    if (OPSCOPE_UNLIKELY(open_ != nullptr)) AddScopeDouble(open_, key, value);
    return *this;
  }

 private:
  OpenScope* open_ = nullptr;  // in the first window; siblings in the others
};

// One record without duration in `stream` and in every window behind it. The calling thread must own them.
inline void RecordNowOn(Stream* stream, RecordKind kind, const char* name, uint64_t value) {
  Record record;
  record.start = ReadTicks();
  record.value = value;
  record.kind = kind;
  for (; stream != nullptr; stream = stream->next_native) {
    const Writing writing(stream);
    if (!writing.allowed()) continue;
    if (HasRoom(stream, 0) || opscope_make_room(stream, 0)) record.name = InternText(stream, name);
    const OpenScope* top = stream->top.load(std::memory_order_relaxed);
    record.depth = 0;
    if (top != nullptr)
      record.depth = static_cast<uint16_t>((top->shape.load(std::memory_order_relaxed) & 0xffffu) + 1);
    AppendRecord(stream, record);
  }
}
// The same in every window that takes this thread.
inline void RecordNow(RecordKind kind, const char* name, uint64_t value) {
  Stream* stream = NativeStream();
  if (OPSCOPE_UNLIKELY(stream != nullptr)) RecordNowOn(stream, kind, name, value);
}

// A value at this moment, drawn as a curve by name.
inline void Counter(const char* name, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  RecordNow(RecordKind::kCounter, name, bits);
}

// A point in time.
inline void Instant(const char* name) {
  RecordNow(RecordKind::kInstant, name, 0);
}

// An arrow from where FlowBegin was called to every FlowEnd with the same name and id, on any thread.
inline void FlowBegin(const char* name, uint64_t id) {
  RecordNow(RecordKind::kFlowBegin, name, id);
}
inline void FlowEnd(const char* name, uint64_t id) {
  RecordNow(RecordKind::kFlowEnd, name, id);
}

// Name of the calling thread in recordings from now on (31 bytes at most); does not touch the system's.
inline void SetThreadName(const char* name) {
  opscope_set_thread_name(name);
}

}  // namespace opscope

#define OPSCOPE_JOIN_AGAIN(a, b) a##b
#define OPSCOPE_JOIN(a, b) OPSCOPE_JOIN_AGAIN(a, b)
// A scope from here to the end of the block. `name` is a string literal.
#define OPSCOPE_SCOPE(name) \
  const ::opscope::Scope OPSCOPE_JOIN(opscope_scope_, __COUNTER__)(::opscope::StaticName{"" name})
