# SPDX-License-Identifier: Apache-2.0
"""An always-on timer of nodes of CUDA graphs and of named regions, under the names of torch 2.14's
``torch.profiler._cupti.observers``; needs NumPy. It may run beside profiles."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..adapters.cuda import cuda_source
from ..user_warning import warn_user
from .graph_annotations import node_annotations

_KERNEL, _MEMCPY, _MEMSET, _MEMCPY2 = 10, 1, 2, 22  # activity kinds of CUPTI
_KERNELS, _COPIES, _PEER_COPIES, _SETS, _REGIONS = _core.cuda.TIMER_FLAGS
_FLAGS = {_KERNEL: _KERNELS, _MEMCPY: _COPIES, _MEMSET: _SETS, _MEMCPY2: _PEER_COPIES | _COPIES}

# CudaTimedWork and CudaRegionOfCall of include/opscope/cuda_source.h.
_WORK = [("node", "<u8"), ("start", "<i8"), ("end", "<i8"), ("stream", "<u4"), ("correlation", "<u4")]
_REGION = [("region", "<u8"), ("correlation", "<u4"), ("reserved", "<u4")]

_numbers = itertools.count(1)  # ids of regions, unique in the process


def default_graph_annotation_resolver(graph_node_id: int) -> Any | None:
    """The program's name of a node (``torch.cuda._graph_annotations``), or None."""
    return node_annotations().get(graph_node_id)


@dataclass(frozen=True)
class ObserverAnnotationSettings:
    """Where names come from: a function of the node's number, and regions that the program opens."""

    graph_annotation_resolver: Callable[[int], Any | None] | None = None
    support_eager_annotations: bool = False


class NodeTimerObserver:
    """Times kernels from its creation to ``close()``; copies and memsets, too, if ``kinds`` contains their CUPTI
    numbers.

    If CUDA cannot be recorded, ``available`` is false, one warning says why, and results are empty.
    """

    def __init__(
        self, kinds: Iterable[int] | None = None, *, annotations: ObserverAnnotationSettings | None = None
    ) -> None:
        kinds = (_KERNEL,) if kinds is None else tuple(kinds)
        if unknown := [kind for kind in kinds if int(kind) not in _FLAGS]:
            raise ValueError(
                f"NodeTimerObserver: unsupported activity kind(s) {unknown}; timing supports {sorted(_FLAGS)}"
            )
        self._resolver = annotations.graph_annotation_resolver if annotations is not None else None
        self._has_regions = annotations is not None and annotations.support_eager_annotations
        self._lock = threading.Lock()
        self._names: dict[int, str] = {}  # of regions
        self._lost = 0
        flags = _REGIONS if self._has_regions else 0
        for kind in kinds:
            flags |= _FLAGS[int(kind)]
        self._source = cuda_source()
        started = "this opscope was built without its CUDA source"
        if self._source is not None:
            started = self._source.start_timer(flags)
        self._timer = None if isinstance(started, str) else started
        if self._timer is None:
            warn_user(f"NodeTimerObserver: {started}")

    @property
    def available(self) -> bool:
        """Whether it can record."""
        return self._timer is not None

    def drain(self, flush: bool = False):
        """``(graph_node_id, start_ns, end_ns, stream_id)``: NumPy arrays, one element per piece of work since the
        previous call.

        Work outside of graphs has node 0. ``flush``: also fetch what CUPTI has buffered. Does not wait for the device.
        """
        works, _ = self._take(flush)
        return works["node"].copy(), works["start"].copy(), works["end"].copy(), works["stream"].astype("<u8")

    def drain_annotated(self, flush: bool = False) -> dict[str, list[tuple[int, int]]]:
        """The same as ``{name: [(start_ns, end_ns), ...]}``: by the node's name, otherwise the region's, otherwise
        "".
        """
        import numpy

        works, regions = self._take(flush)
        names = self.annotation_names(reset=True)
        if not len(works):
            return {}
        of_works = numpy.full(len(works), "", dtype=object)
        if self._has_regions:
            of_calls = dict(zip(regions["correlation"].tolist(), regions["region"].tolist(), strict=True))
            _assign_names(of_works, works["correlation"], lambda call: names.get(of_calls.get(call), ""))
        if self._resolver is not None:
            _assign_names(of_works, works["node"], lambda node: (self._resolver(node) or "") if node else "")
        spans: dict[str, list[tuple[int, int]]] = {}
        for name in sorted(set(of_works.tolist())):
            chosen = works[of_works == name]
            spans[name] = list(zip(chosen["start"].tolist(), chosen["end"].tolist(), strict=True))
        return spans

    def _take(self, flush: bool):
        import numpy

        works, regions, lost = self._timer.drain(flush) if self._timer is not None else (b"", b"", 0)
        if lost:
            self._lost += lost
            warn_user(
                f"NodeTimerObserver: {lost} records were lost: drain() was not called in time, or CUPTI had no room"
            )
        return numpy.frombuffer(works, _WORK), numpy.frombuffer(regions, _REGION)

    def push_annotation(self, name: str) -> int | None:
        """Opens a region on this thread and returns its number; None if nothing is recorded."""
        if self._timer is None:
            return None
        number = next(_numbers)
        if not self._source.push_region(number):
            return None
        with self._lock:
            self._names[number] = name
        return number

    def pop_annotation(self) -> int | None:
        """Closes the innermost region of this thread."""
        return self._source.pop_region() if self._timer is not None else None

    @contextlib.contextmanager
    def annotate(self, name: str) -> Iterator[int | None]:
        """A region as a context manager."""
        number = self.push_annotation(name)
        try:
            yield number
        finally:
            if number is not None:
                self.pop_annotation()

    def annotation_names(self, *, reset: bool = False) -> dict[int, str]:
        """Number -> name of the regions so far; ``reset`` forgets them."""
        with self._lock:
            names = dict(self._names)
            if reset:
                self._names = {}
        return names

    def now_record_ns(self) -> int:
        """The current time on the clock of ``start_ns`` and ``end_ns``; 0 if nothing is recorded."""
        return time.clock_gettime_ns(time.CLOCK_REALTIME) if self._timer is not None else 0

    def close(self) -> None:
        """Stops recording; waits for the device. A second call does nothing."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None


def _assign_names(of_works, keys, name_of: Callable[[int], Any]) -> None:
    """Names the works whose key has a name; ``name_of`` is called once per key."""
    import numpy

    distinct, place = numpy.unique(keys, return_inverse=True)
    named = numpy.array([str(name_of(key)) for key in distinct.tolist()], dtype=object)[place]
    has_name = named != ""
    of_works[has_name] = named[has_name]
