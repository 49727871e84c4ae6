# SPDX-License-Identifier: Apache-2.0
"""acc_events over cycles, and results that are asked for before, while, after and without a recording.

The original runs the same program beside ours in most tests.
"""

import collections
import gc
import json

import pytest

pytestmark = pytest.mark.framework("torch")

SIDES = ("opscope.torch", "torch.profiler")


def profiler(side):
    import importlib

    return importlib.import_module(side)


def run_cycles(side, steps=14, ops=1, on_ready=None, **options):
    """A program of cycles of two steps: wait, warm up, record two, three times; afterwards the profile."""
    import torch

    module = profiler(side)
    value = torch.ones(4)
    prof = module.profile(
        activities=[module.ProfilerActivity.CPU],
        schedule=module.schedule(wait=1, warmup=1, active=2, repeat=3),
        on_trace_ready=on_ready,
        **options,
    )
    with prof:
        for step in range(steps):
            for _ in range(ops):
                torch.add(value, value).relu_()
            if step == 6:
                prof.seen_while_recording = len(prof.events())
            prof.step()
    return prof


def counted(events):
    return collections.Counter(event.name for event in events)


@pytest.mark.parametrize("side", SIDES)
def test_the_events_of_all_cycles_are_listed(side):
    seen = []
    prof = run_cycles(side, acc_events=True, on_ready=lambda prof: seen.append(len(prof.events())))
    assert seen == [8, 16, 24]
    assert prof.seen_while_recording == 8
    expected = {"ProfilerStep*": 6, "aten::add": 6, "aten::relu_": 6, "aten::clamp_min_": 6}
    assert {name: count for name, count in counted(prof.events()).items() if name in expected} == expected
    assert {row.key: row.count for row in prof.key_averages() if row.key in expected} == expected


def test_cycles_that_nobody_looked_at_are_listed_too():
    prof = run_cycles("opscope.torch", acc_events=True)
    assert sorted(event.trace_name for event in prof.events() if "Step" in event.name) == [
        f"ProfilerStep#{step}" for step in (10, 11, 2, 3, 6, 7)
    ]


def test_averages_over_cycles_are_those_of_the_original():
    ours, theirs = (
        run_cycles(side, acc_events=True, record_shapes=True).key_averages(group_by_input_shape=True) for side in SIDES
    )
    assert [(row.key, row.input_shapes, row.count) for row in ours] == [
        (row.key, row.input_shapes, row.count) for row in theirs
    ]


def test_the_tree_of_every_cycle_is_whole():
    prof = run_cycles("opscope.torch", acc_events=True)
    for step in (event for event in prof.events() if event.name == "ProfilerStep*"):
        assert [child.name for child in step.cpu_children] == ["aten::add", "aten::relu_"]
        assert [child.name for child in step.cpu_children[1].cpu_children] == ["aten::clamp_min_"]


def test_the_list_is_in_order_of_time_over_cycles():
    prof = run_cycles("opscope.torch", acc_events=True)
    starts = [event.time_range.start for event in prof.events()]
    assert starts == sorted(starts)
    assert prof.trace.info["recorded"] == len(prof.trace.spans) == 24
    assert len(prof.trace.tracks) == 1


@pytest.mark.parametrize("side", SIDES)
def test_the_chrome_trace_is_the_last_cycle(side, tmp_path):
    def steps_of(prof):
        path = tmp_path / f"{len(files)}.json"
        prof.events()
        prof.export_chrome_trace(str(path))
        rows = json.loads(path.read_text())["traceEvents"]
        files.append(sorted({row["name"] for row in rows if str(row.get("name", "")).startswith("ProfilerStep")}))

    files = []
    run_cycles(side, acc_events=True, on_ready=steps_of)
    assert files == [[f"ProfilerStep#{step}" for step in pair] for pair in ((2, 3), (6, 7), (10, 11))]


@pytest.mark.parametrize("side", SIDES)
def test_without_acc_events_a_cycle_replaces_the_one_before(side, recwarn):
    seen = []
    prof = run_cycles(side, on_ready=lambda prof: seen.append(len(prof.events())))
    assert seen == [8, 8, 8] and len(prof.events()) == 8
    assert prof.seen_while_recording == 0


def test_acc_events_warns_of_no_clearing(recwarn):
    run_cycles("opscope.torch", acc_events=True)
    assert not [warning for warning in recwarn if "clears events" in str(warning.message)]


def test_start_and_stop_again_adds_a_cycle():
    import torch

    counts = []
    for side in SIDES:
        module = profiler(side)
        prof = module.profile(activities=[module.ProfilerActivity.CPU], acc_events=True)
        for ops in (2, 3, 4):
            prof.start()
            for _ in range(ops):
                torch.ones(2).neg()
            prof.stop()
            counts.append(counted(prof.events())["aten::neg"])
    assert counts == [2, 5, 9] * 2


