# SPDX-License-Identifier: Apache-2.0
"""Every field of torch's _ExperimentalConfig has its effect, or is refused by name."""

import contextlib
import decimal
import json
import pickle
import threading
import warnings

import pytest
from torch_oracle import decodable

pytestmark = pytest.mark.framework("torch")

REFUSED = {
    "profiler_metrics": ["kineto__tensor_core_insts"],
    "performance_events": ["cycles"],
    "custom_profiler_config": "x",
}
# What they change are the events of devices; a recording of the CPU is the same with and without, in torch too.
OF_DEVICES = {
    "profiler_measure_per_kernel": True,
    "enable_cuda_sync_events": True,
    "disable_external_correlation": True,
    "adjust_timestamps": True,
}
# With Python frames only.
OF_STACKS = {"verbose": True, "adjust_profiler_step": True, "record_python_gc_info": True}
HONOURED = {
    "profile_all_threads": True,
    "capture_overload_names": True,
    "expose_kineto_event_metadata": True,
    "trace_only": True,
}


def recorded(module, **fields):
    import torch

    config = module._ExperimentalConfig(**fields)
    with module.profile(activities=[module.ProfilerActivity.CPU], experimental_config=config) as prof:
        with module.record_function("range"):
            torch.ones(2).add(1.0)
        thread = threading.Thread(target=torch.eye, args=(2,))
        thread.start()
        thread.join()
    return prof


def field_names():
    """Those of the installed torch, from the signature that its constructor prints."""
    import re

    import torch

    text = torch._C._profiler._ExperimentalConfig.__init__.__doc__
    return re.findall(r"(\w+): ", text.partition(",")[2])


def test_every_field_of_the_installed_torch_is_in_a_list_of_this_test():
    from opscope.torch import features

    names = field_names()
    assert "verbose" in names
    listed = {*REFUSED, *OF_DEVICES, *OF_STACKS, *HONOURED}
    assert set(names) == {name for name in listed if features.has(f"_ExperimentalConfig({name})")}


def fields(names):
    """Those that the installed torch has."""
    return [pytest.param(name, marks=pytest.mark.torch_has(f"_ExperimentalConfig({name})")) for name in names]


@pytest.mark.parametrize("name", fields(REFUSED))
def test_what_nothing_collects_is_refused_by_name(name):
    import opscope.torch as ours

    with pytest.raises(ours.UnsupportedFeature, match=f"experimental_config with {name} .*use torch.profiler with"):
        ours.profile(experimental_config=ours._ExperimentalConfig(**{name: REFUSED[name]}))


@pytest.mark.parametrize("name", fields([*OF_DEVICES, *OF_STACKS]))
def test_what_only_devices_and_frames_show_leaves_operators_as_they_are(name):
    import torch.profiler as theirs

    import opscope.torch as ours

    def names(module, **fields):
        return [event.name for event in recorded(module, **fields).events()]

    asked = {**OF_DEVICES, **OF_STACKS}[name]
    assert names(ours, **{name: asked}) == names(theirs, **{name: asked}) == names(ours)


@pytest.mark.torch_has(
    "FunctionEvent.overload_name",
    "_ExperimentalConfig(capture_overload_names)",
    "_ExperimentalConfig(profile_all_threads)",
)
def test_all_threads_and_overload_names_are_recorded():
    import opscope.torch as ours

    assert "aten::eye" in {event.name for event in recorded(ours, profile_all_threads=True).events()}
    assert "aten::eye" not in {event.name for event in recorded(ours).events()}
    overloads = {e.overload_name for e in recorded(ours, capture_overload_names=True).events() if e.name == "aten::add"}
    assert overloads == {"Tensor"}


def metadata_of(prof):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return [event.metadata_json for event in prof.events()]


@pytest.mark.torch_has(
    "FunctionEvent.metadata_json",
    "_ExperimentalConfig(expose_kineto_event_metadata)",
    "_ExperimentalConfig(profile_all_threads)",
)
def test_event_metadata_is_what_the_trace_file_says(tmp_path):
    import torch.profiler as theirs

    import opscope.torch as ours
    from opscope.torch import features

    prof = recorded(ours, expose_kineto_event_metadata=True, profile_all_threads=True)
    prof.export_chrome_trace(str(tmp_path / "x.json"))
    spans = [e for e in json.loads((tmp_path / "x.json").read_text())["traceEvents"] if "Ev Idx" in e.get("args", {})]
    in_file = {(e["name"], e["args"]["Ev Idx"]) for e in spans}
    in_events = {
        (event.trace_name, json.loads("{" + text + "}")["Ev Idx"])
        for event, text in zip(prof.events(), metadata_of(prof), strict=True)
    }
    assert in_events <= in_file and len(in_events) == len(prof.events())
    assert metadata_of(recorded(ours, expose_kineto_event_metadata=True)) == metadata_of(
        recorded(theirs, expose_kineto_event_metadata=True)
    )
    kept = pickle.loads(pickle.dumps(prof.events()))
    warns = features.behaves("deprecates_metadata_json")
    with pytest.warns(FutureWarning) if warns else contextlib.nullcontext():
        assert kept[0].metadata_json == metadata_of(prof)[0]


