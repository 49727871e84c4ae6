# SPDX-License-Identifier: Apache-2.0
"""Folders of rows below `_opscope` of a JOB, which exist while an answer is computed, and the removal of those that a
killed driver has left.

A driver holds a lock (flock) on a file of its folder, and writes the boot id of its machine into it. On the same
machine the lock of a process that ended is free, whatever its container was. A file system may hide the lock from other
machines, so there a folder counts as abandoned when nothing was added to it for a day.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import time
import uuid
from pathlib import Path

_PREFIX = "spark-"
_OWNER = "_owner"  # Spark ignores names that begin with an underscore
_DAY_S = 24 * 60 * 60


class RowsFolder:
    """A folder below ``parent`` that is made when it is needed, and is locked until `remove` or the process ends."""

    def __init__(self, parent: str):
        self._path = Path(parent, f"{_PREFIX}{uuid.uuid4().hex}")
        self._lock = None

    def path_of(self, name: str) -> str:
        """Where rows of this name belong."""
        if self._lock is None:
            self._path.mkdir()
            self._lock = open(self._path / _OWNER, "x")  # noqa: SIM115 (it is open as long as the lock is held)
            with contextlib.suppress(OSError):  # a file system without locks: the owner file stays empty
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._lock.write(_boot_id())
                self._lock.flush()
        return str(self._path / name)

    def remove(self) -> None:
        """Removes the folder with all in it."""
        if self._lock is not None:
            shutil.rmtree(self._path, ignore_errors=True)
            self._lock.close()
            self._lock = None


def remove_abandoned(parent: str) -> None:
    """Removes the folders below ``parent`` whose drivers have ended."""
    for folder in Path(parent).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    is_old = time.time() - folder.stat().st_mtime > _DAY_S
    try:
        with open(folder / _OWNER, "r+") as owner:
            is_of_this_machine = owner.read() == _boot_id() != ""
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return is_old or is_of_this_machine
    except BlockingIOError:  # the owner has the lock
        return False
    except OSError:
        return is_old


def _boot_id() -> str:
    """Which boot of which machine this is; "": unknown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
