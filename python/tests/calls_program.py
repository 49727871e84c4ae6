# SPDX-License-Identifier: Apache-2.0
"""A small program that records its own calls, for any Python: the recorder by ctypes, without the package.

    python calls_program.py RECORDER CALLS_LIBRARY OUT.opscope NAME

Prints what the program NAME has to tell as JSON; the recording lies in OUT.opscope.
"""

import cProfile
import ctypes
import gc
import importlib.machinery
import importlib.util
import json
import os
import pstats
import re
import sys
import threading

from source_table import Source
from window_options import WindowOptions

ALL_CALLS, GARBAGE = 1, 2


class Window:
    """A recording of calls into a file."""

    def __init__(self, path, flags=ALL_CALLS, code=None, functions=()):
        self.path, self.flags, self.code, self.functions = path, flags, code, functions

    def start(self):
        options = WindowOptions(recorder.opscope_recorder_abi(), 0, 2, 0, 1 << 28, None, None, os.fsencode(self.path))
        error = ctypes.c_char_p()
        self.handle = recorder.opscope_window_open(ctypes.byref(options), ctypes.byref(error))
        call, inner = self.functions or (None, None)  # no function of our own: cProfile would see it
        capsule = library.source(module_code=self.code, module_call=call, module_inner=inner)
        self.source = ctypes.cast(pointer_of(capsule, b"opscope.Source"), SOURCE)
        self.session = self.source.contents.start(self.source, self.handle, self.flags, ctypes.byref(error))
        if not self.session:
            raise RuntimeError(error.value)
        return self

    def stop(self):
        self.source.contents.stop(self.session)
        recorder.opscope_window_close(self.handle)
        recorder.opscope_window_free(self.handle)
        with open(self.path, "rb") as file:  # its text is plain, while the rest is not
            told = re.findall(rb'"opscope.calls_unseen":([0-9]+)', file.read())
        return int(told[-1]) if told else 0


SOURCE = ctypes.POINTER(Source)
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.argtypes, pointer_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


def load(recorder_path, calls_path):
    global recorder, library
    recorder = ctypes.CDLL(recorder_path, mode=ctypes.RTLD_GLOBAL)
    recorder.opscope_window_open.restype = ctypes.c_void_p
    recorder.opscope_window_id.restype = ctypes.c_uint64
    for name in ("slot", "id", "close", "free"):
        getattr(recorder, f"opscope_window_{name}").argtypes = [ctypes.c_void_p]
    loader = importlib.machinery.ExtensionFileLoader("opscope_calls", calls_path)
    library = importlib.util.module_from_spec(importlib.util.spec_from_loader("opscope_calls", loader))
    loader.exec_module(library)


# ---- what is recorded


def leaf(x):
    return len(x)


def generate(n):
    for i in range(n):
        yield leaf([i])


def fail(n):
    if n == 0:
        raise ValueError("asked")
    fail(n - 1)


def body():
    list(generate(2))
    try:
        fail(2)
    except ValueError:
        pass
    try:
        len(3)
    except TypeError:
        pass
    generator = generate(1)
    next(generator)
    try:
        generator.throw(KeyError("thrown"))
    except KeyError:
        pass
    leaf("end")


class Module:
    def __call__(self, *arguments, **keywords):
        return self.inner(*arguments, **keywords)

    def inner(self, inner=None):
        return inner() if inner else None


MODULES_ALONE = {"flags": 0, "code": Module.__call__.__code__, "functions": (Module.__call__, Module.inner)}


# ---- the programs


def calls(path):
    window = Window(path).start()
    body()
    return window.stop()


def twins(path):
    """Two functions that pause, of equal instructions: Python 3.10 keeps these once."""
    window = Window(path).start()
    sum(0 for _ in range(2))
    sum(0 for _ in range(2))
    window.stop()
    return None


def threads(path):
    entered, go_on, seen = threading.Event(), threading.Event(), []

    def early():
        waiting()
        leaf("early")

    def waiting():
        entered.set()
        go_on.wait()

    def late():
        seen.append(leaf("late"))

    thread = threading.Thread(target=early)
    thread.start()
    entered.wait()
    window = Window(path)
    starter = threading.Thread(target=window.start)
    starter.start()
    starter.join()
    after = threading.Thread(target=late)
    after.start()
    after.join()
    go_on.set()
    thread.join()
    leaf("main")
    return window.stop()


def two_windows(path):
    outer = Window(path).start()
    leaf("one")
    inner = Window(path + ".inner").start()
    list(generate(1))
    inner.stop()
    fail_quietly()
    return outer.stop()


