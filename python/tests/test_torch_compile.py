# SPDX-License-Identifier: Apache-2.0
"""Ranges and profiles under torch.compile and in TorchScript: no graph break, and they appear where torch's do."""

import subprocess
import sys

import pytest
from torch_oracle import both_modules

pytestmark = pytest.mark.framework("torch")


def ranges_inside(module):
    """Functions to compile, each with ranges of this module."""
    record_function = module.record_function

    def inside(x):
        x = x + 1
        with record_function("inner"):
            x = x * 2
        return x.relu()

    def with_arguments(x):
        with record_function("a", "1, 2"), record_function(name="b", args="3"):
            x = x * 2
        return x + 1

    @record_function("decorated")
    def decorated(x):
        return x * 3

    def calls_decorated(x):
        return decorated(x + 1)

    made_outside = record_function("outside")

    def captured(x):
        with made_outside:
            x = x * 2
        return x + 1

    def profiled(x):
        with module.profile():
            x = x * 2
        return x + 1

    return [inside, with_arguments, decorated, calls_decorated, captured, profiled]


def breaks_of(function):
    import torch

    torch._dynamo.reset()
    explained = torch._dynamo.explain(function)(torch.ones(4))
    return explained.graph_count, explained.graph_break_count, explained.op_count


def need_ranges_in_graphs():
    import torch._dynamo.config

    if not hasattr(torch._dynamo.config, "capture_profiler_record_function"):
        pytest.skip("the compiler of this torch knows nothing of ranges")


def test_ranges_and_profiles_inside_break_no_graph():
    need_ranges_in_graphs()
    theirs, ours = both_modules()
    for their, our in zip(ranges_inside(theirs), ranges_inside(ours), strict=True):
        assert breaks_of(our) == breaks_of(their), our.__name__
        assert breaks_of(our)[:2] == (1, 0), our.__name__


def test_the_compiler_is_taught_also_when_it_was_there_first():
    program = """
import torch, torch._dynamo
import opscope.torch
def f(x):
    with opscope.torch.record_function("r"):
        return x * 2
print(torch._dynamo.explain(f)(torch.ones(2)).graph_break_count)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]


@pytest.mark.parametrize("replace", ["torch.profiler = opscope.torch", "opscope.torch.patch()"])
def test_names_that_replace_torchs_break_no_graph(replace):
    need_ranges_in_graphs()
    program = f"""
import torch, torch.profiler
import opscope.torch
theirs = torch.profiler.profile, torch.profiler.record_function, torch.autograd.profiler.profile
outside = theirs[1]("outside")
{replace}
import torch._dynamo
def breaks(range_of):
    def f(x):
        with range_of():
            return x * 2
    torch._dynamo.reset()
    return torch._dynamo.explain(f)(torch.ones(2)).graph_break_count
print(
    *map(breaks, [
        lambda: torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]),
        lambda: torch.profiler.record_function("r"),
        lambda: torch.autograd.profiler.profile(),
        lambda: torch.autograd.profiler.record_function("r"),
        lambda: opscope.torch.profile(),
        lambda: opscope.torch.autograd_profiler.profile(),
        lambda: theirs[0](),
        lambda: theirs[1]("r"),
        lambda: theirs[2](),
        lambda: outside,
    ]),
)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"] * 10


def test_importing_opscope_does_not_import_the_compiler():
    program = "import opscope.torch, sys; print('torch._dynamo' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.split() == ["False"]


def compiled_frames(profile):
    """Frames and graphs that are compiled for a small training loop, profiled or not."""
    import torch
    from torch._dynamo.testing import CompileCounter

    torch._dynamo.reset()
    counter = CompileCounter()
    layer = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    @torch.compile(backend=counter)
    def loss(x):
        return layer(x).relu().sum()

    def step():
        loss(torch.ones(2, 4)).backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    before = counter.frame_count, counter.op_count
    with profile() as prof:
        for _ in range(3):
            step()
    return before, (counter.frame_count, counter.op_count), prof


def test_a_running_profile_compiles_nothing_anew():
    theirs, ours = both_modules()
    counts = []
    for module in (theirs, ours):
        cpu = [module.ProfilerActivity.CPU]
        before, after, prof = compiled_frames(lambda module=module, cpu=cpu: module.profile(activities=cpu))
        assert before == after
        counts.append((after, sorted(e.name for e in prof.events())))
    assert counts[0] == counts[1]


def test_a_graph_may_keep_its_ranges():
    need_ranges_in_graphs()
    import torch

    import opscope.torch

    def function(x):
        with opscope.torch.record_function("kept", "7"):
            return x * 2

    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_profiler_record_function=True):
        compiled = torch.compile(function, backend="eager")
        compiled(torch.ones(2))
        with opscope.torch.profile() as prof:
            compiled(torch.ones(2))
    torch._dynamo.reset()
    (kept,) = [event for event in prof.events() if event.name == "kept"]
    assert [child.name for child in kept.cpu_children] == ["aten::mul"]


def scripted_names(profile):
    import torch

    @torch.jit.script
    def function(x):
        with torch.autograd.profiler.record_function("scripted"):
            x = x + 1
        return x

    function(torch.ones(2))
    with profile() as prof:
        for _ in range(2):
            function(torch.ones(2))
    return [(e.name, None if e.cpu_parent is None else e.cpu_parent.name) for e in prof.events()]


@pytest.mark.torch_has("FunctionEvent.is_user_annotation")
def test_ranges_in_torchscript_and_of_the_operators_appear_with_their_parents():
    import torch

    theirs, ours = both_modules()
    assert scripted_names(ours.profile) == scripted_names(theirs.profile)
    assert ("aten::add", "scripted") in scripted_names(ours.profile)

    def by_operators(module):
        with module.profile(activities=[module.ProfilerActivity.CPU], record_shapes=True) as prof:
            new = torch.ops.profiler._record_function_enter_new("new", "some arguments")
            torch.ones(2)
            torch.ops.profiler._record_function_exit._RecordFunction(new)
            old = torch.ops.profiler._record_function_enter("old", None)
            torch.ones(2)
            torch.ops.profiler._record_function_exit(old)
            future = torch.futures.Future()
            new = torch.ops.profiler._record_function_enter_new("until the future", None)
            done = torch.ops.profiler._call_end_callbacks_on_jit_fut._RecordFunction(new, future)
            future.set_result(1)
            assert done.wait() == 1
        return [(e.name, e.input_shapes, e.is_user_annotation, len(e.cpu_children)) for e in prof.events()]

    assert by_operators(ours) == by_operators(theirs)
    assert {"new", "old", "until the future"} <= {name for name, *_ in by_operators(ours)}
