# SPDX-License-Identifier: Apache-2.0
"""What opscope.paddle needs of opscope's engine."""

from collections.abc import Sequence
from typing import Any

from . import Source, Trace, _Path

class PaddleSource(Source):
    """The loaded PaddlePaddle source."""

    def try_part(self, part: str) -> str: ...
    def take_verdict(self, part: str, verdict: str) -> None: ...
    @property
    def route(self) -> str: ...

def load_source(path: _Path) -> PaddleSource: ...

class Range:
    """A range of the program for the recordings of Paddle."""

    def begin(self) -> None: ...
    def end(self) -> None: ...
    def __enter__(self, *args: Any) -> Any: ...
    def __exit__(self, *args: Any) -> Any: ...
    name: Any
    event_type: Any

def set_range_source(arg: PaddleSource, /) -> None: ...
def summary(
    trace: Trace,
    *,
    sorted_by: int = 0,
    op_detail: bool = True,
    thread_sep: bool = False,
    time_unit: object = "ms",
    views: Sequence[int] | None = None,
) -> str: ...
def flops(trace: Trace, repeat: int = 1) -> str: ...
