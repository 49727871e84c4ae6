# SPDX-License-Identifier: Apache-2.0
"""Every warning points at the line of the program that led to it, whatever of the package lies between."""

import contextlib
import inspect
import warnings

import pytest

pytestmark = pytest.mark.framework("torch")


def recorded(**options):
    import torch

    from opscope.torch import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], **options) as prof:
        torch.ones(2).neg()
    return prof


def metadata_too_late(tmp_path):
    prof = recorded()
    prof.events()
    yield
    prof.add_metadata("key", "value")


def json_metadata_too_late(tmp_path):
    prof = recorded()
    prof.events()
    yield
    prof.add_metadata_json("key", "1")


def stacks_without_verbose(tmp_path):
    prof = recorded(with_stack=True)
    yield
    prof.export_stacks(str(tmp_path / "stacks"))


def stacks_of_the_inner_profile(tmp_path):
    prof = recorded(with_stack=True)
    yield
    prof.profiler.export_stacks(str(tmp_path / "stacks"))


def an_export_that_loses(tmp_path):
    prof = recorded(profile_memory=True)
    yield
    prof.trace.export(tmp_path / "run.collapsed", to="collapsed")


def a_device_that_is_not_there(tmp_path):
    import opscope.torch as module

    yield
    with module.profile(activities=[module.ProfilerActivity.CPU, module.ProfilerActivity.CUDA]):
        pass


def the_same_on_a_stack_of_contexts(tmp_path):
    import opscope.torch as module

    with contextlib.ExitStack() as stack:
        prof = module.profile(activities=[module.ProfilerActivity.CPU, module.ProfilerActivity.CUDA])
        yield
        stack.enter_context(prof)


def a_device_nobody_knows(tmp_path):
    from opscope.torch.autograd_profiler import profile

    yield
    profile(use_device="abacus")


def use_cuda(tmp_path):
    import opscope.torch

    yield
    opscope.torch.profile(use_cuda=False)


def record_then_warmup(tmp_path):
    import opscope.torch as module

    actions = [module.ProfilerAction.RECORD, module.ProfilerAction.WARMUP]
    with module.profile(activities=[module.ProfilerActivity.CPU], schedule=lambda step: actions[step]) as prof:
        yield
        prof.step()


def a_file_that_cannot_be_made(tmp_path):
    import opscope.torch

    yield
    with opscope.torch.profile(record_to=tmp_path / "none" / "run.opscope"):
        pass


def a_dump_that_fails(tmp_path):
    import opscope.torch as module

    prof = module.profile(dump_to=tmp_path / "none" / "run.opscope", dump_on_exception=True)
    yield
    with contextlib.suppress(KeyError), prof:
        raise KeyError


def an_old_name(tmp_path):
    event = recorded().events()[0]
    yield
    _ = event.cuda_time_total


def an_activity_that_is_not_recorded(tmp_path):
    from opscope.torch import ProfilerActivity

    prof = recorded()
    yield
    prof.toggle_collection_dynamic(True, [ProfilerActivity.XPU])


def a_timeline(tmp_path):
    prof = recorded(record_shapes=True, profile_memory=True, with_stack=True)
    yield
    prof.export_memory_timeline(str(tmp_path / "timeline.json"))


@pytest.mark.parametrize(
    "program",
    [
        metadata_too_late,
        json_metadata_too_late,
        stacks_without_verbose,
        stacks_of_the_inner_profile,
        an_export_that_loses,
        a_device_that_is_not_there,
        the_same_on_a_stack_of_contexts,
        a_device_nobody_knows,
        pytest.param(use_cuda, marks=pytest.mark.torch_has("profile(use_cuda)")),
        record_then_warmup,
        a_file_that_cannot_be_made,
        a_dump_that_fails,
        an_old_name,
        pytest.param(
            an_activity_that_is_not_recorded,
            marks=pytest.mark.torch_has("_KinetoProfile.toggle_collection_dynamic"),
        ),
        a_timeline,
    ],
)
def test_a_warning_points_at_the_line_that_led_to_it(program, tmp_path):
    if "device_that" in program.__name__ or "stack_of" in program.__name__:
        import torch

        if torch.cuda.is_available():
            pytest.skip("there is a CUDA device")
    steps = program(tmp_path)  # what stands after the yield warns
    next(steps)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.suppress(StopIteration):
            next(steps)
    lines, first = inspect.getsourcelines(program)
    after = first + next(i for i, line in enumerate(lines) if line.strip() == "yield")
    assert caught
    for warning in caught:
        assert warning.filename == __file__, warning
        assert after < warning.lineno < first + len(lines), warning
