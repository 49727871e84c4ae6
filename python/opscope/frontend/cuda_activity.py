# SPDX-License-Identifier: Apache-2.0
"""CUDA activity in the recordings of a front end: which features to request of the CUDA source, and the warnings if it
cannot record.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import _core
from ..adapters.cuda import cuda_source
from ..user_warning import warn_user

_NOT_BUILT = "CUDA is not recorded: this opscope was built without its CUDA source"


def sources(flags: list[str] | None) -> list[tuple[_core.Source, list[str]]]:
    """The entry for the CUDA source in the list for ``_core.Session.prepare``.

    ``flags``: None without CUDA, otherwise some of "synchronization", "memory", "graphs".
    """
    source = cuda_source() if flags is not None else None
    return [] if source is None else [(source, flags)]


def why_not() -> str:
    """Why no recording of this process can have CUDA, in one line; "" if one can.

    A library that OPSCOPE_CUPTI_LIB names is not checked here: each recording reports its problems.
    """
    if (source := cuda_source()) is None:
        return _NOT_BUILT
    return "" if source.is_named else source.why_not()


def set_torch_profiled(is_over: bool) -> None:
    """Before a recording: says whether torch's own profiler was used in this process and has stopped. Where CUPTI has
    no query for its user, a conflict is then attributed to torch's profiler.
    """
    if (source := cuda_source()) is not None:
        source.set_torch_profiled(is_over)


def warn_where_not_recorded(recording: _core.Recording) -> None:
    """Warns once per recording that could not record CUDA."""
    source = cuda_source()
    why = _NOT_BUILT if source is None else source.why_not_recorded(recording)
    if why:
        warn_user(why)


def wait_for_device(synchronize: Callable[[], object]) -> None:
    """Waits until the device has finished all launched work, so that it is in the recording. ``synchronize``: the
    framework's function; the source itself waits only for the context of this thread.
    """
    try:
        synchronize()
    except Exception as error:  # an error in the program's kernels; the program's next CUDA call raises it too
        warn_user(f"CUDA: what the device still does is not recorded: {error}")
