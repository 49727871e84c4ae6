# SPDX-License-Identifier: Apache-2.0
"""Loads the adapter for one framework into this process: from the package, from the cache, or compiled at the first
use.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from .. import _core
from ..adapters import packaged_test_results, parts
from ..adapters.adapter import Adapter
from ..adapters.errors import AdapterMissing
from ..log import log_message

Source = TypeVar("Source", bound=_core.Source)


class Loader(Generic[Source]):
    """Loads an adapter once per process. May be used on any thread.

    ``find``: returns the Adapter, or raises AdapterMissing. ``load``: path of a library -> Source, or raises
    _core.Error. ``take``: makes a loaded Source the one of this process, given the results of its self-test (None:
    untested).
    """

    def __init__(
        self,
        find: Callable[[], Adapter],
        load: Callable[[Path], Source],
        take: Callable[[Source, dict[str, str] | None], None] = lambda source, found: None,
    ) -> None:
        self._find, self._load_library, self._take = find, load, take
        self._loaded: Source | None = None
        self._path: Path | None = None  # of the loaded one
        self._left_out: dict[str, str] = {}
        self._failure: AdapterMissing | None = None
        self._lock = threading.RLock()
        alive = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _renew_lock(alive()))

    @property
    def left_out(self) -> dict[str, str]:
        """The parts of the loaded adapter that do not work here, and why."""
        return self._left_out

    def source(self) -> Source:
        """The loaded adapter. At the first use it may be compiled, which takes seconds; AdapterMissing says what to do
        if that is not possible.
        """
        with self._lock:
            if self._loaded is not None:
                return self._loaded
            if self._failure is not None:
                raise self._failure
            try:
                adapter = self._find()
                return self._take_carried(adapter) or self._take_compiled(adapter, rebuild=False)
            except AdapterMissing as error:
                self._failure = error  # remembered, because a program may ask in every step
                raise

    def load_ready(self) -> bool:
        """Loads an adapter if one exists already; compiles nothing and raises nothing."""
        with self._lock:
            if self._loaded is not None:
                return True
            try:
                adapter = self._find()
                if adapter.carried is not None and packaged_test_results.known_parts(adapter) is None:
                    return False
                if self._take_carried(adapter) is not None:
                    return True
                entry = adapter.cached()
                return entry is not None and self._use(adapter, entry.library) is not None
            except (AdapterMissing, _core.Error, OSError) as error:
                log_message("info", f"no adapter is ready: {error}")
                return False

    def build(self, *, rebuild: bool = False) -> Path:
        """Path of the adapter: the package's if it matches, otherwise the one in the cache, which is compiled if
        necessary, and with ``rebuild`` in any case. This process loads it if it has none.
        """
        with self._lock:
            adapter = self._find()
            if not rebuild and self._loaded is None:
                self._take_carried(adapter)
            uses_carried = self._path is not None and self._path == adapter.carried
            path = self._path if uses_carried and not rebuild else adapter.compiled(rebuild=rebuild)
            self._failure = None
            if self._loaded is None:
                self._use(adapter, path)
            return path

    def _use(self, adapter: Adapter, path: Path, found: dict[str, str] | None = None) -> Source:
        found = parts.read_parts(path) if found is None else found
        self._loaded = self._load_library(path)
        self._path = path
        self._left_out = parts.left_out(found)
        self._take(self._loaded, found)
        log_message("info", f"{adapter.what} is {path}")
        return self._loaded

    def _take_carried(self, adapter: Adapter) -> Source | None:
        if adapter.carried is None:
            return None
        found = packaged_test_results.parts_of(adapter)
        if why := parts.misfit(adapter.parts, found):
            log_message("warn", f"{adapter.what} that the package carries does not fit ({why}); another one is needed")
            return None
        try:
            return self._use(adapter, adapter.carried, found)
        except _core.Error as error:
            why = f"does not load ({error}); another one is needed"
            log_message("warn", f"{adapter.what} that the package carries {why}")
            return None

    def _take_compiled(self, adapter: Adapter, rebuild: bool) -> Source:
        """Loads a compiled one. If a valid library does not load (compiled on another system, say), it is compiled
        again, once.
        """
        path = adapter.compiled(rebuild=rebuild)
        try:
            return self._use(adapter, path)
        except _core.Error as error:
            if rebuild:
                raise AdapterMissing(f"{adapter.what} does not load: {error}") from error
            log_message("info", f"{path} does not load ({error}); it is made anew")
            return self._take_compiled(adapter, rebuild=True)


def _renew_lock(loader: Loader | None) -> None:
    if loader is not None:
        loader._lock = threading.RLock()  # a new lock: another thread of the parent may have held the old one
