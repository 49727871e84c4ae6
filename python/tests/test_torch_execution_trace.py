# SPDX-License-Identifier: Apache-2.0
"""Execution traces: torch's observer, driven by a profile of opscope."""

import gzip
import json
import warnings

import pytest
from torch_oracle import both_modules

pytestmark = pytest.mark.framework("torch")

SWITCHES = ("ENABLE_PYTORCH_EXECUTION_TRACE", "ENABLE_PYTORCH_EXECUTION_TRACE_EXTRAS")


def payload(record_function, x):
    with record_function("## labelled ##", "1, 2"):
        (x * x).relu().sum().backward()


def nodes_of(path):
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        trace = json.load(file)
    assert trace["schema"].startswith("1.") and trace["pid"] > 0
    nodes = trace["nodes"]
    ids = [node["id"] for node in nodes]
    assert len(set(ids)) == len(ids)
    for node in nodes:
        assert node["ctrl_deps"] in ids, node["name"]
    return nodes


def attribute(node, name):
    return next((each["value"] for each in node["attrs"] if each["name"] == name), None)


def need_the_newer_observer():
    """Which reads the environment, compresses, and has no path before it is registered."""
    import torch.profiler

    if not hasattr(torch.profiler.ExecutionTraceObserver, "build_execution_trace_obs_from_env"):
        pytest.skip("the ExecutionTraceObserver of this torch is an older one")


def recorded_names(nodes):
    return [n["name"] for n in nodes if n["name"] != "[pytorch|profiler|execution_trace|process]"]


def test_its_file_is_that_of_torchs_profiler(tmp_path):
    import torch

    need_the_newer_observer()
    files = []
    for module in both_modules():
        x = torch.ones(3, requires_grad=True)
        path = tmp_path / f"{module.__name__}.json"
        observer = module.ExecutionTraceObserver()
        assert not observer.is_registered and observer.get_output_file_path() is None
        observer = observer.register_callback(str(path))
        assert observer.is_registered and not observer.is_running()
        cpu = [module.ProfilerActivity.CPU]
        with module.profile(activities=cpu, record_shapes=True, execution_trace_observer=observer):
            assert observer.is_running()
            payload(module.record_function, x)
        assert not observer.is_running() and not observer.is_registered
        assert observer.get_output_file_path() == str(path)
        files.append(nodes_of(path))
    theirs, ours = files
    assert "aten::mul" in recorded_names(ours) and "## labelled ##" in recorded_names(ours)
    assert recorded_names(ours) == recorded_names(theirs)
    assert [(n["inputs"]["shapes"], n["inputs"]["types"]) for n in ours] == [
        (n["inputs"]["shapes"], n["inputs"]["types"]) for n in theirs
    ]


def test_a_range_has_one_id_in_both_traces(tmp_path):
    import torch

    import opscope.torch as ours

    x = torch.ones(3, requires_grad=True)
    observer = ours.ExecutionTraceObserver().register_callback(str(tmp_path / "et.json"))
    with ours.profile(execution_trace_observer=observer) as prof:
        payload(ours.record_function, x)
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    in_recording = {e["args"]["Record function id"]: e["name"] for e in events if "External id" in e.get("args", ())}
    in_graph = {}
    for node in nodes_of(tmp_path / "et.json"):
        if attribute(node, "rf_id"):
            in_graph[attribute(node, "rf_id")] = node["name"]
    assert 0 not in in_recording
    assert in_recording == in_graph


def test_without_an_observer_there_are_no_ids(tmp_path):
    import torch

    import opscope.torch as ours

    with ours.profile() as prof:
        torch.ones(3)
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {e["args"]["Record function id"] for e in events if "External id" in e.get("args", ())} == {0}


@pytest.mark.parametrize("side", [0, 1])
def test_it_captures_the_recorded_steps_alone(side, tmp_path):
    import torch

    module = both_modules()[side]
    observer = module.ExecutionTraceObserver().register_callback(str(tmp_path / "et.json"))
    plan = module.schedule(wait=1, warmup=1, active=2, repeat=1)
    running = []
    with module.profile(
        activities=[module.ProfilerActivity.CPU], schedule=plan, execution_trace_observer=observer
    ) as prof:
        for step in range(6):
            running.append(observer.is_running())
            with module.record_function(f"step {step}"):
                torch.ones(2)
            prof.step()
    assert running == [False, False, True, True, False, False]
    labels = [name for name in recorded_names(nodes_of(tmp_path / "et.json")) if name.startswith("step")]
    assert labels == ["step 2", "step 3"]


@pytest.mark.parametrize("extras", ["0", "1"])
@pytest.mark.parametrize("side", [0, 1])
def test_the_environment_asks_for_one(side, extras, monkeypatch, tmp_path):
    import os

    import torch

    module = both_modules()[side]
    need_the_newer_observer()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv(SWITCHES[0], "1")
    monkeypatch.setenv(SWITCHES[1], extras)
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
        torch.ones(2)
        path = prof.execution_trace_observer.get_output_file_path()
    assert path.startswith(str(tmp_path)) and path.endswith(".et.json")
    assert "aten::ones" in recorded_names(nodes_of(path))
    assert os.path.isdir(path[: -len(".json")] + "_resources") == (extras == "1")


@pytest.mark.parametrize("value", ["0", "true", None])
def test_only_a_1_in_the_environment_asks(value, monkeypatch):
    import opscope.torch as ours

    monkeypatch.delenv(SWITCHES[0], raising=False)
    if value is not None:
        monkeypatch.setenv(SWITCHES[0], value)
    assert ours.profile().execution_trace_observer is None


def test_any_object_with_the_three_methods_is_driven():
    class Noting:
        def __init__(self):
            self.calls = []

        def __getattr__(self, name):
            return lambda: self.calls.append(name)

    def calls(module):
        observer = Noting()
        plan = module.schedule(wait=0, warmup=1, active=1, repeat=2)
        cpu = [module.ProfilerActivity.CPU]
        with module.profile(activities=cpu, schedule=plan, execution_trace_observer=observer) as prof:
            for _ in range(5):
                prof.step()
        return observer.calls

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = (calls(module) for module in both_modules())
    assert ours == theirs == ["start", "stop", "start", "stop", "cleanup"]


def test_it_is_stopped_when_the_recording_cannot_start():
    import opscope.torch as ours

    calls = []

    class Noting:
        start = staticmethod(lambda: calls.append("start"))
        stop = staticmethod(lambda: calls.append("stop"))
        cleanup = staticmethod(lambda: calls.append("cleanup"))

    from opscope import _core

    prof = ours.profile(execution_trace_observer=Noting())
    others = [_core.Recording() for _ in range(64)]  # as many as may run at once
    for other in others:
        other.start()
    with pytest.raises(RuntimeError, match="64"):
        prof.start()
    assert calls == ["start", "stop"]
    del others, other
    prof.start()
    prof.stop()
    assert calls == ["start", "stop"] * 2


def test_compressed_output_and_a_second_registration(tmp_path, capsys):
    import torch

    import opscope.torch as ours

    need_the_newer_observer()
    path = str(tmp_path / "et.json.gz")
    observer = ours.ExecutionTraceObserver().register_callback(path)
    observer.register_callback(str(tmp_path / "ignored.json"))
    with ours.profile(execution_trace_observer=observer):
        torch.ones(2)
    assert "aten::ones" in recorded_names(nodes_of(path))
    assert not (tmp_path / "ignored.json").exists()
    assert observer.get_output_file_path() == path
