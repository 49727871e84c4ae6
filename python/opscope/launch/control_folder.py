# SPDX-License-Identifier: Apache-2.0
"""The folder of ``OPSCOPE_CONTROL``, used through a descriptor that was checked when it was opened.

The folder belongs to this user alone, so no other user can put a link or a file there. Everything below it is reached
through the descriptor: a folder that is renamed or replaced meanwhile changes nothing. No link is followed. The program
may close all descriptors; therefore each use first looks whether the number still leads to the folder.
"""

from __future__ import annotations

import errno
import os
import stat

from .own_descriptor import OwnDescriptor, copy_above_standard_streams

REQUEST = "request.json"
LOG = "control.log"
MAX_BYTES = 4096  # of one message
MAX_LOG_BYTES = 16 << 20  # of the log; later requests are served but not logged


class ControlFolder:
    """Opens the folder. OSError, with a sentence for the user, if that fails or the folder is not this user's alone."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)  # removes a final slash, with which O_NOFOLLOW would follow a link
        try:
            os.mkdir(self.path, 0o700)
        except FileExistsError:
            pass
        opened = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            self._check(os.fstat(opened))
            self.descriptor = copy_above_standard_streams(opened)
        finally:
            os.close(opened)
        self._own = OwnDescriptor(self.descriptor)
        self._request = self._request_identity()  # requests from before this process are not for it

    def _check(self, facts: os.stat_result) -> None:
        if facts.st_uid != os.geteuid():
            raise PermissionError(f"{self.path} belongs to the user {facts.st_uid}")
        if stat.S_IMODE(facts.st_mode) & 0o077:
            raise PermissionError(f"{self.path} has the mode {stat.S_IMODE(facts.st_mode):04o} in place of 0700")

    def is_open(self) -> bool:
        """Whether the descriptor still leads to the folder."""
        return self._own.is_ours()

    def _check_open(self) -> None:
        if not self.is_open():
            raise OSError(errno.EBADF, "the program has closed the folder of OPSCOPE_CONTROL")

    @property
    def link(self) -> str:
        """A path of the folder through its descriptor, at most 24 bytes, valid after a rename. RuntimeError: closed."""
        if not self.is_open():
            raise RuntimeError("the program has closed the folder of OPSCOPE_CONTROL")
        return f"/proc/self/fd/{self.descriptor}"

    def identity_of(self, name: str) -> tuple[int, int] | None:
        """Device and inode number of a file; None: no file has the name."""
        try:
            return _identity(os.stat(name, dir_fd=self.descriptor, follow_symlinks=False))
        except OSError:
            return None

    def remove(self, name: str) -> None:
        try:
            self._check_open()
            os.unlink(name, dir_fd=self.descriptor)
        except OSError:
            pass

    def write(self, name: str, content: bytes) -> None:
        """Writes a file that replaces the one of this name in one step."""
        self._check_open()
        part = name + ".part"
        self.remove(part)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with open(os.open(part, flags, 0o600, dir_fd=self.descriptor), "wb") as file:
                file.write(content)
            os.rename(part, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        except OSError:
            self.remove(part)
            raise

    def append_to_log(self, line: bytes) -> None:
        """Appends a line by one write, because many processes append."""
        self._check_open()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(LOG, flags, 0o600, dir_fd=self.descriptor)
        try:
            facts = os.fstat(file)
            if stat.S_ISREG(facts.st_mode) and facts.st_size < MAX_LOG_BYTES:
                os.write(file, line)
        finally:
            os.close(file)

    def new_request(self) -> bytes | None:
        """The content of ``request.json`` if it has changed since the last call, otherwise None. PermissionError:
        another user may have written it.
        """
        identity = self._request_identity()
        if identity == self._request:
            return None
        self._request = identity
        if identity is None:
            return None
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            file = os.open(REQUEST, flags, dir_fd=self.descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise PermissionError(f"it is a link, or cannot be read: {error.strerror}") from error
        try:
            facts = os.fstat(file)
            if not stat.S_ISREG(facts.st_mode):
                raise PermissionError("it is not a regular file")
            if facts.st_uid != os.geteuid():
                raise PermissionError(f"it belongs to the user {facts.st_uid}")
            if facts.st_mode & 0o022:
                raise PermissionError("others can write it")
            return os.read(file, MAX_BYTES + 1)
        finally:
            os.close(file)

    def _request_identity(self) -> tuple[int, ...] | None:
        try:
            facts = os.stat(REQUEST, dir_fd=self.descriptor, follow_symlinks=False)
        except OSError:
            return None
        return (*_identity(facts), facts.st_mtime_ns, facts.st_size)


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino
