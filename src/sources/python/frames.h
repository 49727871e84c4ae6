// Reads CPython's frames: their code, their first argument, and an identity that is unique while the frame lives. The
// layout of frames differs between minor versions of Python, so there is one library for each.
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

// From 3.12 on Python reports calls by sys.monitoring, which does not pass the frame.
#if PY_VERSION_HEX >= 0x030c0000
#define OPSCOPE_HAS_MONITORING 1
using FrameObject = _PyInterpreterFrame;
#else
#define OPSCOPE_HAS_MONITORING 0
using FrameObject = PyFrameObject;
#endif
// A calling frame, which may have no frame object.
#if PY_VERSION_HEX >= 0x030b0000
using CallingFrame = _PyInterpreterFrame;
#else
using CallingFrame = PyFrameObject;
#endif

// Sets Python's current exception aside while it exists.
class SavedException {
 public:
  SavedException() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~SavedException() { PyErr_Restore(type_, value_, traceback_); }
  SavedException(const SavedException&) = delete;
  SavedException& operator=(const SavedException&) = delete;

 private:
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

// A generator's frame is the same before and after a pause. Aligned: the low bits are free.
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

// The first argument, borrowed; null if the code has cleared it. REQUIRES: the code takes an argument.
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
// For a C function: the first argument of the calling frame, if that frame runs `code` and Python 3.11 started it
// without the vectorcall of its function. Null: another kind of frame.
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

// The current instruction of the frame: an address in its code. In 3.10, where code objects share the bytes of equal
// instructions, it is a number that is no address.
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

// The current line of the frame.
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

// The frame that called this one; the frame itself if it is the outermost one.
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

// The key of a call's name: the function, and for generators and coroutines also the point of resumption.
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
