# SPDX-License-Identifier: Apache-2.0
"""The error of a documented feature of ``torch.profiler`` that opscope does not have yet."""

from __future__ import annotations


class UnsupportedFeature(NotImplementedError):
    """Asked for something that ``torch.profiler`` has and ``opscope.torch`` does not have yet.

    Raised instead of silence: a program never believes that it recorded what it did not.
    """

    def __init__(self, what: str, missing: str, instead: str | None = None) -> None:
        self.what = what
        instead = instead or f"torch.profiler with the same {what.partition('=')[0]} argument"
        super().__init__(f"opscope.torch: {what} is not supported yet ({missing}); use {instead}")
