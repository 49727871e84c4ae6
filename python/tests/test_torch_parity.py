# SPDX-License-Identifier: Apache-2.0
"""opscope.torch and torch.profiler active at once around the same run: the same events, range for range.

The exceptions, with their causes, are listed in docs/reference/torch_parity.md.
"""

import collections

import pytest

pytestmark = [pytest.mark.framework("torch"), pytest.mark.usefixtures("one_kernel_thread")]


COMPARED = (
    "name trace_name overload_name scope is_user_annotation is_async input_shapes structured_input_shapes"
    " structured_input_strides input_dtypes concrete_inputs sequence_nr thread fwd_thread device_type"
    " device_index device_resource_id count node_id"
).split()


def run_under_both(program, **arguments):
    """(torch's events, our events, torch's profile, ours); ours starts last and stops first."""
    import torch.profiler

    import opscope.torch

    theirs = torch.profiler.profile(record_shapes=True, **arguments)
    ours = opscope.torch.profile(record_shapes=True, **arguments)
    theirs.start()
    ours.start()
    program()
    ours.stop()
    theirs.stop()
    return theirs, ours


def depth(event):
    found = 0
    while event.cpu_parent is not None:
        event = event.cpu_parent
        found += 1
    return found


@pytest.mark.parametrize("name", ["resnet18", "transformer", "mlp"])
def test_both_saw_the_same_events(name):
    from torch_programs import PROGRAMS

    theirs, ours = run_under_both(PROGRAMS[name]())
    assert len(ours.events()) == len(theirs.events()) > 50
    for expected, event in zip(theirs.events(), ours.events(), strict=True):
        for attribute in (name for name in COMPARED if hasattr(expected, name)):
            assert getattr(event, attribute) == getattr(expected, attribute), (expected.name, attribute)
        assert depth(event) == depth(expected), expected.name
        assert [c.name for c in event.cpu_children] == [c.name for c in expected.cpu_children]


@pytest.mark.parametrize("name", ["resnet18", "transformer"])
def test_both_have_the_same_averages(name):
    from torch_programs import PROGRAMS

    theirs, ours = run_under_both(PROGRAMS[name]())
    for by_shape in (False, True):
        rows = [
            [(row.key, row.count, str(row.input_shapes)) for row in prof.key_averages(group_by_input_shape=by_shape)]
            for prof in (theirs, ours)
        ]
        assert rows[0] == rows[1]
        titles = [prof.key_averages(group_by_input_shape=by_shape).table().splitlines()[1] for prof in (theirs, ours)]
        assert titles[0] == titles[1]


@pytest.mark.torch_has("FunctionEvent.flow_start")
def test_both_link_forward_and_backward_alike():
    from torch_programs import PROGRAMS

    theirs, ours = run_under_both(PROGRAMS["resnet18"]())
    links = [[(e.name, e.flow_type, e.flow_start) for e in prof.events() if e.flow_type] for prof in (theirs, ours)]
    assert len(links[0]) > 50
    assert links[0] == links[1]


def test_steps_of_a_schedule_are_the_same():
    import torch.profiler
    from torch_programs import PROGRAMS

    import opscope.torch
    from opscope.torch import features

    run = PROGRAMS["mlp"]()
    seen = []

    def ready(prof):
        seen.append([(e.name, e.trace_name, depth(e)) for e in prof.events()])

    def profile_with(module):
        schedule = module.schedule(wait=1, warmup=1, active=2, repeat=2)
        return module.profile(schedule=schedule, on_trace_ready=ready)

    # One after the other, because each sees the other's ProfilerStep ranges.
    for module in (torch.profiler, opscope.torch):
        with profile_with(module) as prof:
            for _ in range(9):
                run()
                prof.step()
    assert len(seen) == 4
    first, second = ["ProfilerStep#2", "ProfilerStep#3"], ["ProfilerStep#6", "ProfilerStep#7"]
    if not features.has("_KinetoProfile(acc_events)"):  # keeps the cycle before, and lists it last
        seen, second = [sorted(events) for events in seen], first + second
    assert seen[2:] == seen[:2]
    steps = [[trace for name, trace, _ in cycle if name == "ProfilerStep*"] for cycle in seen[2:]]
    assert steps == [first, second]


def test_the_rare_operators_differ_only_where_the_list_says():
    from torch_programs import PROGRAMS

    theirs, ours = run_under_both(PROGRAMS["odd"]())
    names = [collections.Counter(e.name for e in prof.events()) for prof in (theirs, ours)]
    assert names[0] == names[1]


def test_our_profile_works_before_while_and_after_torchs_own():
    import torch
    import torch.profiler

    import opscope.torch

    def names(prof):
        return [e.name for e in prof.events()]

    def work():
        torch.ones(1)

    alone = []
    for _ in range(2):
        with opscope.torch.profile() as prof:
            work()
        alone.append(names(prof))
        with torch.profiler.profile() as theirs:
            work()
            with opscope.torch.profile() as inner:
                work()
            work()
        assert names(theirs).count("aten::ones") == 3
        assert names(inner) == alone[0]
    assert alone[0] == alone[1] and "aten::ones" in alone[0]


def test_a_live_export_of_torch_gives_torchs_table(tmp_path):
    import torch.profiler
    from torch_programs import PROGRAMS

    import opscope
    from opscope import _core
    from opscope.torch.events import unfilled_events

    run = PROGRAMS["transformer"]()
    with torch.profiler.profile(record_shapes=True) as prof:
        run()
    path = str(tmp_path / "torch.json")
    prof.export_chrome_trace(path)
    events = unfilled_events(_core.torch.FunctionEvents(opscope.open(path)._core, use_device=""))
    for by_shape in (False, True):
        for sort_by in (None, "cpu_time_total", "self_cpu_time_total", "cpu_time", "count"):
            ours = events.key_averages(group_by_input_shapes=by_shape).table(sort_by=sort_by, row_limit=-1)
            theirs = prof.key_averages(group_by_input_shape=by_shape).table(sort_by=sort_by, row_limit=-1)
            assert ours == theirs


@pytest.mark.parametrize("name", ["resnet18", "mlp"])
def test_saved_and_opened_again_gives_the_same_table(name, tmp_path):
    from torch_programs import PROGRAMS

    import opscope
    import opscope.torch
    from opscope import _core
    from opscope.torch.events import unfilled_events

    run = PROGRAMS[name]()
    with opscope.torch.profile(record_shapes=True) as prof:
        run()
    expected = prof.key_averages(group_by_input_shape=True).table(row_limit=-1)
    for path, write in (("x.opscope", prof.save), ("x.json", prof.export_chrome_trace)):
        write(str(tmp_path / path))
        trace = opscope.open(str(tmp_path / path))
        events = unfilled_events(_core.torch.FunctionEvents(trace._core, use_device=""))
        assert events.key_averages(group_by_input_shapes=True).table(row_limit=-1) == expected, path
