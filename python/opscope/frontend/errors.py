# SPDX-License-Identifier: Apache-2.0
"""The error of a documented feature of an original that opscope does not have yet."""

from __future__ import annotations


class UnsupportedFeature(NotImplementedError):
    """Asked for something that the original has and the front end does not have yet.

    Raised instead of silence: a program never believes that it recorded what it did not. A front end has a subclass.
    """

    front_end = "opscope"  # "opscope.torch"
    original = "the original profiler"  # "torch.profiler"

    def __init__(self, what: str, missing: str, instead: str | None = None) -> None:
        self.what = what
        instead = instead or f"{self.original} with the same {what.partition('=')[0]} argument"
        super().__init__(f"{self.front_end}: {what} is not supported yet ({missing}); use {instead}")