def fail_quietly():
    try:
        fail(0)
    except ValueError:
        pass


def beside_cprofile(path):
    """cProfile sees the same calls with and without a recording that begins and ends while it is on."""

    def profiled(act):
        profile = cProfile.Profile()
        profile.enable()
        act()
        profile.disable()
        stats = pstats.Stats(profile).stats
        return sorted((name, calls) for (file, _, name), (_, calls, *_) in stats.items() if file == __file__)

    def recorded():
        window = Window(path).start()
        body()
        window.stop()
        body()

    def plain():
        body()
        body()

    alone = profiled(plain)
    both = [entry for entry in profiled(recorded) if entry[0] not in ("recorded", "start", "stop", "__init__")]
    return {"alone": [entry for entry in alone if entry[0] != "plain"], "both": both}


def beside_setprofile(path):
    events = []

    def hook(frame, event, argument):
        if frame.f_code.co_filename == __file__:
            events.append((frame.f_code.co_name, event))

    def heard():
        del events[:]
        sys.setprofile(hook)
        body()
        sys.setprofile(None)
        return list(events)

    alone = heard()
    window = Window(path)
    sys.setprofile(hook)
    window.start()
    del events[:]
    body()
    both = list(events)
    is_kept = sys.getprofile() is hook
    window.stop()
    is_left = sys.getprofile() is hook
    sys.setprofile(None)
    return {"alone": alone[: len(both)], "both": both, "is_kept": is_kept, "is_left": is_left}


def replaced(path):
    window = Window(path).start()
    leaf("before")
    sys.setprofile(lambda *event: None)
    leaf("unseen before 3.12")
    answer = window.stop()
    is_left = sys.getprofile() is not None
    sys.setprofile(None)
    return {"replaced": answer, "is_left": is_left}


def fork(path):
    window = Window(path).start()
    leaf("parent")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            body()
            again = Window(path + ".child").start()
            leaf("child")
            again.stop()
            window.source.contents.stop(window.session)  # the parent's
            status = 0
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    leaf("after")
    window.stop()
    return status


def deep(path):
    def down(n):
        if n == 0:
            window = Window(path).start()
            leaf("deepest")
            return window.stop()
        return down(n - 1)

    return down(300)


def collector(path):
    gc.collect()
    gc.disable()
    window = Window(path, flags=ALL_CALLS | GARBAGE).start()
    gc.collect()
    answer = window.stop()
    gc.collect()
    return {"replaced": answer, "left": len(gc.callbacks)}


def greenlets(path):
    try:
        from greenlet import greenlet
    except ImportError:
        return "no greenlet"
    window = Window(path).start()

    def first():
        leaf("a")
        other.switch()
        leaf("c")

    def second():
        leaf("b")
        one.switch()

    one, other = greenlet(first), greenlet(second)
    one.switch()
    return window.stop()


def under_load(path):
    """Windows of all kinds come and go on four threads while others call, end, collect and make code."""
    faults, is_over = [], threading.Event()

    def work(number):
        while not is_over.is_set():
            body()
            exec(f"def made_{number}(x):\n    return len([x])\nmade_{number}(1)", {})
            other = threading.Thread(target=body)
            other.start()
            gc.collect()
            other.join()

    def record(number):
        for flags in (ALL_CALLS, 0, ALL_CALLS | GARBAGE) * 4:
            functions = MODULES_ALONE["functions"][: 2 * (number % 2)]
            window = Window(f"{path}.{number}", flags, Module.__call__.__code__, functions).start()
            body()
            Module()(lambda: leaf("x"))
            window.stop()

    def guarded(act, number):
        try:
            act(number)
        except BaseException as error:
            faults.append(repr(error))

    recorders = [threading.Thread(target=guarded, args=(record, number)) for number in range(4)]
    workers = [threading.Thread(target=guarded, args=(work, number)) for number in range(4)]
    for thread in workers + recorders:
        thread.start()
    for thread in recorders:
        thread.join()
    is_over.set()
    for thread in workers:
        thread.join()
    return {"faults": faults, "profile": repr(sys.getprofile()), "collector": len(gc.callbacks)}


def dies_while_recording(path):
    global kept
    kept = Window(path).start()
    leaf("x")

    class AtEnd:
        def __del__(self, leaf=leaf):
            leaf("at the end")

    threading.Thread(target=threading.Event().wait, daemon=True).start()
    global at_end
    at_end = AtEnd()
    return 0


def main(programs):
    load(*sys.argv[1:3])
    print(json.dumps(programs[sys.argv[4]](sys.argv[3])))


if __name__ == "__main__":
    main(globals())
