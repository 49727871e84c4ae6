# SPDX-License-Identifier: Apache-2.0
"""The error for a documented feature of an original profiler that opscope lacks."""

from __future__ import annotations


class UnsupportedFeature(NotImplementedError):
    """A feature of the original profiler that the front end does not have.

    Raised instead of ignoring the argument, so that a program does not miss data without notice. Each front end has a
    subclass.
    """

    front_end = "opscope"  # "opscope.torch"
    original = "the original profiler"  # "torch.profiler"

    def __init__(self, what: str, missing: str, instead: str | None = None) -> None:
        self.what = what
        instead = instead or f"{self.original} with the same {what.partition('=')[0]} argument"
        super().__init__(f"{self.front_end}: {what} is not supported yet ({missing}); use {instead}")
