# SPDX-License-Identifier: Apache-2.0
"""Every public name of torch.profiler is here, works, or says what to use; names that documents use, too."""

import sys

import pytest

pytestmark = pytest.mark.framework("torch")


def test_every_name_of_torchs_module_is_found():
    import torch.profiler

    import opscope.torch

    theirs = [name for name in dir(torch.profiler) if not name.startswith("__")]
    assert {"profile", "itt", "_KinetoProfile", "KinetoStepTracker", "profiler", "_memory_profiler"} <= set(theirs)
    for name in theirs:
        assert hasattr(opscope.torch, name), name
    assert set(torch.profiler.__all__) <= set(opscope.torch.__all__)


def test_every_method_and_attribute_of_the_classes_is_found():
    import torch
    from torch.autograd import profiler_util

    import opscope.torch

    pairs = [
        (torch.profiler.profile(), opscope.torch.profile()),
        (torch.profiler._KinetoProfile(), opscope.torch._KinetoProfile()),
        (torch.autograd.profiler.profile(), opscope.torch.autograd_profiler.profile()),
        (torch.profiler.record_function("x"), opscope.torch.record_function("x")),
        (profiler_util.EventList(), opscope.torch.EventList()),
        (profiler_util.FunctionEventAvg(), opscope.torch.FunctionEventAvg()),
    ]
    for theirs, ours in pairs:
        names = {name for name in dir(theirs) if not name.startswith("_")} - set(dir(ours))
        missing = {name for name in names if not hasattr(ours, name)}
        assert missing <= {"record"}, type(theirs)  # torch's handle of an open range, for its own operators


def test_the_help_of_profile_names_every_argument_that_torch_does_not_have():
    import inspect

    import torch.profiler

    import opscope.torch

    theirs = inspect.signature(torch.profiler.profile).parameters
    own = [name for name in inspect.signature(opscope.torch.profile).parameters if name not in theirs]
    assert {"record_to", "dump_to"} <= set(own)
    for name in own:
        assert ("dump_" if name.startswith("dump_") else name) in opscope.torch.profile.__doc__, name


def test_an_unknown_name_is_an_attribute_error():
    import opscope.torch

    for module in (opscope.torch, opscope.torch.autograd_profiler, opscope.torch.tensorboard):
        with pytest.raises(AttributeError, match="no_such_name"):
            module.no_such_name  # noqa: B018


def test_it_stands_in_for_the_module_itself(monkeypatch):
    import torch

    import opscope.torch

    monkeypatch.setattr(torch, "profiler", opscope.torch)
    with torch.profiler.profile() as prof:
        torch.ones(2)
    assert [event.name for event in prof.events()][0] == "aten::ones"
    assert torch.profiler._utils.__name__ == "torch.profiler._utils"
    with pytest.raises(AttributeError):
        torch.profiler.no_such_name  # noqa: B018


def test_profiler_is_another_name_of_profile():
    import opscope.torch
    from opscope.torch import Profiler

    assert Profiler is opscope.torch.profile
    assert "Profiler" not in opscope.torch.__all__


def test_the_summary_writer_is_torchs_or_says_what_it_needs(monkeypatch):
    import types

    from opscope.torch import tensorboard

    module = types.ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = type("SummaryWriter", (), {})
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    from opscope.torch.tensorboard import SummaryWriter

    assert SummaryWriter is module.SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ModuleNotFoundError, match="pip install tensorboard.*tensorboard_trace_handler"):
        tensorboard.SummaryWriter  # noqa: B018


def test_itt_is_torchs():
    import torch.profiler.itt

    import opscope.torch

    assert opscope.torch.itt is torch.profiler.itt
    assert opscope.torch.itt.is_available() in (True, False)


def test_the_inner_profile_has_every_public_name():
    """prof.profiler and the profile of autograd, of the same recording flags."""
    import torch.autograd.profiler
    import torch.profiler

    import opscope.torch
    from opscope.torch import features

    def recorded(module):
        with module.profile(activities=[module.ProfilerActivity.CPU], record_shapes=True) as prof:
            torch.ones(2)
        return prof.profiler

    theirs, ours = recorded(torch.profiler), recorded(opscope.torch)
    public = {name for name in [*dir(theirs), *vars(theirs)] if not name.startswith("_")}
    assert {name for name in public if not hasattr(ours, name)} == set()
    same = ["entered", "profiler_kind", "kineto_activities"]
    same += [name for name in ("use_cuda", "activity_filters", "post_processing_timeout_s") if hasattr(theirs, name)]
    assert {name: getattr(ours, name) for name in same} == {name: getattr(theirs, name) for name in same}
    assert type(ours.config()) is type(theirs.config())
    if features.has("LegacyProfile.config(create_trace_id)"):
        assert len(ours.create_trace_id()) == len(theirs.create_trace_id()) == 32
    assert 0 < ours.profiling_start_time_ns < ours.profiling_end_time_ns
