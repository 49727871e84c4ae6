# SPDX-License-Identifier: Apache-2.0
"""Long windows are taken in parts, with and without steps, and what they hold is as if they were taken at once."""

import sys

import megengine
import megengine.functional as F
import pytest
from conftest import counts, until
from megengine.core._imperative_rt import core2

from opscope.megengine import Profiler, parts, scope


@pytest.fixture
def profiler(tmp_path):
    made = Profiler(str(tmp_path))
    yield made
    made._forget_results()


def shown(trace):
    """What a window holds beside its operators, whose number the others follow."""
    return counts(trace), len(trace.tensor_lives), len(trace.flows), [row["kind"] for row in trace.problems]


def test_a_window_without_steps_is_taken_in_parts_that_join(profiler, ones, stops, brief, monkeypatch):
    with profiler, scope("whole"):
        done = until(stops, lambda: F.add(ones, ones))
    in_parts = profiler.trace
    monkeypatch.setattr(parts, "_FIRST", 1e6)
    stops.clear()
    core2.full_sync()  # else the worker may delete the last tensor of the first window in the second one
    with profiler, scope("whole"):
        for _ in range(done):
            F.add(ones, ones)
    assert len(stops) == 1
    assert shown(in_parts) == shown(profiler.trace)
    found = counts(in_parts)
    assert found["ADD"] == 2 * done and found["OpDispatch"] == done  # on the worker and on the device
    assert found["whole"] == 2 and found["StartProfile"] == 1


def test_at_a_step_a_part_is_taken_too(profiler, ones, stops, brief):
    def step():
        F.matmul(ones, ones)
        profiler.step()

    with profiler:
        done = until(stops, step)
    found = counts(profiler.trace)
    assert found["MatrixMul"] == 2 * done and found["StartProfile"] == 1


def test_a_part_is_taken_right_after_an_operator(profiler, ones, brief, monkeypatch):
    callers, stop = [], core2.stop_profile
    with profiler:

        def noted():
            frame = sys._getframe(1)
            while frame.f_globals["__name__"].startswith("opscope."):
                frame = frame.f_back
            callers.append(frame.f_globals["__name__"])
            return stop()

        monkeypatch.setattr(core2, "stop_profile", noted)
        until(callers, lambda: [F.add(ones, ones), sorted(range(50))])
        monkeypatch.setattr(core2, "stop_profile", stop)
    assert set(callers) == {"megengine.core.tensor.array_method"}


def test_a_profile_function_of_the_program_stays(profiler, ones, stops, brief):
    seen = []

    def own(frame, event, arg):
        seen.append(event)

    with profiler:
        sys.setprofile(own)
        try:
            for _ in range(3000):
                F.add(ones, ones)
            assert sys.getprofile() is own and not stops
        finally:
            sys.setprofile(None)
        until(stops, lambda: F.add(ones, ones))
    assert sys.getprofile() is None


def test_a_compiled_graph_is_not_interrupted(profiler, ones, stops, brief):
    @megengine.jit.trace(symbolic=True)
    def graph(tensor):
        for _ in range(20):
            tensor = F.add(tensor, ones)
        return tensor

    expected = graph(ones).numpy()
    with profiler:
        for _ in range(100):
            assert (graph(ones).numpy() == expected).all()
            assert not stops


def test_what_the_worker_fails_at_is_raised_by_an_operator(profiler, ones, stops, brief):
    with pytest.raises(RuntimeError) as caught, profiler:
        for _ in range(200_000):
            F.add(ones, ones)
            if len(stops) == 2:
                break
        F.reshape(F.nn.relu(F.flatten(ones)), (7, 7))
        for _ in range(200_000):
            F.add(ones, ones)
    names = [entry.frame.f_globals["__name__"] for entry in caught.traceback]
    assert any(name.startswith("megengine.") for name in names)
    assert counts(profiler.trace)["OpDispatch"] > 0


def test_nothing_of_it_is_left_when_a_window_has_ended(profiler, ones, stops, brief):
    for _ in range(3):
        stops.clear()
        with profiler:
            until(stops, lambda: F.add(ones, ones))
        assert sys.getprofile() is None and parts._running is None
