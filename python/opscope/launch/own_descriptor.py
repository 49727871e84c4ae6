# SPDX-License-Identifier: Apache-2.0
"""A descriptor in a program that may close all descriptors at once and get the same numbers for files of its own."""

from __future__ import annotations

import fcntl
import os


def copy_above_standard_streams(descriptor: int) -> int:
    """A copy with a number above 2. If a program has closed its standard streams, new descriptors get the numbers 0 to
    2, and C code would print to them. The caller closes both descriptors.
    """
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


def own_pipe() -> tuple[OwnDescriptor, OwnDescriptor]:
    """The read end and the write end of a new non-blocking pipe. OSError: no descriptor is free."""
    ends = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    copies: list[OwnDescriptor] = []
    try:
        for end in ends:
            copies.append(OwnDescriptor(copy_above_standard_streams(end)))
    except BaseException:
        for copy in copies:
            copy.close()
        raise
    finally:
        for end in ends:
            os.close(end)
    return copies[0], copies[1]


class OwnDescriptor:
    """Owns a descriptor. Check ``is_ours`` before each use: the number may belong to a file of the program now."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._identity = identity(number)

    def is_ours(self) -> bool:
        return self._identity is not None and identity(self.number) == self._identity

    def close(self) -> None:
        if self.is_ours():
            os.close(self.number)
        self._identity = None


def identity(descriptor: int) -> tuple[int, int] | None:
    """Device and inode number of an open descriptor; None: it is closed. Pipes and sockets have inode numbers too."""
    try:
        facts = os.fstat(descriptor)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
