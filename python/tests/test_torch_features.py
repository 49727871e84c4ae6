# SPDX-License-Identifier: Apache-2.0
"""opscope.torch has what the installed torch has, and lacks what that lacks; the tables say what torch itself says."""

import inspect

import pytest

pytestmark = pytest.mark.framework("torch")


@pytest.fixture(scope="module")
def ours():
    """What stands for each of the classes in the tables: an object, where attributes come with its making."""
    import torch

    import opscope.torch as module

    with module.profile() as prof:
        torch.ones(2)
    return {
        "_KinetoProfile": module._KinetoProfile(),
        "profile": module.profile,
        "LegacyProfile": module.autograd_profiler.profile(),
        "EventList": module.EventList,
        "FunctionEvent": prof.events()[0],
        "FunctionEventAvg": prof.key_averages()[0],
        "KinetoEvent": prof.profiler.kineto_results.events()[0],
        "EventMetadata": module.EventMetadata,
        "_ExperimentalConfig": module._ExperimentalConfig,
        "MemRecordsAcc": module.autograd_profiler.MemRecordsAcc,
        "ProfilerAction": module.ProfilerAction,
        "ProfilerActivity": module.ProfilerActivity,
        "ProfilerEvent": prof.profiler.kineto_results.experimental_event_tree()[0],
        "ProfilerState": torch.autograd.ProfilerState,
        "schedule": module.schedule,
        "tensorboard_trace_handler": module.tensorboard_trace_handler,
    }


def has(owner, path):
    """As features.has, of ours."""
    place, _, argument = path.rstrip(")").partition("(")
    name = place.partition(".")[2]
    if not argument:
        return name in dir(owner)
    owner = type(owner) if place == "_KinetoProfile" else owner
    if place == "_ExperimentalConfig" or owner.__module__ == "torch._C._profiler":  # torch's own, or over it
        return f"{argument}: " in owner.__init__.__doc__.partition("\n")[0]
    function = inspect.getattr_static(owner, name or "__init__", None) if not inspect.isfunction(owner) else owner
    return function is not None and argument in inspect.signature(function).parameters


def test_it_has_what_this_torch_has_and_nothing_else(ours):
    from opscope.torch import features

    assert len(features.known()) > 100
    for path in features.known():
        owner = path.partition("(")[0].partition(".")[0]
        is_everywhere = path == "_ExperimentalConfig(custom_profiler_config)"  # whatever this torch has
        assert has(ours[owner], path) == (is_everywhere or features.has(path)), path


def test_the_tables_say_what_this_torch_says():
    import torch

    from opscope.torch import features

    release = features.release_of(torch.__version__)
    if release not in features.TRIED:
        pytest.skip(f"the tables were not filled in with torch {release[0]}.{release[1]}")
    assert [path for path in features.known() if features.was_in(path, release) != features.has(path)] == []


def test_what_this_torch_lacks_is_removed_from_our_classes_alone():
    from opscope.torch.torch_shape import as_in_torch

    theirs = type("Theirs", (), {"__module__": "torch.autograd.profiler_util", "removed": 1})
    ours = type("Ours", (theirs,), {"removed": 2, "kept": 3})
    as_in_torch("Ours", absent=lambda owner: (frozenset({"removed"}), {}))(ours)
    assert "removed" not in vars(ours) and "kept" in vars(ours)
    assert theirs.removed == 1


def test_an_argument_that_this_torch_lacks_is_a_type_error():
    from opscope.torch import _KinetoProfile, features
    from opscope.torch.torch_shape import as_in_torch, as_written

    def taken(first, second=2, *, third=3):
        return first, second, third

    shaped = as_in_torch("taken", absent=lambda owner: (frozenset(), {"": frozenset({"second"})}))(taken)
    assert shaped(1, third=4) == (1, 2, 4)
    with pytest.raises(TypeError, match=r"taken\(\) got an unexpected keyword argument 'second'"):
        shaped(1, second=5)
    with pytest.raises(TypeError, match=r"taken\(\) takes 1 positional argument but 2"):
        shaped(1, 5)
    assert as_written(shaped)(1, second=5) == (1, 5, 3)
    for name in features.absent("_KinetoProfile")[1].get("", ()):
        with pytest.raises(TypeError, match=name):
            _KinetoProfile(**{name: None})


def test_averages_have_rows_for_calls_of_python_only_where_asked():
    import torch

    from opscope.torch import ProfilerActivity, features, profile

    with profile(activities=[ProfilerActivity.CPU], with_stack=True) as prof:
        torch.ones(2).neg()
    names = {row.key for row in prof.key_averages()}
    assert {"aten::ones", "aten::neg"} <= names
    can_be_asked = features.has("_KinetoProfile.key_averages(include_python_functions)")
    are_listed = features.has("KinetoEvent.is_python_function")
    assert any("built-in method ones" in name for name in names) == (are_listed and not can_be_asked)
    if can_be_asked:
        more = {row.key for row in prof.key_averages(include_python_functions=True)}
        assert names < more
        assert sum(row.count for row in prof.key_averages(include_python_functions=True)) == len(prof.events())
