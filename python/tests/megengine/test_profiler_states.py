# SPDX-License-Identifier: Apache-2.0
"""Profiler and profile: the original's names and signatures, and what each call does in each state."""

import gc
import inspect

import megengine
import megengine.functional as F
import pytest
from megengine.core._imperative_rt import core2
from megengine.utils import profiler as theirs

from opscope.megengine import Profiler, is_profiling, profile
from opscope.megengine import profiler as ours


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    gc.collect()  # profilers that are held in a cycle write where they were made


@pytest.mark.parametrize("name", ["Profiler", "profile", "scope", "merge_trace_events", "is_profiling"])
def test_signatures_are_the_originals(name):
    assert inspect.signature(getattr(ours, name)) == inspect.signature(getattr(theirs, name))


@pytest.mark.parametrize("name", ["__init__", "start", "stop", "step", "dump", "format_path"])
def test_signatures_of_methods_are_the_originals(name):
    assert inspect.signature(getattr(Profiler, name)) == inspect.signature(getattr(theirs.Profiler, name))


def test_options_and_formats_are_the_originals():
    assert Profiler.valid_options == theirs.Profiler.valid_options
    assert Profiler.valid_formats == theirs.Profiler.valid_formats
    assert Profiler.CHROME_TIMELINE == theirs.Profiler.CHROME_TIMELINE


@pytest.mark.parametrize("arguments", [{}, {"path": "a"}, {"formats": ["memory_flow.svg", "chrome_timeline.json"]}])
def test_paths_before_the_start_are_the_originals(arguments):
    mine, original = Profiler(**arguments), theirs.Profiler(**arguments)
    assert (mine.path, mine.directory, mine.formats) == (original.path, original.directory, original.formats)
    assert mine.formats is not mine.formats


def test_a_block_gives_none_and_its_calls_give_what_the_originals_give(tensor):
    profiler = Profiler()
    with profiler as given:
        assert given is None and is_profiling() and theirs.is_profiling()
        assert profiler.step() is profiler
        F.add(tensor, tensor)
    assert not is_profiling()
    assert profiler.start() is profiler
    assert profiler.stop() is None


def refusal(act):
    with pytest.raises(AssertionError) as told:
        act()
    assert str(told.value)
    return str(told.value)


def test_what_the_original_asserts_is_an_assertion_with_words(tensor):
    first, second = Profiler("a"), Profiler("b")
    assert "start() comes before stop()" in refusal(first.stop)
    assert "start() comes before step()" in refusal(first.step)
    first.start()
    assert "already" in refusal(first.start)
    assert "<opscope.megengine.Profiler: " in refusal(second.start)
    assert "start() comes before stop()" in refusal(second.stop)
    F.add(tensor, tensor)
    first.stop()
    refusal(first.stop)
    assert [row["count"] for row in first.trace.summary() if row["name"] == "OpDispatch"] == [1]


def test_each_of_both_refuses_to_start_beside_the_other():
    mine, original = Profiler("a"), theirs.Profiler("b")
    mine.start()
    with pytest.raises(AssertionError):
        original.start()
    mine.stop()
    original.start()
    refusal(mine.start)
    original.stop()
    original._dump_callback = None


def test_formats_are_checked_with_words_and_nothing_else_is_said(capfd):
    assert "chrome_timeline.json" in refusal(lambda: Profiler(format="x"))
    assert "list" in refusal(lambda: Profiler(formats="chrome_timeline.json"))
    refusal(lambda: Profiler(formats=["memory_flow.svg", "x"]))
    assert "Exception ignored" not in capfd.readouterr().err


@pytest.mark.parametrize("value", [-1, 1 << 64])
def test_a_start_that_fails_frees_the_slot(value, tensor):
    with pytest.raises(TypeError, match=f"sample_rate={value}"):
        Profiler(sample_rate=value).start()
    assert not is_profiling()
    with Profiler():
        F.add(tensor, tensor)


def test_options_go_through_int_and_those_without_effect_are_told():
    assert Profiler(sample_rate="3", profile_device=False)._options["sample_rate"] == 3
    with pytest.raises(ValueError):
        Profiler(sample_rate="x")
    with pytest.warns(UserWarning, match="sample_rat"):
        Profiler(sample_rat=3)
    with pytest.raises(ValueError, match="at_cap"):
        Profiler(at_cap="x")


def test_cupti_is_unavailable_as_this_wheel_says(caplog):
    assert not core2.cupti_available()
    logger = megengine.logger.get_logger()
    logger.propagate = True
    try:
        Profiler(enable_cupti=1)
    finally:
        logger.propagate = False
    assert "CuPTI unavailable" in caplog.text


def test_decorators_record_each_call_and_carry_the_profiler(tensor):
    @profile
    def bare():
        return F.add(tensor, tensor)

    @profile("a", formats=["chrome_timeline.json"])
    def called():
        """Its text."""
        return F.add(tensor, tensor)

    assert isinstance(bare.__profiler__, Profiler) and called.__profiler__.directory == "a"
    assert called.__name__ == "called" and called.__doc__ == "Its text."
    assert called().numpy().tolist() == [2.0, 4.0]
    bare()
    assert "OpDispatch" in bare.__profiler__.trace.spans.text("name")


def test_a_function_that_calls_itself_is_refused_and_recorded_as_far_as_it_came(tensor):
    @profile()
    def again(depth):
        F.add(tensor, tensor)
        return again(depth - 1) if depth else 0

    refusal(lambda: again(2))
    assert not is_profiling()
    assert [row["count"] for row in again.__profiler__.trace.summary() if row["name"] == "OpDispatch"] == [1]


def test_an_exception_leaves_the_block_and_the_window_is_there(tensor):
    profiler = Profiler()
    with pytest.raises(KeyError), profiler:
        F.add(tensor, tensor)
        raise KeyError("mine")
    assert not is_profiling()
    assert "OpDispatch" in profiler.trace.spans.text("name")


def test_the_last_window_is_what_is_held(tensor):
    profiler = Profiler()
    for number in range(3):
        with profiler, ours.scope(f"window {number}"):
            F.add(tensor, tensor)
    names = set(profiler.trace.spans.text("name"))
    assert names & {"window 0", "window 1", "window 2"} == {"window 2"}


def test_a_result_before_the_first_window_is_refused_in_words():
    with pytest.raises(RuntimeError, match="start\\(\\) comes before"):
        _ = Profiler().trace


def test_save_writes_opscope_and_nothing_else(tensor, tmp_path):
    import opscope

    profiler = Profiler()
    with profiler:
        F.add(tensor, tensor)
    profiler.save("window.opscope")
    assert opscope.open("window.opscope").summary() == profiler.trace.summary()
    with pytest.raises(ValueError, match="save\\(\\) writes .opscope"):
        profiler.save("window.json")


def test_backtraces_are_asked_for_and_the_switch_is_put_back(tensor):
    profiler = Profiler(with_backtrace=True)
    with profiler:
        F.add(tensor, tensor)
    profiler.dump()
    assert "test_profiler_states.py" in open(profiler.path).read()
    assert core2.set_python_backtrace_enabled(False) is False
