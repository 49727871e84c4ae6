# SPDX-License-Identifier: Apache-2.0
"""The recorders of this process, its control socket for recordings on demand, and the handlers of exit, fork,
``os._exit`` and ``os.exec``.

If a signal kills the process, no handler runs: its file is readable as far as it was written, and it has no line in
``run.jsonl``. ``os._exit`` and ``os.exec`` end the windows as the exit does, but do not wait for a device, because a
program calls them when it must not wait.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import os

from .. import _core
from .control import Control
from .control_folder import ControlFolder
from .files import Files
from .plan import Plan
from .program import Program
from .recorder import Recorder

_PROGRAMS = {"torch": "TorchProgram", "paddle": "PaddleProgram", "megengine": "MegEngineProgram"}

_begun: set[str] = set()  # names of frameworks
_recorders: dict[str, tuple[Program, Recorder]] = {}
_why_not: dict[str, str] = {}
_plan = Plan("", is_empty=True)
_files: Files | None = None  # files of the plan's windows
_demand_files: Files | None = None  # files of windows on demand
_folder: ControlFolder | None = None  # folder of requests; None: the process takes no requests
_control: Control | None = None
_no_control = ""  # why the process cannot be recorded on demand although OPSCOPE_CONTROL is set


def framework_is_imported(name: str, settings: str) -> None:
    """Begins to record a framework as `opscope run` requests; called right after its import."""
    global _plan, _files, _no_control
    if _files is None:
        _plan = Plan.read(settings)
        _files = Files(_plan.folder)
        try:
            _open_control()
        except Exception as error:
            _no_control = f"on demand: {error}"
        _hook_ends()
    _begin(name)


def front_end_is_imported(name: str) -> None:
    """Makes a framework recordable on demand in a program that imports opscope itself, with ``OPSCOPE_CONTROL``. Raises
    an exception if the folder cannot be used.
    """
    global _files
    if name in _begun:  # framework_is_imported has begun
        return
    if _files is None:
        _open_control()
        if _demand_files is None:
            return
        _files = _demand_files
        _hook_ends()
    _begin(name)


def _open_control() -> None:
    """Opens the folder of requests if the variable is set and the program has no more rights than its user."""
    global _folder, _demand_files
    path = os.environ.get("OPSCOPE_CONTROL")
    if not path or os.getuid() != os.geteuid() or os.getgid() != os.getegid() or _core.is_secure_process():
        return
    _folder = ControlFolder(path)
    _demand_files = Files(_folder.link)


def _start_control() -> None:
    global _control, _no_control
    if _folder is None or _control is not None:
        return
    try:
        _control = Control(_folder, _demand_files, _recorders, _why_not)
    except Exception as error:
        _no_control = f"on demand: {error}"


def _hook_ends() -> None:
    atexit.register(_end)
    os._exit = _ending(os._exit)
    os.execv, os.execve = _ending(os.execv, _can_execute), _ending(os.execve, _can_execute)


def _begin(name: str) -> None:
    _begun.add(name)
    try:
        program = getattr(importlib.import_module(f".{name}_program", __package__), _PROGRAMS[name])()
        recorder = Recorder(program, _plan, _files, _demand_files)
        _recorders[name] = program, recorder
        program.watch(recorder)
        # Handlers run in the order of their registration: those of the modules that were just imported come first.
        os.register_at_fork(after_in_child=functools.partial(_begin_in_child, recorder))
        recorder.begin()
    except Exception as error:
        _why_not[name] = f"{type(error).__name__}: {error}"
    _start_control()


def _end() -> None:
    try:
        for _, recorder in list(_recorders.values()):
            _end_recorder(recorder)
    finally:
        _close()


def _end_recorder(recorder: Recorder) -> None:
    try:
        recorder.end()
    except BaseException:  # Ctrl-C while the recorder waits for a device: keep the part of the file that was written
        with contextlib.suppress(BaseException):
            recorder.end_without_wait()


def _close() -> None:
    """Writes this process's line of run.jsonl, and closes its control socket."""
    global _control
    control, _control = _control, None
    try:
        if control is not None:
            control.close()
        if _plan.folder:
            _write_line()
    except Exception:  # the folder is gone, or the disk is full
        pass


def _write_line() -> None:
    if _files.process != os.getpid():  # the parent could not begin to record, so no handler ran after the fork
        _files.reset()
    recorded = [name for name, (_, recorder) in _recorders.items() if recorder.has_recorded]
    framework = (recorded or [*_recorders, *_why_not])[0]
    why_not = _why_not.get(framework, "")
    if framework in _recorders and not why_not:
        recorder = _recorders[framework][1]
        why_not = recorder.why_not or _no_control or ("" if recorded else recorder.why_nothing)
    is_same = _folder is not None and _folder.path == _plan.folder
    _files.write_line(framework, why_not, _demand_files.finished if is_same else [])


def _begin_in_child(recorder: Recorder) -> None:
    try:
        if _files.process != os.getpid():
            for files in (_files, _demand_files):
                if files is not None:
                    files.reset()
            _restart_control()
        recorder.reset()
        recorder.begin()
    except Exception:
        pass


def _restart_control() -> None:
    global _control
    control, _control = _control, None
    if control is not None:
        control.forget()
        _start_control()


def _ending(leave, will_leave=lambda *_args, **_kwargs: True):
    """Wraps a function of ``os`` that ends this process or its program, so that the recordings are ended first."""

    @functools.wraps(leave)
    def ending(*args, **kwargs):
        try:
            if will_leave(*args, **kwargs):
                for _, recorder in _recorders.values():
                    recorder.end_without_wait()
                _close()
        except Exception:
            pass
        return leave(*args, **kwargs)

    return ending


def _can_execute(path, *_args, **_kwargs) -> bool:
    """Whether exec can execute this path: ``os.execvp`` and the like try each folder of PATH."""
    return isinstance(path, int) or os.access(path, os.X_OK)
