# SPDX-License-Identifier: Apache-2.0
"""The private folder of compiled adapters, its lock, and what makes an entry valid.

Code from this folder is loaded into the user's process. Therefore a folder of another user, or one that the group or
others may write, is refused. A job starts many processes at once: one of them compiles under a file lock, the others
wait and use its entry.

An entry is STEM.so and its note STEM.json. Both are written under temporary names and renamed, the note last. An entry
is valid if the note has the size and the hash of the library. So a process that is killed at any moment leaves at most
an invalid entry, which the next process replaces; the system releases the lock of a dead process.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import random
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..log import log_message
from .errors import CacheUnusable

VARIABLE = "OPSCOPE_CACHE"
FIRST_NOTICE_S = 5.0  # seconds until a waiting process prints a line about it
NOTICE_INTERVAL_S = 30.0
_BUILDING = ".building-"


def cache_folder() -> Path:
    """Path of the cache, which may not exist yet: OPSCOPE_CACHE, else opscope in the user's cache folder (XDG)."""
    named = os.environ.get(VARIABLE, "")
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        raise CacheUnusable(f"this user has no home folder for the cache; set {VARIABLE} to a folder of your own")
    return Path(base) / "opscope"


def complaint(folder: Path) -> str:
    """Why an existing folder must not be used; empty if it may."""
    status = folder.stat()
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if status.st_uid != os.geteuid():
        return f"belongs to another user (uid {status.st_uid})"
    if status.st_mode & 0o022:
        return f"may be written by others (mode {stat.S_IMODE(status.st_mode):04o}; chmod 700 it)"
    return ""


def unusable(folder: Path, why: str) -> CacheUnusable:
    """The exception for a folder; ``why``: end of the sentence "the cache folder FOLDER ..."."""
    return CacheUnusable(f"the cache folder {folder} {why}; set {VARIABLE} to a folder of your own")


def make_private(folder: Path) -> Path:
    """Creates the folder (mode 0700) if it is missing. CacheUnusable if others could write there."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        why = complaint(folder)
    except OSError as error:
        raise unusable(folder, f"cannot be used: {error.strerror}") from error
    if why:
        raise unusable(folder, why)
    return folder


@dataclass(frozen=True)
class Entry:
    """One adapter in the cache, whether it exists or not."""

    folder: Path
    stem: str

    @property
    def library(self) -> Path:
        return self.folder / f"{self.stem}.so"

    @property
    def note(self) -> Path:
        return self.folder / f"{self.stem}.json"

    @property
    def failure(self) -> Path:
        return self.folder / f"{self.stem}.failed"

    def is_valid(self) -> bool:
        """Whether the library exists, matches its note, and is writable by this user alone."""
        try:
            if complaint(self.folder):
                return False
            noted = json.loads(self.note.read_text())
            with open(self.library, "rb") as file:
                status = os.fstat(file.fileno())
                if status.st_uid != os.geteuid() or status.st_mode & 0o022:
                    return False
                return status.st_size == noted["bytes"] and _hash(file.read()) == noted["sha256"]
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def publish(self, library: Path, facts: dict) -> None:
        """Renames a finished library, which is on the same file system, to its final name."""
        content = library.read_bytes()
        noted = {**facts, "bytes": len(content), "sha256": _hash(content)}
        note = library.with_suffix(".json")
        note.write_text(json.dumps(noted, indent=1) + "\n")
        library.chmod(0o600)
        for path in (library, note):
            with open(path, "rb") as file:
                os.fsync(file.fileno())
        library.rename(self.library)
        note.rename(self.note)
        self.failure.unlink(missing_ok=True)

    def failure_text(self) -> str:
        """The file of the last failure: a line that identifies the attempt, then the message."""
        try:
            return self.failure.read_text()
        except OSError:
            return ""

    def fail(self, message: str) -> None:
        """Stores the message, so that waiting processes report it instead of failing one after the other."""
        with contextlib.suppress(OSError):
            self.failure.write_text(f"{os.getpid()} {time.time_ns()} {random.getrandbits(32):08x}\n{message}")


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def entries(folder: Path) -> list[Entry]:
    """All entries in a folder of the cache, valid or not."""
    return [Entry(folder, path.stem) for path in sorted(folder.glob("*.json"))]


@contextlib.contextmanager
def working_folder(folder: Path, *, is_locked: bool) -> Iterator[Path]:
    """A temporary folder beside the entries. Under the lock it also deletes the folders of dead processes."""
    if is_locked:
        for left in folder.glob(_BUILDING + "*"):
            shutil.rmtree(left, ignore_errors=True)
    place = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=folder))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def lock(folder: Path, *, limit_s: float, waiting_for: str) -> Iterator[bool]:
    """Holds the folder's lock in a block.

    Yields False on a file system without locks, where the renames alone protect. CacheUnusable if another process holds
    the lock for longer than the limit.
    """
    path = folder / "lock"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise unusable(folder, f"cannot be written: {error.strerror}") from error
    try:
        is_locked = _wait(file, path, limit_s, waiting_for)
        if is_locked:
            os.ftruncate(file, 0)
            os.pwrite(file, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        yield is_locked
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)  # an explicit unlock: a forked child may hold the file, too
        os.close(file)


def _wait(file: int, path: Path, limit_s: float, waiting_for: str) -> bool:
    began = time.monotonic()
    next_notice = began + FIRST_NOTICE_S
    pause = 0.02
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                log_message("info", f"{path}: no locks here ({error.strerror}); going on without")
                return False
        now = time.monotonic()
        holder = os.pread(file, 200, 0).decode(errors="replace") or "another process"
        if now - began > limit_s:
            raise CacheUnusable(
                f"{holder} has held {path} for more than {limit_s:.0f} s ({waiting_for}); "
                f"end it, or set {VARIABLE} to another folder"
            )
        if now >= next_notice:
            next_notice = now + NOTICE_INTERVAL_S
            log_message("warn", f"waiting for {holder}: {waiting_for} ({now - began:.0f} s)")
        time.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(pause * 1.5, 0.5)
