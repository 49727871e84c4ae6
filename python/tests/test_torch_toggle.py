# SPDX-License-Identifier: Apache-2.0
"""toggle_collection_dynamic() and post_processing_timeout_s, beside torch.profiler."""

import logging
import threading

import pytest
from torch_oracle import both_modules

pytestmark = pytest.mark.framework("torch")


def outermost(prof):
    return [event.name for event in prof.events() if event.cpu_parent is None]


def paused_program(module):
    import torch

    x = torch.ones(4)
    cpu = [module.ProfilerActivity.CPU]
    with module.profile(activities=cpu, profile_memory=True) as prof:
        x.add(1.0)
        with module.record_function("outer"):
            prof.toggle_collection_dynamic(False, cpu)
            x.mul(1.0)
            with module.record_function("inner"):
                pass
            prof.toggle_collection_dynamic(True, cpu)
            x.sub(1.0)
        prof.toggle_collection_dynamic(True, cpu)
        x.div(1.0)
        prof.toggle_collection_dynamic(False, cpu)
        prof.toggle_collection_dynamic(False, cpu)
        x.exp()
    return prof


@pytest.mark.torch_has("_KinetoProfile.toggle_collection_dynamic")
def test_what_begins_while_paused_is_not_recorded_and_the_rest_is_as_in_torch():
    theirs, ours = (paused_program(module) for module in both_modules())
    names = [event.name for event in ours.events()]
    assert "aten::sub" in names and "outer" in names
    assert not {"aten::mul", "inner", "aten::exp"} & set(names)
    assert [(e.name, e.cpu_memory_usage) for e in ours.events()] == [
        (e.name, e.cpu_memory_usage) for e in theirs.events()
    ]


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)", "_KinetoProfile.toggle_collection_dynamic")
def test_another_thread_may_pause_and_go_on_also_with_all_threads():
    import torch

    import opscope.torch

    x = torch.ones(4)
    cpu = [opscope.torch.ProfilerActivity.CPU]

    def elsewhere(enable):
        thread = threading.Thread(target=prof.toggle_collection_dynamic, args=(enable, cpu))
        thread.start()
        thread.join()

    for config in (None, opscope.torch._ExperimentalConfig(profile_all_threads=True)):
        with opscope.torch.profile(experimental_config=config) as prof:
            elsewhere(False)
            x.neg()
            elsewhere(True)
            x.abs()
        assert outermost(prof) == ["aten::abs"]


@pytest.mark.torch_has("_KinetoProfile.toggle_collection_dynamic")
def test_a_second_profile_of_the_thread_goes_on():
    import torch

    import opscope.torch

    cpu = [opscope.torch.ProfilerActivity.CPU]
    x = torch.ones(4)
    with opscope.torch.profile() as outer:
        with opscope.torch.profile() as inner:
            outer.toggle_collection_dynamic(False, cpu)
            x.neg()
            with opscope.torch.profile() as third:  # its start sweeps this thread's list of callbacks
                x.abs()
            outer.toggle_collection_dynamic(True, cpu)
            x.sign()
    assert outermost(outer) == ["aten::sign"]
    assert outermost(inner) == ["aten::neg", "aten::abs", "aten::sign"]
    assert outermost(third) == ["aten::abs"]


@pytest.mark.torch_has("_KinetoProfile.toggle_collection_dynamic")
def test_without_a_running_recording_it_does_nothing():
    import torch

    from opscope.torch import features

    for module, is_ours in zip(both_modules(), (False, True), strict=True):
        cpu = [module.ProfilerActivity.CPU]
        prof = module.profile(activities=cpu)
        prof.toggle_collection_dynamic(False, "not looked at before the start")
        prof.prepare_trace()
        if is_ours or not features.has("_KinetoProfile.wait_for_exports"):  # from 2.14 on torch has an internal assert
            prof.toggle_collection_dynamic(False, cpu)
        prof.start_trace()
        torch.ones(4).neg()
        prof.stop_trace()
        if is_ours or not features.has("_KinetoProfile.wait_for_exports"):
            prof.toggle_collection_dynamic(True, cpu)
        assert "aten::neg" in [event.name for event in prof.events()]


@pytest.mark.torch_has("_KinetoProfile.toggle_collection_dynamic")
@pytest.mark.parametrize("enable, activities", [("x", "cpu"), (True, ["CPU"]), (True, [1]), (True, None), (True, 5)])
def test_wrong_values_raise_what_torch_raises(enable, activities):
    def error_of(module):
        with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
            groups = [module.ProfilerActivity.CPU] if activities == "cpu" else activities
            with pytest.raises(TypeError) as caught:
                prof.toggle_collection_dynamic(enable, groups)
        return str(caught.value)

    theirs, ours = (error_of(module) for module in both_modules())
    assert ours.partition(":")[0] in theirs


@pytest.mark.torch_has("_KinetoProfile.toggle_collection_dynamic")
def test_a_device_that_cannot_be_toggled_is_named():
    import opscope.torch

    activity = opscope.torch.ProfilerActivity
    with opscope.torch.profile(activities=[activity.CPU]) as prof:
        with pytest.warns(UserWarning, match="XPU activity cannot be toggled"):
            prof.toggle_collection_dynamic(False, [activity.XPU])


@pytest.mark.torch_has("_KinetoProfile.toggle_collection_dynamic")
@pytest.mark.filterwarnings("error")
def test_cuda_that_is_not_recorded_is_toggled_without_a_word():
    import torch

    for module in both_modules():
        with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
            prof.toggle_collection_dynamic(False, [module.ProfilerActivity.CUDA])
            torch.ones(4).neg()
        assert "aten::neg" in [event.name for event in prof.events()]


def timed(module, seconds):
    import torch

    with module.profile(activities=[module.ProfilerActivity.CPU], post_processing_timeout_s=seconds) as prof:
        torch.ones(4).neg()
    return prof


@pytest.mark.torch_has("_KinetoProfile(post_processing_timeout_s)")
@pytest.mark.parametrize("seconds", [None, 600, 600.5])
def test_time_enough_gives_every_event(seconds, caplog):
    caplog.set_level(logging.WARNING, "torch.autograd.profiler")
    theirs, ours = (timed(module, seconds) for module in both_modules())
    assert [event.name for event in ours.events()] == [event.name for event in theirs.events()]
    assert caplog.records == []


@pytest.mark.torch_has("_KinetoProfile(post_processing_timeout_s)")
@pytest.mark.parametrize("seconds", [0, 1e-9])
def test_no_time_gives_no_events_a_warning_and_the_whole_recording(seconds, caplog, tmp_path):
    caplog.set_level(logging.WARNING, "torch.autograd.profiler")
    _, ours = (timed(module, seconds) for module in both_modules())
    assert list(ours.events()) == [] and ours.key_averages().table() == ""
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("torch.autograd.profiler", "WARNING")
    assert "timed out after 0.000 seconds" in record.getMessage()
    assert "returning partial results with 0 events" in record.getMessage()
    assert "aten::neg" in ours.trace.spans.text("name")
    ours.export_chrome_trace(str(tmp_path / "x.json"))
    assert "aten::neg" in (tmp_path / "x.json").read_text()


@pytest.mark.torch_has("_KinetoProfile(post_processing_timeout_s)")
def test_a_negative_time_is_refused_when_the_recording_is_prepared():
    for module in both_modules():
        prof = module.profile(activities=[module.ProfilerActivity.CPU], post_processing_timeout_s=-0.5)
        with pytest.raises(ValueError, match="^post_processing_timeout_s must be non-negative$"):
            prof.start()
