# SPDX-License-Identifier: Apache-2.0
"""Schedules: opscope.torch.schedule against torch.profiler.schedule, and what happens between steps."""

import itertools
import warnings

import pytest

pytestmark = pytest.mark.framework("torch")

KEYS = ("wait", "warmup", "active", "repeat", "skip_first", "skip_first_wait")


def both(**arguments):
    import torch.profiler

    import opscope.torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.profiler.schedule(**arguments), opscope.torch.schedule(**arguments)


@pytest.mark.torch_has("schedule(skip_first_wait)")
def test_every_step_has_the_action_that_torch_gives_it():
    for values in itertools.product((0, 1, 3), (0, 1, 2), (1, 2, 3), (0, 1, 2), (0, 1, 4), (0, 1)):
        theirs, ours = both(**dict(zip(KEYS, values, strict=False)))
        for step in range(40):
            assert ours(step).name == theirs(step).name, (values, step)


def test_steps_far_away_have_the_action_that_torch_gives_them():
    theirs, ours = both(wait=10**6, warmup=7, active=3, repeat=0, skip_first=5)
    for step in (10**6, 10**9 + 17, 10**12 + 5):
        assert ours(step).name == theirs(step).name


@pytest.mark.parametrize(
    "wrong", [{"wait": -1}, {"warmup": -1}, {"active": 0}, {"active": -2}, {"repeat": -1}, {"skip_first": -1}]
)
def test_wrong_arguments_raise_what_torch_raises(wrong):
    import torch.profiler

    import opscope.torch
    from opscope.torch import features

    arguments = {"wait": 1, "warmup": 1, "active": 1} | wrong
    raised = []
    for module in (torch.profiler, opscope.torch):
        with pytest.raises(AssertionError) as error:
            module.schedule(**arguments)
        raised.append(str(error.value))
    assert raised[1].startswith(raised[0])  # older releases say less
    if features.behaves("asserts_with_message"):
        assert raised[0] == raised[1]


def test_a_negative_step_raises_what_torch_raises():
    from opscope.torch import features

    raised = []
    for schedule in both(wait=1, warmup=1, active=1):
        with pytest.raises(AssertionError) as error:
            schedule(-1)
        raised.append(str(error.value))
    assert raised[1].startswith(raised[0])  # older releases say less
    if features.behaves("asserts_with_message"):
        assert raised[0] == raised[1]


def test_no_warmup_warns_in_torchs_words_at_the_callers_line():
    import torch.profiler

    import opscope.torch
    from opscope.torch import features

    told = []
    for module in (torch.profiler, opscope.torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module.schedule(wait=1, warmup=0, active=1)
        told.append([(w.category, str(w.message), w.filename) for w in caught])
    assert told[1][0][2] == __file__
    assert [row[:2] for row in told[0]] == [row[:2] for row in told[1]]
    if features.behaves("attributes_warnings_to_caller"):
        assert told[0] == told[1]


def test_the_action_map_is_torchs_but_for_record_then_warmup():
    import torch.profiler

    import opscope.torch

    def named(prof):
        return {
            (a.name, b and b.name): [getattr(act, "__name__", "warning") for act in acts]
            for (a, b), acts in prof.action_map.items()
            if "DEVICE_STOPPED" not in (a.name, b and b.name)
        }

    theirs, ours = named(torch.profiler.profile()), named(opscope.torch.profile())
    theirs[("RECORD", "WARMUP")].append("prepare_trace")  # the original crashes at the next RECORD
    assert ours.pop(("NONE", None)) == []
    assert ours == theirs


def test_a_schedule_by_time_records_one_step_per_interval():
    import examples_path  # noqa: F401
    from torch_interval_schedule import every

    now = [0.0]
    schedule = every(10, clock=lambda: now[0])
    actions = []
    for second in range(0, 40, 4):
        now[0] = second
        actions.append(schedule(second).name)
    recorded = [i for i, name in enumerate(actions) if name == "RECORD_AND_SAVE"]
    assert recorded == [0, 3, 6, 9]
    assert {name for i, name in enumerate(actions) if i not in recorded} == {"NONE"}


def test_steps_are_reported_to_kineto_where_torch_reports_them(monkeypatch):
    import torch.profiler

    import opscope.torch

    def told(module):
        before = torch.profiler.KinetoStepTracker.current_step()
        with module.profile(schedule=module.schedule(wait=1, warmup=1, active=1)) as prof:
            for _ in range(5):
                prof.step()
        return torch.profiler.KinetoStepTracker.current_step() - before

    for daemon in ("", "1"):
        monkeypatch.setenv("KINETO_USE_DAEMON", daemon)
        theirs = told(torch.profiler)
        assert told(opscope.torch) == theirs
    assert theirs == 5
