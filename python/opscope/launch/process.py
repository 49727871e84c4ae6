# SPDX-License-Identifier: Apache-2.0
"""The recorders of this process, and the ends of it: its exit, a fork, ``os._exit`` and ``os.exec``.

A process that a signal kills has no end here: its file is readable as far as it was written, and it has no line in
``run.jsonl``. ``os._exit`` and ``os.exec`` end the windows as the exit does, but do not wait for a device, because a
program takes these ways when it must not wait.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import os

from .files import Files
from .plan import Plan
from .recorder import Recorder

_PROGRAMS = {"torch": "TorchProgram", "paddle": "PaddleProgram", "megengine": "MegEngineProgram"}

_recorders: dict[str, Recorder] = {}
_why_not: dict[str, str] = {}
_files: Files | None = None


def framework_is_imported(name: str, settings: str) -> None:
    """Begins to record a framework; called right after its import."""
    global _files
    plan = Plan.read(settings)
    if _files is None:
        _files = Files(plan.folder)
        atexit.register(_end)
        os._exit = _ending(os._exit)
        os.execv, os.execve = _ending(os.execv, _can_execute), _ending(os.execve, _can_execute)
    try:
        program = getattr(importlib.import_module(f".{name}_program", __package__), _PROGRAMS[name])()
        recorder = Recorder(program, plan, _files)
        _recorders[name] = recorder
        program.watch(recorder)
        # Handlers run in the order of their registration: those of the modules that were just imported come first.
        os.register_at_fork(after_in_child=functools.partial(_begin_in_child, recorder))
        recorder.begin()
    except Exception as error:
        _why_not[name] = f"{type(error).__name__}: {error}"


def _end() -> None:
    for recorder in _recorders.values():
        recorder.end()
    _write_line()


def _write_line() -> None:
    recorded = [name for name, recorder in _recorders.items() if recorder.has_recorded]
    framework = (recorded or [*_recorders, *_why_not])[0]
    why_not = _why_not.get(framework, "")
    if framework in _recorders:
        why_not = why_not or _recorders[framework].why_not or ("" if recorded else "no operator was recorded")
    try:
        _files.write_line(framework, why_not)
    except Exception:  # the folder is gone, or the disk is full
        pass


def _begin_in_child(recorder: Recorder) -> None:
    try:
        if _files.process != os.getpid():
            _files.reset()
        recorder.reset()
        recorder.begin()
    except Exception:
        pass


def _ending(leave, will_leave=lambda *_args, **_kwargs: True):
    """A function of ``os`` that ends this process or its program, with the end of the recordings before."""

    @functools.wraps(leave)
    def ending(*args, **kwargs):
        try:
            if will_leave(*args, **kwargs):
                for recorder in _recorders.values():
                    recorder.end_without_wait()
                _write_line()
        except Exception:
            pass
        return leave(*args, **kwargs)

    return ending


def _can_execute(path, *_args, **_kwargs) -> bool:
    """Whether exec will take this path: ``os.execvp`` and the like try each folder of PATH."""
    return isinstance(path, int) or os.access(path, os.X_OK)
