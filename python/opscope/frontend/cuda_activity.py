# SPDX-License-Identifier: Apache-2.0
"""CUDA beside a framework: what a recording asks of the CUDA source, and what it tells where CUDA is not recorded."""

from __future__ import annotations

from collections.abc import Callable

from .. import _core
from ..adapters.cuda import cuda_source
from ..user_warning import warn_user

_NOT_BUILT = "CUDA is not recorded: this opscope was built without its CUDA source"


def sources(flags: list[str] | None) -> list[tuple[_core.Source, list[str]]]:
    """What ``_core.Session.prepare`` is given of it; ``flags``: None where CUDA is not asked for, else some of
    "synchronization", "memory", "graphs"."""
    source = cuda_source() if flags is not None else None
    return [] if source is None else [(source, flags)]


def why_not() -> str:
    """Why no recording of this process could have CUDA, in one line; "". A library that OPSCOPE_CUPTI_LIB names is not
    asked: what is wrong with it each recording tells."""
    if (source := cuda_source()) is None:
        return _NOT_BUILT
    return "" if source.is_named else source.why_not()


def tell_torch_profiled(is_over: bool) -> None:
    """Before a recording begins: whether torch's own profiler was used in this process and is over. Who still holds
    CUPTI is then taken for it where CUPTI cannot be asked."""
    if (source := cuda_source()) is not None:
        source.tell_torch_profiled(is_over)


def warn_where_not_recorded(recording: _core.Recording) -> None:
    """One warning for a recording that has begun and has nothing of CUDA."""
    source = cuda_source()
    why = _NOT_BUILT if source is None else source.why_not_recorded(recording)
    if why:
        warn_user(why)


def wait_for_device(synchronize: Callable[[], object]) -> None:
    """Until the device has done all that was launched, so that it is in the recording. The source waits for the
    context of this thread by itself; ``synchronize`` is the framework's way."""
    try:
        synchronize()
    except Exception as error:  # an error of the program's kernels, which the program will see by itself
        warn_user(f"CUDA: what the device still does is not recorded: {error}")
