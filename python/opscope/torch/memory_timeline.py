# SPDX-License-Identifier: Apache-2.0
"""The memory timeline as files: how many bytes parameters, activations, gradients, ... occupy over time."""

from __future__ import annotations

import gzip
import os

import torch
from torch.profiler import DeviceType
from torch.profiler._memory_profiler import MemoryProfile

from .. import _core
from ..frontend.whole_file import whole_file


def missing_flags(prof) -> str:
    """Arguments of the profile that the timeline needs and that were not set, as torch lists them."""
    wanted = ("record_shapes", "profile_memory", "with_stack")
    return ", ".join(f"{name}=True" for name in wanted if not getattr(prof, name))


def refuse_missing_flags(prof) -> None:
    """Raises torch's ValueError if the profile was made without those arguments."""
    if missing := missing_flags(prof):
        raise ValueError(f"{missing} required for memory profiling.")


def torchs_memory_profile(prof) -> MemoryProfile:
    """torch's object for the last recording; ``export_memory_timeline`` gives the same result without an object per
    event.
    """
    refuse_missing_flags(prof)
    if prof.profiler is None or prof.profiler.kineto_results is None:
        raise AssertionError("Profiler and kineto_results must be initialized for memory profiling")
    return MemoryProfile(prof.profiler.kineto_results)


def default_device(profiled: str | None) -> str:
    """The device of torch's timeline if none is named."""
    if profiled and profiled != "cuda":
        return f"{profiled}:0"
    return "cuda:0" if torch.cuda.is_available() else "cpu"


class MemoryTimeline:
    """The timeline of one recording; ``prof.mem_tl`` after ``prof.export_memory_timeline()``."""

    @classmethod
    def of_profile(cls, prof) -> MemoryTimeline:
        """The timeline of the profile's last recording."""
        refuse_missing_flags(prof)
        if prof.profiler is None:
            raise AssertionError("Profiler and kineto_results must be initialized for memory profiling")
        return cls(prof.profiler.trace._core)

    def __init__(self, trace: _core.Trace) -> None:
        self._core = _core.torch.MemoryTimeline(trace)

    def export(self, path, device: str) -> None:
        """Writes the format of the path's extension: ``.html``, ``raw.json.gz``, ``.gz``; JSON for any other."""
        name = os.fsdecode(path)
        if name.endswith(".html"):
            self.export_memory_timeline_html(path, device)
        elif name.endswith("raw.json.gz"):
            _write_gzip(path, self._core.raw_json(*_numbers_of(device)))
        elif name.endswith(".gz"):
            _write_gzip(path, self._core.json(*_numbers_of(device)))
        else:
            self.export_memory_timeline(path, device)

    def export_memory_timeline(self, path, device_str: str) -> None:
        """Writes [times in us, bytes by category] as JSON."""
        _write(path, self._core.json(*_numbers_of(device_str)))

    def export_memory_timeline_raw(self, path, device_str: str) -> None:
        """Writes [time in ns, action, bytes, category] of each event as JSON."""
        _write(path, self._core.raw_json(*_numbers_of(device_str)))

    def export_memory_timeline_html(self, path, device_str: str, figsize=None, title: str | None = None) -> None:
        """Writes a page with a picture; ``figsize`` was for torch's, which is one of pixels."""
        shown = title or f"Memory timeline of {torch.device(device_str)}"
        _write(path, self._core.html(*_numbers_of(device_str), shown))


def _numbers_of(device_str: str) -> tuple[int, int]:
    """torch's number of the device type, and the device's index or -1."""
    device = torch.device(device_str)
    types = {name.lower(): int(number) for name, number in DeviceType.__members__.items()}
    name = {"privateuseone": "privateuse1", torch._C._get_privateuse1_backend_name(): "privateuse1"}.get(
        device.type, device.type
    )
    return types[name], -1 if device.index is None else device.index


def _write(path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text)


def _write_gzip(path, text: str) -> None:
    with whole_file(path, binary=True) as file:
        file.write(gzip.compress(text.encode(), compresslevel=6))
