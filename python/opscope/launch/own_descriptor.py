# SPDX-License-Identifier: Apache-2.0
"""A descriptor in a program that may close all descriptors at once and get the same numbers for files of its own."""

from __future__ import annotations

import os


class OwnDescriptor:
    """Takes over a descriptor. Before each use ask ``is_ours``: otherwise it would be a file of the program."""

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
    """Device and number of what a descriptor leads to; None: it is closed. Pipes and sockets have numbers, too."""
    try:
        facts = os.fstat(descriptor)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
