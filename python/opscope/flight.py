# SPDX-License-Identifier: Apache-2.0
"""Dumps of a recording while it goes on: on request, on a signal, on an exception, when no step comes."""

from __future__ import annotations

import os
import sys
import threading
import weakref

from . import _core
from .user_warning import warn_user


class Flight:
    """A flight recorder for a ``_core.Session`` (``flight=`` takes ``.core``), or for several after each other.

    ``path``: of the dumps that happen by themselves; ``{pid}`` and ``{number}`` are filled in. ``signal``: dumps when
    the process gets it, also while no Python code runs. ``on_exception``: dumps when an exception is caught by nobody,
    in Python or in C++. ``no_step_for``: seconds without ``step()`` after which it dumps, once until the next step.
    """

    def __init__(
        self,
        path: str | os.PathLike | None = None,
        *,
        signal: int | None = None,
        on_exception: bool = False,
        no_step_for: float | None = None,
    ) -> None:
        if path is None and (signal is not None or on_exception or no_step_for is not None):
            raise ValueError("a dump that happens by itself needs a path (dump_to=)")
        if no_step_for is not None and not no_step_for > 0:
            raise ValueError(f"the time without a step must be a positive number of seconds, not {no_step_for!r}")
        self.core = _core.FlightRecorder(path, int(signal or 0), bool(on_exception), float(no_step_for or 0))
        self.is_armed = path is not None  # else nothing happens by itself, and steps need not be told
        self._on_exception = bool(on_exception)
        self._process: int | None = None  # in which it was started
        self._hooks: list[tuple] = []  # (module, name, ours, the one before)

    @property
    def files(self) -> list[str]:
        """The dumps so far."""
        return self.core.files

    def start(self) -> None:
        """Installs what was asked for."""
        self.core.start()
        self._process = os.getpid()
        if self._on_exception and not self._hooks:
            for module, name in ((sys, "excepthook"), (threading, "excepthook")):
                before = getattr(module, name)
                ours = _hook(weakref.ref(self), before)
                setattr(module, name, ours)
                self._hooks.append((module, name, ours, before))

    def stop(self) -> None:
        """Takes it back; a second call does nothing."""
        for module, name, ours, before in reversed(self._hooks):
            if getattr(module, name, None) is ours:  # else somebody has put one over it, which goes on calling it
                setattr(module, name, before)
        self._hooks = []
        self.core.stop()
        self._warn()

    def step(self) -> None:
        """The job is alive."""
        self.core.step()
        self._warn()

    def dump(self, path: str | os.PathLike | None = None) -> str:
        """Dumps now; returns the name of the file."""
        return self.core.dump(path)

    def exception_leaves(self, kind: type[BaseException] | None) -> None:
        """An exception of this class ends what is recorded, or the program."""
        if not self._on_exception or self._process != os.getpid():
            return
        if kind is None or issubclass(kind, (SystemExit, GeneratorExit)):
            return
        try:
            self.core.dump(None, "exception", f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins."))
        except RuntimeError:  # nothing is being recorded
            pass
        except OSError as error:
            warn_user(f"dump (exception): {error}")

    def _warn(self) -> None:
        for message in self.core.take_messages():
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