@pytest.mark.torch_has("FunctionEvent.metadata_json")
def test_without_being_asked_events_have_no_metadata():
    import torch.profiler as theirs

    import opscope.torch as ours

    assert set(metadata_of(recorded(ours))) == set(metadata_of(recorded(theirs))) == {""}


@pytest.mark.torch_has("_ExperimentalConfig(trace_only)")
def test_trace_only_may_be_set_after_the_recording():
    import opscope.torch as ours

    prof = recorded(ours)
    assert len(prof.events()) > 0
    prof.experimental_config.trace_only = True
    for ask in (prof.events, prof.key_averages):
        with pytest.raises(RuntimeError, match="not available when trace_only=True"):
            ask()


def frames_around_steps(module, folder, **fields):
    """For each step the frames that cross it, and the last function among those that it lies in."""
    import torch

    config = module._ExperimentalConfig(**fields)
    plan = module.schedule(wait=0, warmup=0, active=3, repeat=1)
    arguments = {"activities": [module.ProfilerActivity.CPU], "schedule": plan, "with_stack": True}

    def record():
        with module.profile(experimental_config=config, **arguments) as prof:
            for _ in range(3):
                torch.ones(2).add(1.0)
                prof.step()
        return prof

    prof = decodable(record)
    prof.export_chrome_trace(str(folder / "x.json"))
    # Exact: a double has no thousandths of so many microseconds.
    events = json.loads((folder / "x.json").read_text(), parse_float=decimal.Decimal)["traceEvents"]
    steps = [e for e in events if e["name"].startswith("ProfilerStep#") and e["cat"] == "user_annotation"]
    calls = [e for e in events if e.get("cat") == "python_function"]
    found = []
    for step in sorted(steps, key=lambda event: event["ts"]):
        begin, end = step["ts"], step["ts"] + step["dur"]
        around = [e for e in calls if e["ts"] < begin and e["ts"] + e["dur"] >= end]
        crossing = [e for e in calls if begin < e["ts"] < end < e["ts"] + e["dur"]]
        innermost = max(around, key=lambda event: event["ts"])
        found.append((innermost["name"].rpartition(" ")[2], len(crossing) > 0, round((begin - innermost["ts"]) * 1000)))
    steps = [event for event in prof.events() if event.name == "ProfilerStep*"]
    parents = [step.cpu_parent and step.cpu_parent.name.rpartition(" ")[2] for step in steps]
    return found, parents


@pytest.mark.torch_has("_ExperimentalConfig(adjust_profiler_step)")
def test_adjusted_steps_begin_in_the_call_that_ends_them(tmp_path):
    import torch.profiler as theirs

    import opscope.torch as ours
    from opscope.torch import features

    if features.behaves("ignores_adjust_profiler_step"):
        pytest.skip("this torch ignores what was asked")

    expected = frames_around_steps(theirs, tmp_path, adjust_profiler_step=True)
    found = frames_around_steps(ours, tmp_path, adjust_profiler_step=True)
    listed_in = "step" if features.has("KinetoEvent.is_python_function") else None
    assert expected == ([("step", True, 1)] * 3, [listed_in] * 3)
    assert found == expected
    plain, parents = frames_around_steps(ours, tmp_path)
    assert not {"step"} & {name for name, _, _ in plain} and "step" not in parents


@pytest.mark.torch_has("_ExperimentalConfig(trace_only)")
def test_trace_only_beside_stacks_warns_and_is_left_out():
    import torch.profiler as theirs

    import opscope.torch as ours

    for module in (theirs, ours):
        config = module._ExperimentalConfig(trace_only=True)
        with pytest.warns(UserWarning, match="trace_only=True is incompatible with with_stack=True"):
            prof = module.profile(activities=[module.ProfilerActivity.CPU], with_stack=True, experimental_config=config)
        assert config.trace_only and not prof.experimental_config.trace_only
        with prof:
            pass
        assert len(prof.events()) > 0


@pytest.mark.torch_has("LegacyProfile(activity_filters)")
def test_what_is_no_activity_is_refused_as_by_torch():
    import torch.profiler as theirs

    import opscope.torch as ours

    cpu = theirs.ProfilerActivity.CPU
    for activities in ([1], [], [cpu, 1], [cpu, cpu]):
        refused = []
        for module in (theirs, ours):
            with pytest.raises((AssertionError, TypeError, ValueError)) as raised:
                module.profile(activities=activities)
            refused.append((raised.type, str(raised.value)))
        assert refused[0] == refused[1], activities


@pytest.mark.torch_has("_ExperimentalConfig(trace_only)")
def test_what_is_no_config_is_refused_as_by_torch():
    import torch.profiler as theirs

    import opscope.torch as ours

    for module in (theirs, ours):
        with pytest.raises(AttributeError, match="'int' object has no attribute 'trace_only'"):
            module.profile(activities=[module.ProfilerActivity.CPU], experimental_config=5, with_stack=True)
        with pytest.raises(AttributeError, match="^'FunctionEvent' object has no attribute 'nope'$"):
            with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
                import torch

                torch.ones(2)
            prof.events().table(sort_by="nope")
