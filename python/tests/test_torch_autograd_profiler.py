# SPDX-License-Identifier: Apache-2.0
"""opscope.torch.autograd_profiler beside torch.autograd.profiler: legacy arguments, results, errors and words."""

import gc
import inspect
import json
import warnings

import pytest

pytestmark = pytest.mark.framework("torch")
TOGGLES = pytest.mark.torch_has("LegacyProfile.toggle_collection_dynamic")

ADDED = {"record_to", "max_bytes", "at_cap", "corrected"}


def both():
    import torch.autograd.profiler

    import opscope.torch

    return torch.autograd.profiler, opscope.torch.autograd_profiler


def work():
    import torch

    x = torch.ones(3, 3, requires_grad=True)
    (x @ x).sum().backward()


def finished(module, **arguments):
    gc.collect()  # else an earlier test's tensors may be freed within the window
    with module.profile(**arguments) as prof:
        work()
    return prof


def outcome(act, *arguments):
    """The exception (class and words) or None, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            act(*arguments)
            error = None
        except Exception as raised:  # noqa: BLE001 - the class is what is compared
            error = (type(raised), str(raised))
    return error, [(w.category, str(w.message)) for w in caught]


def test_every_public_name_is_there_and_no_other_is_lost():
    theirs, ours = both()
    assert sorted(ours.__all__) == sorted(theirs.__all__)
    for name in dir(theirs):
        assert hasattr(ours, name), name
    assert ours._is_profiler_enabled is False
    with ours.profile():
        assert ours._is_profiler_enabled is theirs._is_profiler_enabled is True


@pytest.mark.parametrize("name", ["profile", "profile.table", "profile.export_chrome_trace", "profile.export_stacks"])
@pytest.mark.parametrize(
    "more",
    ["", ".key_averages", ".total_average", pytest.param(".toggle_collection_dynamic", marks=TOGGLES), ".config"],
)
def test_parameters_are_torchs(name, more):
    def parameters(module):
        found = module
        for part in (name + more).split(".")[:2]:
            found = getattr(found, part)
        return [(p.name, p.kind, p.default) for p in inspect.signature(found).parameters.values()]

    theirs, ours = (parameters(module) for module in both())
    assert [p for p in ours if p[0] not in ADDED] == theirs


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"use_kineto": True},
        {"use_cpu": True, "use_kineto": True},
        {"record_shapes": True},
        {"with_flops": True},
        # Before, torch finds the allocations of an operator by rounded times: one may stand beside it, by chance.
        pytest.param({"profile_memory": True}, marks=pytest.mark.torch_has("MemRecordsAcc.in_interval(start_ns)")),
    ],
    ids=str,
)
def test_results_are_torchs(arguments):
    finished(both()[0], **arguments)  # allocations of a first window differ
    theirs, ours = (finished(module, **arguments) for module in both())
    assert [e.name for e in ours.function_events] == [e.name for e in theirs.function_events]
    assert [(a.key, a.count, a.cpu_memory_usage) for a in ours.key_averages()] == [
        (a.key, a.count, a.cpu_memory_usage) for a in theirs.key_averages()
    ]
    assert [a.input_shapes for a in ours.key_averages(group_by_input_shape=True)] == [
        a.input_shapes for a in theirs.key_averages(group_by_input_shape=True)
    ]
    columns = [row.split() for row in (theirs.table().splitlines()[1], ours.table().splitlines()[1])]
    assert columns[0] == columns[1]
    assert ours.total_average().count == theirs.total_average().count
    assert ours.self_cpu_time_total > 0
    assert getattr(ours, "use_cuda", None) == getattr(theirs, "use_cuda", None)
    for name in ("enabled", "entered", "use_device", "record_shapes", "with_flops", "profile_memory"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("with_stack", "with_modules", "use_cpu", "acc_events", "kineto_activities", "activity_filters"):
        if hasattr(theirs, name):
            assert getattr(ours, name) == getattr(theirs, name), name
    if hasattr(theirs, "trace_id"):
        assert len(ours.trace_id) == len(theirs.trace_id) == len(ours.default_trace_id()) == 32
    assert {e.name() for e in ours.kineto_results.events()} == {e.name() for e in theirs.kineto_results.events()}


@pytest.mark.parametrize("use_kineto", [False, True])
def test_a_device_that_a_program_registered_has_its_own_kind(monkeypatch, use_kineto):
    import torch.autograd.profiler

    monkeypatch.setattr(torch.autograd.profiler, "_get_privateuse1_backend_name", lambda: "their_device")
    kinds = {module.profile(use_device="their_device", use_kineto=use_kineto).profiler_kind for module in both()}
    assert len(kinds) == 1 and kinds != {torch.autograd.ProfilerState.KINETO}


def test_its_text_is_the_table():
    for module in both():
        prof = module.profile()
        assert str(prof) == repr(prof) == "<unfinished torch.autograd.profile>"
        with prof:
            work()
        assert "aten::mm" in str(prof) and str(prof) == str(prof.function_events)


def test_enabled_false_records_nothing_and_says_so():
    theirs, ours = both()
    for module in (theirs, ours):
        prof = module.profile(enabled=False)
        with prof as entered:
            work()
            assert not theirs._is_profiler_enabled
        assert entered is None and prof.enabled is False
        with pytest.raises(AttributeError):
            prof.key_averages()
    with pytest.raises(AttributeError, match="has no attribute 'table_of_mine': it was made with enabled=False"):
        ours.profile(enabled=False).table_of_mine  # noqa: B018
    with pytest.raises(AttributeError, match="made with enabled=False"):
        print(ours.profile(enabled=False))


WRONG = {
    "use_cuda": lambda m: finished(m, use_cuda=True),
    "use_device cuda": lambda m: finished(m, use_device="cuda"),
    "use_device xpu": lambda m: finished(m, use_device="xpu"),
    "use_device hpu": lambda m: finished(m, use_device="hpu"),
    "use_device mtia": lambda m: finished(m, use_device="mtia"),
    "use_device privateuseone": lambda m: finished(m, use_device="privateuseone"),
    "a device that is none": lambda m: finished(m, use_device="gpu"),
    "no cpu, no kineto": lambda m: m.profile(use_cpu=False),
    "no cpu and no device": lambda m: m.profile(use_cpu=False, use_kineto=True),
    "no cpu and a device that is not there": lambda m: m.profile(use_cpu=False, use_kineto=True, use_cuda=True),
    "a negative time": lambda m: m.profile(post_processing_timeout_s=-1),
    "a time that is a text": lambda m: m.profile(post_processing_timeout_s="1"),
    "entered again": lambda m: finished(m).__enter__(),
    "stacks that were not recorded": lambda m: finished(m).export_stacks("x"),
    "events of a trace_only recording": lambda m: finished(
        m, experimental_config=m._ExperimentalConfig(trace_only=True)
    ).key_averages(),
    "a table before the block": lambda m: m.profile().table(),
    "averages before the block": lambda m: [m.profile().key_averages(), m.profile().total_average()],
    "nested toggles": lambda m: finished(m).toggle_collection_dynamic(True, [1]),
    "itt twice": lambda m: [e := m.emit_itt(enabled=False), e.__enter__(), e.__exit__(None, None, None)],
}


@pytest.mark.parametrize("what", [pytest.param(what, marks=[TOGGLES] * ("toggles" in what)) for what in WRONG])
def test_wrong_use_raises_and_warns_what_torch_does(what):
    import torch

    if torch.cuda.is_available() and ("cuda" in what or "not there" in what):
        pytest.skip("compares the words for a machine without CUDA")
    theirs, ours = (outcome(WRONG[what], module) for module in both())
    if what == "nested toggles":
        assert ours[0][0] is theirs[0][0] is TypeError and ours[0][1].partition(":")[0] in theirs[0][1]
        return
    assert ours == theirs


@pytest.mark.torch_has("LegacyProfile(use_mtia)")
def test_mtia_is_asked_for_by_its_own_argument():
    theirs, ours = (module.profile(use_mtia=True) for module in both())
    assert ours.kineto_activities == theirs.kineto_activities
    assert len(ours.kineto_activities) == 2


def test_a_trace_is_exported_when_there_is_one(tmp_path):
    path = str(tmp_path / "x.json")
    (theirs, _), (ours, _) = (outcome(module.profile().export_chrome_trace, path) for module in both())
    assert ours[0] is theirs[0]
    assert ours[1].startswith(theirs[1])
    for module in both():
        path = tmp_path / f"{module.__name__}.json"
        finished(module).export_chrome_trace(str(path))
        assert "aten::mm" in {e["name"] for e in json.loads(path.read_text())["traceEvents"]}


@pytest.mark.torch_has("LegacyProfile.config(create_trace_id)", "_KinetoProfile(custom_trace_id_callback)")
def test_the_id_of_a_recording_may_be_chosen():
    for module in both():
        prof = module.profile(custom_trace_id_callback=lambda: "chosen")
        assert prof.trace_id == ""
        with prof:
            pass
        assert prof.trace_id == prof.create_trace_id() == "chosen"


def test_old_files_of_nvprof_are_refused_with_todays_way(tmp_path):
    import opscope.torch

    ours = opscope.torch.autograd_profiler
    for read in (ours.load_nvprof, ours.parse_nvprof_trace):
        with pytest.raises(opscope.torch.UnsupportedFeature, match="since CUDA 12.*anew with opscope.torch"):
            read(str(tmp_path / "x.sqlite"))
    assert not (tmp_path / "x.sqlite").exists()  # torch's makes an empty file of that name


def test_ranges_for_other_tools_are_torchs_own():
    theirs, ours = both()
    for name in ("emit_itt", "emit_nvtx", "KinetoStepTracker", "EnforceUnique", "MemRecordsAcc"):
        assert getattr(ours, name) is getattr(theirs, name)
    nvtx = [outcome(lambda module: module.emit_nvtx().__enter__(), module) for module in (theirs, ours)]
    assert nvtx[0] == nvtx[1]
    with ours.profile() as prof, ours.emit_itt(enabled=False):
        work()
    assert "aten::mm" in {e.name for e in prof.function_events}


def parsed(prof, **arguments):
    return prof._parse_kineto_results(prof.kineto_results, **arguments)


@pytest.mark.torch_has("LegacyProfile._parse_kineto_results(timeout_s)")
def test_raw_results_become_events_anew_as_often_as_one_asks():
    for module in both():
        prof = finished(module)
        first, again = parsed(prof), parsed(prof, timeout_s=60.0)
        assert [e.name for e in first] == [e.name for e in again]
        assert {e.name for e in first} == {e.name for e in prof.function_events} and "aten::mm" in str(first)
        assert first is not again and first is not prof.function_events


@pytest.mark.torch_has("LegacyProfile._parse_kineto_results(timeout_s)")
def test_raw_results_become_no_events_when_the_time_is_over(caplog):
    for module in both():
        prof = finished(module)
        caplog.clear()
        assert len(parsed(prof, timeout_s=0.0)) < len(parsed(prof))
        (record,) = caplog.records
        assert record.name == "torch.autograd.profiler" and "timed out after 0.000 seconds" in record.getMessage()
        assert len(prof.function_events) > 0
        error, _ = outcome(lambda prof=prof: parsed(prof, timeout_s=-1.0))
        assert error == (ValueError, "timeout_s must be non-negative")


def test_a_profile_has_an_experimental_config_like_torchs():
    import torch.autograd.profiler as theirs

    import opscope.torch.autograd_profiler as ours

    prof = ours.profile()
    assert type(prof.experimental_config) is type(theirs.profile().experimental_config)
    assert prof.experimental_config is prof.experimental_config


def test_a_disabled_profile_can_be_toggled():
    import opscope.torch.autograd_profiler as ours
    from opscope.torch import ProfilerActivity

    with ours.profile(enabled=False):
        ours.profile(enabled=False).toggle_collection_dynamic(False, [ProfilerActivity.CPU])
