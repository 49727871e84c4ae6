# SPDX-License-Identifier: Apache-2.0
"""The recordings of one profile, and their dumps: on request, on a signal, on an exception, or without a step."""

from __future__ import annotations

import operator
import os
import sys
import threading
import weakref

from .. import _core
from ..user_warning import warn_user


class Session:
    """``_core.Session`` with Python's exception hooks; each profile has one.

    ``dump_to``: file of the automatic dumps; ``{pid}`` and ``{number}`` are replaced. ``signal``: number of a signal
    that writes a dump, also while no Python code runs. ``on_exception``: dump when an exception is uncaught, in Python
    or in C++. ``no_step_for``: dump after this many seconds without ``step()``, once until the next one. ValueError for
    values that are not allowed.
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
            raise ValueError("automatic dumps need a path (dump_to=)")
        if no_step_for is not None and not no_step_for > 0:
            raise ValueError(f"the time without a step must be a positive number of seconds, not {no_step_for!r}")
        self._core = _core.Session(dump_to, int(signal or 0), bool(on_exception), float(no_step_for or 0))
        self._arguments = (dump_to, signal, on_exception, no_step_for)
        self.dumps_by_itself = dump_to is not None  # otherwise steps need not be reported
        self._on_exception = bool(on_exception)
        self._process: int | None = None  # process that has set the hooks
        self._hooks: list[tuple] = []  # (module, name, our hook, the previous hook)

    # True between start() and stop(), in the process that called start(): False in a forked child. Read in every step.
    is_started = property(operator.attrgetter("_core.is_started"))

    def __reduce__(self):
        """A copy of a profile has a session of its own, which has not been started."""
        return _session_of, self._arguments

    def start(self) -> None:
        """Enables the automatic dumps; RuntimeError if it was started already."""
        self._core.start()
        self._set_hooks()

    def stop(self) -> None:
        """Removes signal handlers and hooks; a second call does nothing. The recording goes on."""
        self._restore_hooks()
        self._core.stop()
        self._warn()

    def prepare(self, **options) -> _core.Recording:
        """Creates the next recording; options of ``_core.Session.prepare``."""
        return self._core.prepare(**options)

    def begin(self, recording: _core.Recording) -> None:
        """Starts a prepared recording."""
        recording.start()
        self._set_hooks()

    def end(self, recording: _core.Recording) -> None:
        """Stops a recording."""
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
            # otherwise another hook has replaced ours and still calls it
            if getattr(module, name, None) is ours:
                setattr(module, name, before)
        self._hooks = []

    @property
    def files(self) -> list[str]:
        """Names of the files of all dumps so far."""
        return self._core.files

    def step(self) -> None:
        """Reports a step, so that the watchdog of ``no_step_for`` starts again."""
        self._core.step()
        self._warn()

    def dump(self, path: str | os.PathLike | None = None) -> str:
        """Writes a dump now; returns the name of the file."""
        return self._core.dump(path)

    def exception_leaves(self, kind: type[BaseException] | None) -> None:
        """Reports that an exception of this class ends the recorded block, or the program."""
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
        except Exception:  # the constructor raised, or the interpreter ends
            pass


def _session_of(dump_to, signal, on_exception, no_step_for) -> Session:
    return Session(dump_to, signal=signal, on_exception=on_exception, no_step_for=no_step_for)


def _hook(session: weakref.ref[Session], before):
    """An exception hook for sys or threading that dumps, then calls the hook `before`."""

    def excepthook(*args):
        # sys: (type, value, traceback); threading: one object with exc_type.
        kind = args[0] if len(args) == 3 else getattr(args[0], "exc_type", None)
        alive = session()
        try:
            if alive is not None:
                alive.exception_leaves(kind)
        finally:
            before(*args)

    return excepthook