def test_metadata_of_the_last_cycle_is_that_of_the_joined_recording():
    prof = run_cycles(
        "opscope.torch", acc_events=True, on_ready=lambda prof: prof.add_metadata("step", str(prof.step_num))
    )
    members = dict(zip(prof.trace.metadata.text("key"), prof.trace.metadata.text("json"), strict=True))
    assert json.loads(members["step"]) == "12"
    assert json.loads(members["trace_id"]) == prof.get_trace_id()


def test_a_hundred_cycles_need_no_more_windows_than_one():
    import torch

    import opscope.torch as module

    prof = module.profile(activities=[module.ProfilerActivity.CPU], acc_events=True)
    for _ in range(100):  # a process has 64 windows
        prof.start()
        torch.ones(2).neg()
        prof.stop()
    assert counted(prof.events())["aten::neg"] == 100


@pytest.mark.parametrize("at_cap", ["stop", "keep_newest"])
def test_the_cap_holds_for_all_cycles_together(at_cap):
    limit = 1 << 20
    prof = run_cycles("opscope.torch", ops=5000, acc_events=True, max_bytes=limit, at_cap=at_cap)
    info = prof.trace.info
    assert info["dropped"] > 0
    assert 0 < info["recorded"] * 32 <= 1.5 * limit
    assert info["recorded"] + info["dropped"] == 6 * (5000 * 3 + 1)
    assert "dropped_at_cap" in list(prof.trace.problems.text("kind"))
    steps = [event.trace_name for event in prof.events() if "Step" in event.name]
    assert ("ProfilerStep#11" in steps) == (at_cap == "keep_newest")


def test_dropping_the_profile_gives_the_memory_of_all_cycles_back():
    import opscope.torch  # noqa: F401

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096

    def rounds(count):
        for _ in range(count):
            prof = run_cycles("opscope.torch", ops=2000, acc_events=True)
            assert len(prof.events()) > 6 * 2000
            del prof
            gc.collect()

    rounds(3)
    before = resident()
    rounds(10)
    assert resident() - before < 16 << 20  # one round holds 2 MB of recordings and 6 MB of columns


# ---- results before, while, after, without ------------------------------------------------------------------------


def outcome(question, prof):
    """What it answers, or the class and the words of what it raises."""
    try:
        return question(prof)
    except Exception as error:
        return type(error), str(error)


