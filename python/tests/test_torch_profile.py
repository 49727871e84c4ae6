# SPDX-License-Identifier: Apache-2.0
"""The life of a profile: steps, cycles, handlers, metadata, files, beside torch.profiler where it can run."""

import threading
import warnings

import pytest
from torch_oracle import both_modules, schedule_of

pytestmark = pytest.mark.framework("torch")


def run_steps(module, names, steps):
    """What a program sees of a profile: handler calls, actions, warnings, and the events of each cycle."""
    import torch

    from opscope.torch import features

    one = torch.ones(1)
    seen = []

    def ready(prof):
        events = sorted((e.key, e.count) for e in prof.key_averages())
        seen.append(("ready", prof.step_num, prof.current_action.name, events))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with module.profile(schedule=schedule_of(module, names), on_trace_ready=ready) as prof:
            for _ in range(steps):
                one.neg_()
                prof.step()
                seen.append(("step", prof.step_num, prof.current_action.name))
    told = [(w.category, str(w.message)) for w in caught if "clears events" not in str(w.message)]
    names = [e.name for e in prof.events()]
    # Where the cycles before are kept torch lists them last, and here they come first.
    return seen, told, names if features.has("_KinetoProfile(acc_events)") else sorted(names)


N, W, R, S = "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"
SEQUENCES = {
    "one cycle": [N, W, R, S],
    "two cycles back to back": [W, R, S, W, R, S],
    "save every step": [S, S, S],
    "save then record": [S, R, S],
    "record on": [R, R, R, R, R, R],
    "record, then nothing": [R, N, N],
    "warm-up, then nothing": [N, W, N, N],
    "save straight away": [N, S, N, S],
}


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("steps", [1, 2, 4, 5])
def test_steps_do_what_they_do_in_torch(sequence, steps):
    theirs, ours = (run_steps(module, SEQUENCES[sequence], steps) for module in both_modules())
    assert ours == theirs


def test_record_then_warmup_records_the_next_cycle():
    import torch

    import opscope.torch

    cycles = []
    schedule = schedule_of(opscope.torch, [R, W, R, S])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with opscope.torch.profile(schedule=schedule, on_trace_ready=lambda p: cycles.append(len(p.events()))) as prof:
            for _ in range(4):
                torch.ones(1)
                prof.step()
    assert "Incorrect schedule: RECORD followed by WARMUP" in [str(w.message) for w in caught]
    assert len(cycles) == 1 and cycles[0] > 2


def test_stop_during_warmup_keeps_nothing_and_calls_nobody():
    import opscope.torch

    called = []
    prof = opscope.torch.profile(schedule=schedule_of(opscope.torch, [W]), on_trace_ready=called.append)
    prof.start()
    prof.stop()
    assert called == [] and len(prof.events()) == 0


def test_start_twice_is_refused_and_the_recording_goes_on():
    import torch

    import opscope.torch

    for prof in (opscope.torch.profile(), opscope.torch._KinetoProfile()):
        prof.start()
        with pytest.raises(RuntimeError, match="already running"):
            prof.start()
        torch.ones(1)
        prof.stop()
        assert "aten::ones" in [e.name for e in prof.events()]


def test_stop_twice_keeps_the_results():
    import torch

    import opscope.torch

    handled = []
    prof = opscope.torch.profile(on_trace_ready=handled.append)
    prof.start()
    torch.ones(1)
    prof.stop()
    events = prof.events()
    prof.stop()
    assert prof.events() is events and len(events) > 0
    assert len(handled) == 1


def test_stop_ends_what_start_trace_has_begun():
    import torch

    for module in both_modules():
        prof = module._KinetoProfile()
        prof.prepare_trace()
        prof.start_trace()
        torch.ones(2)
        prof.stop()
        assert not torch.autograd.profiler._is_profiler_enabled
        assert "aten::ones" in [event.name for event in prof.events()], module.__name__


def test_start_after_stop_goes_on_with_the_same_step():
    import torch

    import opscope.torch
    from opscope.torch import features

    prof = opscope.torch.profile(schedule=schedule_of(opscope.torch, [R, R], after=R))
    prof.start()
    prof.step()
    prof.stop()
    assert (prof.step_num, prof.current_action.name) == (1, R)
    prof.start()
    torch.ones(1)
    prof.stop()
    assert {"aten::ones", "ProfilerStep*"} <= {e.name for e in prof.events()}
    steps = [e.trace_name for e in prof.events() if e.name == "ProfilerStep*"]
    # A torch without an option to keep earlier cycles always keeps them.
    before = [] if features.has("_KinetoProfile(acc_events)") else ["ProfilerStep#0", "ProfilerStep#1"]
    assert steps == [*before, "ProfilerStep#1"]


def test_steps_outside_a_recording_only_count():
    import opscope.torch

    called = []
    prof = opscope.torch.profile(schedule=schedule_of(opscope.torch, [S, S, S, S]), on_trace_ready=called.append)
    prof.step()
    assert (prof.step_num, called, prof.step_rec_fn) == (1, [], None)
    prof.start()
    assert prof.step_rec_fn is not None
    prof.stop()
    assert prof.step_rec_fn is None and len(called) == 1
    events = prof.events()
    prof.step()
    assert (prof.step_num, len(called)) == (2, 1)
    assert prof.events() is events


