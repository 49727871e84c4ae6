# SPDX-License-Identifier: Apache-2.0
"""``patch()``: programs that import torch.profiler themselves use opscope, without an edit."""

from __future__ import annotations

import sys
import threading
from types import ModuleType, TracebackType
from typing import Any

import torch.autograd.profiler
import torch.profiler
import torch.profiler.profiler

from . import legacy_profile, tensorboard
from .actions import ProfilerAction
from .kineto_profile import _KinetoProfile
from .profile import profile
from .record_function import record_function
from .schedule import schedule
from .trace_handler import tensorboard_trace_handler

# What stands for what. ProfilerActivity and DeviceType are torch's own here, too.
_REPLACEMENTS: dict[str, Any] = {
    "profile": profile,
    "_KinetoProfile": _KinetoProfile,
    "record_function": record_function,
    "schedule": schedule,
    "tensorboard_trace_handler": tensorboard_trace_handler,
    "ProfilerAction": ProfilerAction,
}

# In torch.autograd.profiler. Its record_function stays: torch makes its own ranges with it, and compiles it.
_LEGACY_REPLACEMENTS: dict[str, Any] = {"profile": legacy_profile.profile}

# What documents name and torch has not. tensorboard is imported as a module, too.
_ADDITIONS: dict[str, Any] = {"Profiler": profile, "tensorboard": tensorboard}
_ADDED_MODULE = "torch.profiler.tensorboard"

# Packages that keep what they have: torch makes ranges of its own with its own record_function, which opscope sees.
_LEFT_ALONE = ("torch", "opscope")

_lock = threading.Lock()
_active: list[Patch] = []


class Patch:
    """What one ``patch()`` has replaced; ``undo()`` puts it back. Also a context manager."""

    def __init__(self) -> None:
        self._replaced: list[tuple[ModuleType, str, Any, Any]] = []
        self._added: list[tuple[dict[str, Any], str, Any]] = []

    @property
    def modules(self) -> list[str]:
        """Names of the modules that were changed, torch's own first."""
        return list(dict.fromkeys(module.__name__ for module, _, _, _ in self._replaced))

    def undo(self) -> None:
        """Puts back what is still as the patch left it. A second call does nothing."""
        with _lock:
            while self._replaced:
                module, name, original, ours = self._replaced.pop()
                if module.__dict__.get(name) is ours:
                    setattr(module, name, original)
            while self._added:
                names, name, ours = self._added.pop()
                if names.get(name) is ours:
                    del names[name]
            if self in _active:
                _active.remove(self)

    def __enter__(self) -> Patch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.undo()

    def _replace(self, module: ModuleType, name: str, ours: Any) -> None:
        self._replaced.append((module, name, module.__dict__[name], ours))
        setattr(module, name, ours)

    def _add(self, names: dict[str, Any], name: str, ours: Any) -> None:
        if name not in names:
            self._added.append((names, name, ours))
            names[name] = ours

    def _apply(self) -> None:
        originals: dict[int, Any] = {}
        for module, replacements in (
            (torch.profiler, _REPLACEMENTS),
            (torch.profiler.profiler, _REPLACEMENTS),
            (torch.autograd.profiler, _LEGACY_REPLACEMENTS),
        ):
            for name, ours in replacements.items():
                if name in module.__dict__:
                    originals[id(module.__dict__[name])] = ours
                    self._replace(module, name, ours)
        for name, ours in _ADDITIONS.items():
            self._add(torch.profiler.__dict__, name, ours)
        self._add(sys.modules, _ADDED_MODULE, tensorboard)
        # `from torch.profiler import profile` was executed already: the importing module holds the original.
        for module in list(sys.modules.values()):
            if not isinstance(module, ModuleType) or module.__name__.partition(".")[0] in _LEFT_ALONE:
                continue
            for name, value in list(module.__dict__.items()):
                ours = originals.get(id(value))
                if ours is not None and value is not ours:
                    self._replace(module, name, ours)


def patch() -> Patch:
    """Makes ``torch.profiler`` hand out opscope's names, for libraries that import it themselves (trainers of
    Lightning, Accelerate, transformers, ...).

    Replaces ``profile``, ``_KinetoProfile``, ``record_function``, ``schedule``, ``tensorboard_trace_handler`` and
    ``ProfilerAction`` in ``torch.profiler``, ``profile`` in ``torch.autograd.profiler``, and what modules other than
    torch's hold of these by ``from torch.profiler import ...``. Adds ``torch.profiler.Profiler`` and
    ``torch.profiler.tensorboard``, which documents name. Names that a function, a class or an object holds keep what
    they had: call it before the program defines those. Undone by ``undo()`` of the result, or at the end of
    ``with patch():``.

    Raises RuntimeError while an earlier patch stands. Any thread; other threads see the change name by name.
    """
    with _lock:
        if _active:
            raise RuntimeError("opscope.torch.patch() stands already: undo() it first")
        made = Patch()
        _active.append(made)
        made._apply()
        return made
