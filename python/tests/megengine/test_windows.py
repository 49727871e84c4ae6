# SPDX-License-Identifier: Apache-2.0
"""What a window holds: records out of memory, MegEngine's JSON where they cannot be taken, all windows on request."""

import collections
import os
import pathlib

import megengine
import megengine.functional as F
import numpy
import pytest

import opscope
from opscope.megengine import AdapterMissing, Profiler, scope
from opscope.megengine import window as windows


@pytest.fixture
def work():
    matrix = megengine.tensor(numpy.ones((64, 64), "float32"))

    def multiply():
        with scope("product"):
            F.matmul(matrix, matrix).numpy()

    multiply()  # asks for types the first time
    return multiply


@pytest.fixture
def profiler_of(tmp_path):
    """A Profiler that writes nothing at its end."""
    made = []

    def make(**options):
        made.append(Profiler(str(tmp_path), **options))
        return made[-1]

    yield make
    for each in made:
        each._forget_results()


def counts(trace):
    """Of ranges, without the numbers of tensors, which the two ways tell in different places."""
    names = (name.rstrip("0123456789 ") if " " in name else name for name in trace.spans.text("name"))
    return collections.Counter(names)


def test_records_are_taken_from_memory(work, profiler_of):
    profiler = profiler_of()
    with profiler:
        work()
    trace = profiler.trace
    assert trace.info["format"] == "opscope" and len(trace.problems) == 0
    assert {"interpreter", "worker", "xpux:0"} <= set(trace.tracks.text("name"))
    assert counts(trace)["product"] == 2 and counts(trace)["MatrixMul"] == 2
    assert len(trace.tensor_lives) > 0


class _Refuses:
    """A source that finds nothing as it expects it."""

    def take(self, dump, with_gil, then_free):
        return "the records lie elsewhere"


def test_what_cannot_be_taken_is_read_as_megengine_writes_it(work, profiler_of):
    taken, dumped = profiler_of(), profiler_of()
    with taken:
        work()
    with dumped:
        dumped._window._source = _Refuses()
        work()
    assert dumped.trace.info["format"] == "megengine-json"
    assert counts(dumped.trace) == counts(taken.trace)
    assert sum("the records lie elsewhere" in row["message"] for row in dumped.trace.problems) == 1


def test_a_window_that_could_not_be_read_is_read_by_the_next_access(work, profiler_of, monkeypatch):
    profiler = profiler_of()
    with profiler:
        profiler._window._source = _Refuses()
        work()
    with monkeypatch.context() as patch:
        patch.setattr(os, "memfd_create", lambda *_: os.close(-1))  # OSError, as without file descriptors
        with pytest.raises(OSError, match="Bad file descriptor"):
            _ = profiler.trace
    assert counts(profiler.trace)["MatrixMul"] == 2


def test_a_writer_that_failed_in_this_process_is_not_called_again(work, profiler_of, monkeypatch):
    calls = []

    def dumped_trace(dump, why):
        calls.append(why)
        dump("/proc/self/fd/none", "chrome_timeline.json")
        raise OSError("no room")

    profiler = profiler_of()
    with profiler:
        profiler._window._source = _Refuses()
        work()
    monkeypatch.setattr(profiler._last_window, "_dump", lambda path, format: None)
    monkeypatch.setattr(windows, "dumped_trace", dumped_trace)
    for _ in range(2):
        with pytest.raises(OSError, match="no room"):
            _ = profiler.trace
    assert len(calls) == 1


def test_a_build_that_is_not_known_is_read_as_megengine_writes_it(work, profiler_of, monkeypatch):
    def missing():
        raise AdapterMissing("not known")

    monkeypatch.setattr(windows, "source", missing)
    profiler = profiler_of()
    with profiler:
        work()
    assert profiler.trace.info["format"] == "megengine-json"
    assert counts(profiler.trace)["MatrixMul"] == 2


def test_all_windows_are_kept_on_request(work, profiler_of):
    profiler = profiler_of(all_windows=True)
    for number in range(3):
        with profiler, scope(f"window{number}"):
            work()
    found = counts(profiler.trace)
    assert [found[f"window{number}"] for number in range(3)] == [2, 2, 2]
    assert found["product"] == 6


def test_a_window_that_outgrows_its_memory_says_what_is_missing(work, profiler_of):
    profiler = profiler_of(max_bytes="1M")
    with profiler:
        for _ in range(3000):
            work()
    info = profiler.trace.info
    assert info["dropped"] > 0
    assert "dropped_at_cap" in [problem["kind"] for problem in profiler.trace.problems]


def test_record_to_has_the_window_in_a_file(work, profiler_of, tmp_path):
    path = pathlib.Path(tmp_path, "kept.opscope")
    profiler = profiler_of(record_to=path)
    with profiler:
        work()
    assert counts(opscope.open(path)) == counts(profiler.trace)