def test_a_handler_that_raises_leaves_a_profile_that_can_go_on():
    import torch

    import opscope.torch

    calls = []

    def ready(prof):
        calls.append(prof.step_num)
        if len(calls) == 1:
            raise KeyError("handler")

    prof = opscope.torch.profile(schedule=schedule_of(opscope.torch, [S, S, S, S]), on_trace_ready=ready)
    prof.start()
    with pytest.raises(KeyError):
        prof.step()
    torch.ones(1)
    prof.step()
    prof.stop()
    assert len(calls) == 3


def test_a_schedule_that_raises_leaves_the_step_as_it_was():
    import opscope.torch

    def schedule(step):
        if step == 1:
            raise KeyError("schedule")
        return opscope.torch.ProfilerAction.RECORD

    prof = opscope.torch.profile(schedule=schedule)
    prof.start()
    with pytest.raises(KeyError):
        prof.step()
    assert prof.step_num == 0
    prof.stop()


def test_changing_the_action_map_changes_what_is_done():
    import opscope.torch

    done = []
    prof = opscope.torch.profile()
    prof.action_map[(opscope.torch.ProfilerAction.RECORD, None)].append(lambda: done.append("extra"))
    with prof:
        pass
    assert done == ["extra"]


def test_libraries_can_see_that_something_records():
    import torch

    import opscope.torch

    def flag():
        return torch.autograd.profiler._is_profiler_enabled

    assert not flag()
    first, second = opscope.torch.profile(), opscope.torch.profile()
    first.start()
    second.start()
    first.stop()
    assert flag()
    second.stop()
    assert not flag()
    third = opscope.torch.profile()
    third.start()
    del third
    assert not flag()


def test_two_profiles_on_one_thread_both_complete():
    import torch

    import opscope.torch

    with opscope.torch.profile() as outer:
        torch.ones(1)
        with opscope.torch.profile() as inner:
            torch.zeros(1)
        torch.eye(2)
    assert {"aten::ones", "aten::zeros", "aten::eye"} <= {e.name for e in outer.events()}
    names = {e.name for e in inner.events()}
    assert "aten::zeros" in names and not names & {"aten::ones", "aten::eye"}


def test_two_threads_see_their_own_operators():
    import torch

    import opscope.torch

    barrier = threading.Barrier(2)
    results = {}

    def work(name, operator):
        with opscope.torch.profile() as prof:
            barrier.wait()
            for _ in range(200):
                operator(1)
            barrier.wait()
        results[name] = {e.key: e.count for e in prof.key_averages()}

    threads = [
        threading.Thread(target=work, args=("ones", torch.ones)),
        threading.Thread(target=work, args=("zeros", torch.zeros)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results["ones"]["aten::ones"] == 200 and "aten::zeros" not in results["ones"]
    assert results["zeros"]["aten::zeros"] == 200 and "aten::ones" not in results["zeros"]


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")
def test_profile_all_threads_sees_every_thread():
    import torch

    import opscope.torch

    config = opscope.torch._ExperimentalConfig(profile_all_threads=True)
    ready, go = threading.Event(), threading.Event()

    def work():
        ready.set()
        go.wait()
        torch.eye(3)

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    with opscope.torch.profile(experimental_config=config) as prof:
        go.set()
        thread.join()
    assert "aten::eye" in {e.name for e in prof.events()}


@pytest.mark.torch_has(
    "EventList.key_averages(group_by_overload_name)",
    "FunctionEvent.overload_name",
    "_ExperimentalConfig(capture_overload_names)",
)
def test_overload_names_are_recorded_where_asked():
    import torch

    import opscope.torch

    config = opscope.torch._ExperimentalConfig(capture_overload_names=True)
    for arguments, expected in (({}, {""}), ({"experimental_config": config}, {"Tensor"})):
        with opscope.torch.profile(**arguments) as prof:
            torch.ones(1) + torch.ones(1)
        assert {e.overload_name for e in prof.events() if e.name == "aten::add"} == expected
    assert "Overload Name" in prof.key_averages(group_by_overload_name=True).table()


def test_results_while_recording_are_torchs():
    results = []
    for module in both_modules():
        prof = module.profile()
        prof.start()
        try:
            averages = list(prof.key_averages())
        except RuntimeError as error:
            averages = str(error)
        results.append((list(prof.events() or []), averages))
        prof.stop()
    assert results[0] == results[1]


@pytest.mark.parametrize("fields", [("verbose", "profile_all_threads"), ("profile_all_threads",), ("verbose",)])
def test_fields_of_the_experimental_config_are_found_by_name(fields):
    """Their order differs between versions of torch, and some are not there."""
    from opscope.torch.experimental_config import read_experimental_config

    class Config:
        def __init__(self, **values):
            if set(values) - set(fields):
                raise TypeError("incompatible constructor arguments")
            self.values = values

        def __getstate__(self):
            return tuple(self.values.get(name, False) for name in fields)

    for asked in fields:
        read = read_experimental_config(Config(**{asked: True}))
        assert read.get("profile_all_threads", False) is (asked == "profile_all_threads")
