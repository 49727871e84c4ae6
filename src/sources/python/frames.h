// What is read of CPython's frames: their code, their first argument, and an identity that a frame keeps while it
// lives. Their layout belongs to one minor version of Python, and so does the library that is built from this.
//
// Thread rule: the GIL is held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#include <cstdint>

#if PY_VERSION_HEX < 0x030a0000 || PY_VERSION_HEX >= 0x030e0000
#error "opscope records the calls of Python 3.10 to 3.13"
#endif
#ifdef Py_GIL_DISABLED
#error "opscope does not record the calls of a Python without the GIL"
#endif

#if PY_VERSION_HEX >= 0x030b0000
#define Py_BUILD_CORE 1
extern "C" {
#include <internal/pycore_frame.h>
}
#undef Py_BUILD_CORE
#endif

namespace opscope {

// From 3.12 on Python tells calls by sys.monitoring, which does not name the frame.
#if PY_VERSION_HEX >= 0x030c0000
#define OPSCOPE_HAS_MONITORING 1
using FrameObject = _PyInterpreterFrame;
#else
#define OPSCOPE_HAS_MONITORING 0
using FrameObject = PyFrameObject;
#endif
// One that calls: it may have no object.
#if PY_VERSION_HEX >= 0x030b0000
using CallingFrame = _PyInterpreterFrame;
#else
using CallingFrame = PyFrameObject;
#endif

// Generators keep their frame, so it stays the same over their pauses. Aligned: the low bits are free.
inline uint64_t FrameIdentity(const FrameObject* frame) {
  return reinterpret_cast<uint64_t>(frame);
}

inline PyCodeObject* CodeOf(const FrameObject* frame) {
#if PY_VERSION_HEX >= 0x030d0000
  return reinterpret_cast<PyCodeObject*>(frame->f_executable);
#elif PY_VERSION_HEX >= 0x030c0000 || PY_VERSION_HEX < 0x030b0000
  return frame->f_code;
#else
  return frame->f_frame->f_code;
#endif
}

inline PyObject* OutOfCell(PyObject* value) {
  return value != nullptr && PyCell_Check(value) ? PyCell_GET(value) : value;
}

// Borrowed; null when it is no longer there. REQUIRES: the code takes an argument.
inline PyObject* FirstArgument(const FrameObject* frame) {
#if PY_VERSION_HEX >= 0x030c0000
  PyObject* value = frame->localsplus[0];
#elif PY_VERSION_HEX >= 0x030b0000
  PyObject* value = frame->f_frame->localsplus[0];
#else
  PyObject* value = frame->f_localsplus[0];
#endif
  return OutOfCell(value);
}

#if PY_VERSION_HEX < 0x030c0000
// Asked by a C function: the first argument of the frame that calls it, if that runs `code` and another frame began it
// without the vectorcall of its function, as 3.11 does. Null: it is none of that kind.
inline PyObject* FirstArgumentOfInlinedCaller([[maybe_unused]] const PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030b0000
  const _PyInterpreterFrame* caller = PyThreadState_Get()->cframe->current_frame;
  const bool is_inlined = caller != nullptr && caller->f_code == code && !caller->is_entry;
  return is_inlined ? OutOfCell(caller->localsplus[0]) : nullptr;
#else
  return nullptr;
#endif
}
#endif

// Where the frame stands: an address in its code, or a number that no address is (in 3.10 code objects share the bytes
// of equal instructions).
inline const void* InstructionOf(const FrameObject* frame) {
#if PY_VERSION_HEX >= 0x030d0000
  return frame->instr_ptr;
#elif PY_VERSION_HEX >= 0x030c0000
  return frame->prev_instr;
#elif PY_VERSION_HEX >= 0x030b0000
  return frame->f_frame->prev_instr;
#else
  constexpr int kAddressBits = 48;
  const auto instruction = static_cast<uintptr_t>(frame->f_lasti + 2);  // from 1 on: -1 is before the first
  return reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(frame->f_code) ^ instruction << kAddressBits);
#endif
}

// The line where the frame stands.
inline int LineOf(const FrameObject* frame) {
#if OPSCOPE_HAS_MONITORING
  return PyUnstable_InterpreterFrame_GetLine(const_cast<FrameObject*>(frame));
#else
  return PyFrame_GetLineNumber(const_cast<FrameObject*>(frame));
#endif
}

#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
inline PyCodeObject* CodeOf(const CallingFrame* frame) {
  return frame->f_code;
}
inline const void* InstructionOf(const CallingFrame* frame) {
  return frame->prev_instr;
}
inline int LineOf(const CallingFrame* frame) {
  return PyCode_Addr2Line(frame->f_code, _PyInterpreterFrame_LASTI(frame) * static_cast<int>(sizeof(_Py_CODEUNIT)));
}
inline const CallingFrame* AsCalling(const FrameObject* frame) {
  return frame->f_frame;
}
#else
inline const CallingFrame* AsCalling(const FrameObject* frame) {
  return frame;
}
#endif

// Who called this frame; itself, where Python began with it.
inline const CallingFrame* CallerOf(const FrameObject* frame) {
  const CallingFrame* self = AsCalling(frame);
#if PY_VERSION_HEX >= 0x030c0000
  const CallingFrame* caller = self->previous;
  while (caller != nullptr && _PyFrame_IsIncomplete(const_cast<CallingFrame*>(caller)))  // C code is between them
    caller = caller->previous;
#elif PY_VERSION_HEX >= 0x030b0000
  const CallingFrame* caller = self->previous;
#else
  const CallingFrame* caller = self->f_back;
#endif
  return caller != nullptr ? caller : self;
}

// What the name of a call depends on: the function, and where it goes on if it may pause (generators, coroutines).
inline const void* CallKey(const PyCodeObject* code, const FrameObject* frame) {
  constexpr int kMayPause = CO_GENERATOR | CO_COROUTINE | CO_ITERABLE_COROUTINE | CO_ASYNC_GENERATOR;
  return __builtin_expect((code->co_flags & kMayPause) == 0, 1) ? code : InstructionOf(frame);
}

#if OPSCOPE_HAS_MONITORING
// The frame that the calling thread runs.
inline FrameObject* CurrentFrame() {
#if PY_VERSION_HEX >= 0x030d0000
  return PyThreadState_GetUnchecked()->current_frame;
#else
  return _PyThreadState_UncheckedGet()->cframe->current_frame;
#endif
}
#endif

// visit(frame) for the frames of a thread, innermost first, until it returns false.
template <typename Visit>
void VisitFrames(PyThreadState* thread, const Visit& visit) {
#if OPSCOPE_HAS_MONITORING
#if PY_VERSION_HEX >= 0x030d0000
  FrameObject* frame = thread->current_frame;
#else
  FrameObject* frame = thread->cframe->current_frame;
#endif
  for (; frame != nullptr; frame = frame->previous) {
    if (!_PyFrame_IsIncomplete(frame) && !visit(frame)) return;
  }
#else
  PyFrameObject* frame = PyThreadState_GetFrame(thread);
  while (frame != nullptr) {
    const bool goes_on = visit(frame);
    PyFrameObject* back = goes_on ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);  // the thread's own stack holds it
    frame = back;
  }
#endif
}

}  // namespace opscope
