# SPDX-License-Identifier: Apache-2.0
"""The recordings of one profile, and their dumps: on request, on a signal, on an exception, when no step comes."""

from __future__ import annotations

import operator
import os
import sys
import threading
import weakref

from .. import _core
from ..user_warning import warn_user


class Session:
    """``_core.Session`` with Python's hooks for exceptions; the front ends have one per profile.

    ``dump_to``: file of the dumps that happen by themselves; ``{pid}`` and ``{number}`` are filled in. ``signal``:
    dumps when the process gets it, also while no Python code runs. ``on_exception``: dumps when an exception is caught
    by nobody, in Python or in C++. ``no_step_for``: seconds without ``step()`` after which it dumps, once until the
    next one.
    """

    def __init__(
        self,
        dump_to: str | os.PathLike | None = None,
        *,
        signal: int | None = None,
        on_exception: bool = False,
        no_step_for: float | None = None,
    ) -> None:
        if dump_to is None and (signal is not None or on_exception or no_step_for is not None):
            raise ValueError("a dump that happens by itself needs a path (dump_to=)")
        if no_step_for is not None and not no_step_for > 0:
            raise ValueError(f"the time without a step must be a positive number of seconds, not {no_step_for!r}")
        self._core = _core.Session(dump_to, int(signal or 0), bool(on_exception), float(no_step_for or 0))
        self.dumps_by_itself = dump_to is not None  # else steps need not be told
        self._on_exception = bool(on_exception)
        self._process: int | None = None  # in which the hooks were set
        self._hooks: list[tuple] = []  # (module, name, ours, the one before)

    # Between start() and stop(), in the process that has called them: False in the child of a fork. Every step asks.
    is_started = property(operator.attrgetter("_core.is_started"))

    def start(self) -> None:
        """Dumps happen from here on; RuntimeError when it was started already."""
        self._core.start()
        self._set_hooks()

    def stop(self) -> None:
        """Takes handlers and hooks back; a second call does nothing. The recording goes on."""
        self._restore_hooks()
        self._core.stop()
        self._warn()

    def prepare(self, **options) -> _core.Recording:
        """Makes the next recording; the options are those of ``_core.Session.prepare``."""
        return self._core.prepare(**options)

    def begin(self, recording: _core.Recording) -> None:
        """Starts what was prepared."""
        recording.start()
        self._set_hooks()

    def end(self, recording: _core.Recording) -> None:
        """Stops it."""
        if not self.is_started:
            self._restore_hooks()
        recording.stop()
        self._warn()

    def _set_hooks(self) -> None:
        self._process = os.getpid()
        if self._on_exception and not self._hooks:
            for module, name in ((sys, "excepthook"), (threading, "excepthook")):
                before = getattr(module, name)
                ours = _hook(weakref.ref(self), before)
                setattr(module, name, ours)
                self._hooks.append((module, name, ours, before))

    def _restore_hooks(self) -> None:
        for module, name, ours, before in reversed(self._hooks):
            if getattr(module, name, None) is ours:  # else somebody has put one over it, which goes on calling it
                setattr(module, name, before)
        self._hooks = []

    @property
    def files(self) -> list[str]:
        """The dumps so far."""
        return self._core.files

    def step(self) -> None:
        """The job is alive."""
        self._core.step()
        self._warn()

    def dump(self, path: str | os.PathLike | None = None) -> str:
        """Dumps now; returns the name of the file."""
        return self._core.dump(path)

    def exception_leaves(self, kind: type[BaseException] | None) -> None:
        """An exception of this class ends what is recorded, or the program."""
        if not self._on_exception or self._process != os.getpid():
            return
        if kind is None or issubclass(kind, (SystemExit, GeneratorExit)):
            return
        try:
            self._core.dump(None, "exception", f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins."))
        except RuntimeError:  # nothing is being recorded
            pass
        except OSError as error:
            warn_user(f"dump (exception): {error}")

    def _warn(self) -> None:
        for message in self._core.take_messages():
            warn_user(message)

    def __del__(self) -> None:
        try:
            self.stop()
        except Exception:  # half made, or the interpreter ends
            pass


def _hook(flight, before):
    """An exception hook of sys or threading that dumps, then calls the one before."""

    def excepthook(*args):
        # sys: (type, value, traceback); threading: one object with exc_type.
        kind = args[0] if len(args) == 3 else getattr(args[0], "exc_type", None)
        alive = flight()
        try:
            if alive is not None:
                alive.exception_leaves(kind)
        finally:
            before(*args)

    return excepthook
