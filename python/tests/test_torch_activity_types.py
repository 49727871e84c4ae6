# SPDX-License-Identifier: Apache-2.0
"""``activities=[{ProfilerActivity.CPU: [...]}]``: the types choose what the trace file has, as in torch."""

import collections
import json

import pytest
from torch_oracle import decodable

pytestmark = pytest.mark.framework("torch")

SIDES = ("opscope.torch", "torch.profiler")
WHERE_NAMED = ("opscope.torch", pytest.param(SIDES[1], marks=pytest.mark.torch_has("LegacyProfile(activity_filters)")))


def module_named(name):
    return pytest.importorskip(name)


def recorded(module, types, **options):
    import torch

    value = torch.ones(3, requires_grad=True)
    with module.profile(activities=[{module.ProfilerActivity.CPU: types}], profile_memory=True, **options) as prof:
        with module.record_function("range"):
            (value * 2).sum().backward()
    return prof


def rows_of_file(prof, folder):
    prof.export_chrome_trace(str(folder / "x.json"))
    return json.loads((folder / "x.json").read_text())["traceEvents"]


@pytest.mark.torch_has("FunctionEvent.activity_type")
@pytest.mark.parametrize(
    "types",
    [
        [],
        ["CPU_OP"],
        ["USER_ANNOTATION"],
        ["CPU_INSTANT_EVENT"],
        ["PYTHON_FUNCTION"],
        ["CPU_OP", "USER_ANNOTATION"],
        ["EXTERNAL_CORRELATION", "XPU_DRIVER"],
    ],
    ids="-".join,
)
def test_the_file_has_the_types_that_were_named(types, tmp_path):
    found = []
    for side in SIDES:
        prof = recorded(module_named(side), types)
        rows = rows_of_file(prof, tmp_path)
        kinds = collections.Counter(
            row.get("cat") for row in rows if row["ph"] in "Xsf" or "Bytes" in row.get("args", {})
        )
        numbers = [(row["name"], row["args"]["Ev Idx"]) for row in rows if row.get("cat") == "cpu_op"]
        events = collections.Counter(event.name for event in prof.events())
        raw = collections.Counter(event.activity_type() for event in prof.profiler.kineto_results.events())
        found.append((kinds, numbers, events, raw))
    assert found[0] == found[1]
    assert found[0][2]["aten::mul"] > 0 and found[0][3]["cpu_instant_event"] > 0


@pytest.mark.torch_has("FunctionEvent.activity_type")
def test_calls_of_python_are_a_type_too(tmp_path):
    for side in SIDES:
        prof = decodable(lambda side=side: recorded(module_named(side), ["PYTHON_FUNCTION"], with_stack=True))
        kinds = {row.get("cat") for row in rows_of_file(prof, tmp_path) if row["ph"] == "X"}
        assert kinds == {"python_function", "Trace"}
        assert {event.activity_type for event in prof.events()} >= {"cpu_op", "python_function", "user_annotation"}


@pytest.mark.parametrize("side", WHERE_NAMED)
@pytest.mark.parametrize("name", ["KERNEL", "cpu_op", ""])
def test_a_name_that_is_none_is_refused_at_the_start(side, name):
    module = module_named(side)
    prof = module.profile(activities=[{module.ProfilerActivity.CPU: ["CPU_OP", name]}])
    with pytest.raises(RuntimeError, match=f"^Unknown or non-member activity type name: '{name}'$"):
        prof.start()


@pytest.mark.parametrize("side", WHERE_NAMED)
def test_what_cannot_be_a_selection_is_refused_as_there(side):
    module = module_named(side)
    cpu = module.ProfilerActivity.CPU
    with pytest.raises(ValueError, match="specified more than once"):
        module.profile(activities=[cpu, {cpu: []}])
    if not hasattr(module, "ProfilerActivityConfig"):
        with pytest.raises(TypeError):
            module.profile(activities=[{cpu: None}])
    for wrong in ([1], 5):
        with pytest.raises(TypeError):
            module.profile(activities=[{cpu: wrong}]).start()
    with pytest.raises(AssertionError, match="No activities specified for the profiler"):
        module.profile(activities=[{"CPU": ["CPU_OP"]}]).start()


def test_what_was_chosen_can_be_asked_and_set_again(tmp_path):
    answers = []
    for side in SIDES:
        module = module_named(side)
        if not any(hasattr(module._KinetoProfile(), name) for name in ("activity_filters", "activity_configs")):
            pytest.skip("this torch has no choice")
        cpu, config = module.ProfilerActivity.CPU, getattr(module, "ProfilerActivityConfig", None)
        whole = [recorded(module, None), recorded(module, config())] if config else []
        some = [recorded(module, value) for value in ([["CPU_OP"]] + ([config(["CPU_OP"])] if config else []))]
        files = [{row.get("cat") for row in rows_of_file(prof, tmp_path) if row["ph"] == "X"} for prof in whole + some]
        chosen = [getattr(prof, "activity_configs" if config else "activity_filters") for prof in whole + some]
        prof = module.profile(activities=[{cpu: []}])
        setattr(prof, "activity_configs" if config else "activity_filters", chosen[-1])
        with prof:
            with module.record_function("range"):
                pass
        files.append({row.get("cat") for row in rows_of_file(prof, tmp_path) if row["ph"] == "X"})
        answers.append((files, chosen, hasattr(prof, "activity_filters")))
    assert answers[0] == answers[1]


def test_the_recording_has_everything(tmp_path):
    prof = recorded(module_named("opscope.torch"), [])
    assert len(prof.trace.spans) > 0
    prof.trace.export(tmp_path / "whole.json", to="chrome")
    assert "aten::mul" in (tmp_path / "whole.json").read_text()


@pytest.mark.torch_has("LegacyProfile(activity_filters)")
@pytest.mark.parametrize("side", WHERE_NAMED)
def test_the_profile_of_autograd_takes_them_as_filters(side, tmp_path):
    import torch

    module = module_named(side)
    kind = torch.autograd.profiler.profile if side == "torch.profiler" else module.autograd_profiler.profile
    with kind(use_kineto=True, activity_filters={module.ProfilerActivity.CPU: {"USER_ANNOTATION"}}) as prof:
        with module.record_function("range"):
            torch.ones(2)
    assert {row.get("cat") for row in rows_of_file(prof, tmp_path) if row["ph"] == "X"} == {"user_annotation", "Trace"}
