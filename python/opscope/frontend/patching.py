# SPDX-License-Identifier: Apache-2.0
"""Replaces names in a framework's modules by opscope's, so that programs use opscope unedited, and restores them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Mapping
from types import ModuleType, TracebackType
from typing import Any


class Patch:
    """What one call of ``patch()`` has replaced; ``undo()`` puts it back.

    Undone in any of three ways::

        with patch(): ...
        undo = patch(); ...; undo()
        patched = patch(); ...; patched.undo()
    """

    def __init__(self, patching: Patching) -> None:
        self._patching = patching
        self._replaced: list[tuple[ModuleType, str, Any, Any]] = []
        self._added: list[tuple[dict[str, Any], str, Any]] = []

    @property
    def modules(self) -> list[str]:
        """Names of the modules that were changed, the framework's own first."""
        return list(dict.fromkeys(_name_of(module) for module, _, _, _ in self._replaced))

    def undo(self) -> None:
        """Restores the names that are still as the patch left them. A second call does nothing."""
        with self._patching._lock:
            self._restore()

    def _restore(self) -> None:
        while self._replaced:
            module, name, original, ours = self._replaced.pop()
            if module.__dict__.get(name) is ours:
                setattr(module, name, original)
        while self._added:
            names, name, ours = self._added.pop()
            if names.get(name) is ours:
                del names[name]
        if self._patching._active is self:
            self._patching._active = None

    def __call__(self) -> None:
        """As ``undo()``."""
        self.undo()

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


class Patching:
    """The patches of one front end, at most one at a time. May be used on any thread; other threads see the change name
    by name.

    ``left_alone``: packages whose modules keep the originals, the framework itself first of all.
    """

    def __init__(self, what: str, *, left_alone: Iterable[str]) -> None:
        self._what = what
        self._left_alone = frozenset(left_alone)
        self._lock = threading.Lock()
        self._active: Patch | None = None

    def apply(
        self,
        *,
        replacements: Iterable[tuple[ModuleType, Mapping[str, Any]]],
        additions: Iterable[tuple[dict[str, Any], Mapping[str, Any]]] = (),
    ) -> Patch:
        """Replaces these names in these modules if they exist, and every reference of other modules to the originals;
        adds missing names. RuntimeError while an earlier patch is active.
        """
        with self._lock:
            if self._active is not None:
                raise RuntimeError(f"{self._what} is already active: call undo() first")
            made = self._active = Patch(self)
            try:
                self._replace_all(made, replacements, additions)
            except BaseException:  # a module that refuses: the caller gets no patch that it could undo
                made._restore()
                raise
            return made

    def _replace_all(self, made: Patch, replacements, additions) -> None:
        originals: dict[int, Any] = {}
        for module, names in replacements:
            for name, ours in names.items():
                if name in module.__dict__:
                    originals[id(module.__dict__[name])] = ours
                    made._replace(module, name, ours)
        for names, added in additions:
            for name, ours in added.items():
                made._add(names, name, ours)
        self._replace_copies(made, originals)

    def _replace_copies(self, made: Patch, originals: dict[int, Any]) -> None:
        # After `from torch.profiler import profile`, the importing module has its own reference to the original.
        for module in list(sys.modules.values()):
            if not isinstance(module, ModuleType) or _name_of(module).partition(".")[0] in self._left_alone:
                continue
            for name, value in list(module.__dict__.items()):
                ours = originals.get(id(value))
                if ours is not None and value is not ours:
                    made._replace(module, name, ours)


def _name_of(module: ModuleType) -> str:
    """The name; a program may have deleted it, or set something else."""
    return str(module.__dict__.get("__name__", ""))