QUESTIONS = {
    "events": lambda prof: list(prof.events()),
    "key_averages": lambda prof: list(prof.key_averages()),
    "table": lambda prof: prof.key_averages().table(),
    "export_chrome_trace": lambda prof: prof.export_chrome_trace("/nonexistent/trace.json"),
    "export_stacks": lambda prof: prof.export_stacks("/nonexistent/stacks.txt"),
    "get_trace_id": lambda prof: prof.get_trace_id(),
    "_stats": lambda prof: prof._stats(),
    "stop_trace": lambda prof: prof.stop_trace(),
    "start_trace": lambda prof: prof.start_trace(),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_before_the_start_the_answer_is_the_originals(question):
    answers = []
    for side in SIDES:
        module = profiler(side)
        prof = module.profile(activities=[module.ProfilerActivity.CPU])
        answers.append(outcome(QUESTIONS[question], prof))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("question", ["events", "key_averages", "table", "export_stacks"])
def test_while_it_records_the_answer_is_the_originals(question):
    answers = []
    for side in SIDES:
        module = profiler(side)
        with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
            answers.append(outcome(QUESTIONS[question], prof))
    assert answers[0] == answers[1]


def test_an_export_while_it_records_says_so(tmp_path):
    import opscope.torch as module

    path = tmp_path / "trace.json"
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
        with pytest.raises(RuntimeError, match="still running"):
            prof.export_chrome_trace(str(path))
        with pytest.raises(RuntimeError, match="still running"):
            _ = prof.trace
    assert not path.exists()
    prof.export_chrome_trace(str(path))
    assert json.loads(path.read_text())["traceEvents"] is not None


@pytest.mark.parametrize("side", SIDES)
def test_a_window_without_data_has_empty_results(side, tmp_path):
    module = profiler(side)
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
        pass
    assert list(prof.events()) == [] and prof.key_averages().table() == ""
    assert prof.events().total_average().count == 0 and prof.events().self_cpu_time_total == 0
    assert prof.profiler.total_average().key == "Total" and prof.profiler.self_cpu_time_total == 0
    assert str(prof.profiler) == "" and repr(prof.profiler) == "[]"
    assert list(prof.profiler.kineto_results.events()) == []
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"] is not None


@pytest.mark.parametrize("side", SIDES)
def test_a_schedule_that_ends_before_it_records_has_no_results(side):
    import torch

    module = profiler(side)
    ready = []
    with module.profile(
        activities=[module.ProfilerActivity.CPU],
        schedule=module.schedule(wait=1, warmup=5, active=1),
        on_trace_ready=ready.append,
    ) as prof:
        for _ in range(3):
            torch.ones(2).neg()
            prof.step()
    assert ready == [] and list(prof.events()) == []


@pytest.mark.parametrize("side", SIDES)
def test_asking_twice_gives_the_same(side):
    prof = run_cycles(side)
    assert prof.events() is prof.events()
    first, second = prof.key_averages(), prof.key_averages()
    assert first is not second and repr(first) == repr(second)
    assert prof.key_averages().table() == prof.key_averages().table()


# ---- prof.profiler ------------------------------------------------------------------------------------------------


def small_program(module, **options):
    import torch

    value = torch.ones(4, 4)
    with module.profile(activities=[module.ProfilerActivity.CPU], **options) as prof:
        with module.record_function("outer"):
            torch.cat([value, value])
        torch.mm(value, value)
    return prof


KINETO_METHODS = (
    "activity_type concrete_inputs cuda_elapsed_us device_index device_type dtypes external_id extra_meta flops flow_id"
    " flow_start flow_type fwd_thread_id is_async is_hidden_event is_python_function is_user_annotation kwinputs"
    " linked_correlation_id metadata_json name nbytes overload_name privateuse1_elapsed_us python_id python_module_id"
    " python_parent_id scope sequence_nr shapes stack structured_input_shapes structured_input_strides"
).split()


def test_raw_events_have_the_originals_methods_and_values():
    ours, theirs = (
        small_program(profiler(side), record_shapes=True).profiler.kineto_results.events() for side in SIDES
    )
    public = {name for name in dir(theirs[0]) if not name.startswith("_")}
    assert public - set(dir(ours[0])) == set()
    first_id = theirs[0].correlation_id() - 1, ours[0].correlation_id() - 1
    for mine, other in zip(ours, theirs, strict=True):
        own_ids = {"external_id"}  # counted on over the process
        assert {name: getattr(mine, name)() for name in KINETO_METHODS if name not in own_ids} == {
            name: getattr(other, name)() for name in KINETO_METHODS if name not in own_ids
        }
        assert mine.correlation_id() - first_id[1] == other.correlation_id() - first_id[0]
        assert mine.end_ns() - mine.start_ns() == mine.duration_ns() > 0


def test_allocations_are_raw_events_where_they_happened():
    for _ in range(2):  # the first session of a process knows blocks of no earlier one
        ours, theirs = (
            small_program(profiler(side), profile_memory=True).profiler.kineto_results.events() for side in SIDES
        )
    assert [(e.name(), e.nbytes(), e.device_type(), e.scope()) for e in ours] == [
        (e.name(), e.nbytes(), e.device_type(), e.scope()) for e in theirs
    ]
    assert any(e.nbytes() > 0 for e in ours)
    starts = [e.start_ns() for e in ours]
    assert starts == sorted(starts)


def test_raw_times_are_those_of_the_events():
    prof = small_program(profiler("opscope.torch"))
    results = prof.profiler.kineto_results
    for raw, event in zip(results.events(), prof.events(), strict=True):
        assert (raw.start_ns() - results.trace_start_ns()) / 1000 == event.time_range.start
        assert (raw.end_ns() - results.trace_start_ns()) / 1000 == event.time_range.end
    assert results.events()[-1].name() == results.events()[len(results.events()) - 1].name()
    assert [event.name() for event in results.events()[:2]] == ["outer", "aten::cat"]


def test_the_inner_profile_answers_as_the_originals():
    import inspect

    ours, theirs = (small_program(profiler(side), record_shapes=True).profiler for side in SIDES)
    assert str(ours).splitlines()[1] == str(theirs).splitlines()[1]
    assert [row.key for row in ours.key_averages()] == [row.key for row in theirs.key_averages()]
    assert ours.function_events is ours.function_events
    assert ours.total_average().count == theirs.total_average().count
    assert ours.self_cpu_time_total == sum(event.self_cpu_time_total for event in ours.function_events)
    for name in ("table", "key_averages", "total_average", "export_chrome_trace", "export_stacks"):
        mine, other = (inspect.signature(getattr(type(side), name)).parameters.values() for side in (ours, theirs))
        assert [(p.name, p.default) for p in mine] == [(p.name, p.default) for p in other], name
    for name in ("record_shapes", "with_flops", "profile_memory", "with_stack", "use_device", "enabled", "acc_events"):
        assert getattr(ours, name) == getattr(theirs, name), name


def test_the_statistics_are_filled_when_the_events_are():
    for side in SIDES:
        prof = small_program(profiler(side))
        stats = prof._stats()
        assert stats.number_of_events == stats.parse_kineto_call_duration_us == 0
        assert stats.function_events_build_tree_call_duration_us == 0
        prof.events()
        assert stats.number_of_events == len(prof.events())
        assert all(value > 0 for value in vars(stats).values())


def test_the_tree_of_torchs_own_objects_is_refused():
    import opscope.torch as module

    prof = small_program(module)
    with pytest.raises(module.UnsupportedFeature, match="cpu_parent"):
        prof.profiler.kineto_results.experimental_event_tree()
