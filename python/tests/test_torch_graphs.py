# SPDX-License-Identifier: Apache-2.0
"""Ranges where torch makes a graph of the program (torch.jit.script, torch.jit.trace, make_fx): as torch has them."""

import io

import pytest
from torch_oracle import both_modules

pytestmark = pytest.mark.framework("torch")


def programs(module):
    """Functions with ranges of this module; TorchScript follows a name that a function closes over."""
    record_function = module.record_function

    def inside(x):
        with record_function("outer", "7"):
            with record_function("inner"):
                x = x * 2.0
        return x.relu()

    @record_function("decorated")
    def decorated(x):
        return x * 3.0

    def calls_decorated(x):
        return decorated(x + 1.0)

    return [inside, decorated, calls_decorated]


def events_of(module, run):
    """What a run is recorded as, with the parents. The first run of a graph is another than the next ones."""
    run(), run(), run()
    with module.profile(activities=[module.ProfilerActivity.CPU], record_shapes=True) as prof:
        run()
    return [
        (e.name, e.cpu_parent and e.cpu_parent.name, getattr(e, "is_user_annotation", None), e.is_async, e.input_shapes)
        for e in prof.events()
    ]


def names(rows):
    return {row[0] for row in rows}


def test_a_scripted_range_is_torchs():
    import torch

    x = torch.ones(2)
    seen = []
    for module in both_modules():
        scripted = [torch.jit.script(function) for function in programs(module)]
        seen.append([(each.graph.str(False), events_of(module, lambda each=each: each(x))) for each in scripted])
    assert seen[1] == seen[0]
    assert {"outer", "inner"} <= names(seen[1][0][1])


def test_a_program_that_scripts_torchs_range_does_so_under_the_patch():
    import torch.profiler

    import opscope.torch

    def scripted():
        class Layer(torch.nn.Module):
            def forward(self, x):
                with torch.profiler.record_function("in the layer"):
                    x = x + 1.0
                return x

        file = io.BytesIO()
        torch.jit.save(torch.jit.script(Layer()), file)
        file.seek(0)
        layer = torch.jit.load(file)
        return layer.code, events_of(torch.profiler, lambda: layer(torch.ones(2)))

    theirs = scripted()
    with opscope.torch.patch():
        ours = scripted()
    assert ours == theirs
    assert "in the layer" in names(ours[1])


def test_a_range_that_cannot_be_scripted_says_what_torch_says():
    import torch

    def refused(module):
        class Numbered(module.record_function):
            pass

        made_outside = module.record_function("made outside")

        def of_a_subclass(x):
            with Numbered("a"):
                return x + 1

        def of_an_object(x):
            with made_outside:
                return x + 1

        for function in (of_a_subclass, of_an_object):
            with pytest.raises(RuntimeError) as error:
                torch.jit.script(function)
            yield str(error.value)

    theirs, ours = both_modules()
    assert list(refused(ours)) == list(refused(theirs))


def test_a_traced_range_is_torchs():
    import torch

    x = torch.ones(2)
    seen = []
    for module in both_modules():
        traced = [torch.jit.trace(function, (x,)) for function in programs(module)]
        seen.append([(each.graph.str(False), events_of(module, lambda each=each: each(x))) for each in traced])
    assert seen[1] == seen[0]
    assert [{"outer", "inner"} <= names(seen[1][0][1]), "decorated" in names(seen[1][2][1])] == [True, True]


@pytest.mark.parametrize(
    "options", [{}, {"tracing_mode": "fake"}, {"tracing_mode": "symbolic"}, {"pre_dispatch": True}], ids=str
)
def test_a_range_in_an_fx_graph_is_torchs(options):
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    from opscope.torch import features

    x = torch.ones(2)
    seen = []
    for module in both_modules():
        graphs = [make_fx(function, **options)(x) for function in programs(module)]
        seen.append([(each.code, events_of(module, lambda each=each: each(x))) for each in graphs])
    assert seen[1] == seen[0]
    if features.behaves("records_graph_ranges"):
        assert [{"outer", "inner"} <= names(seen[1][0][1]), "decorated" in names(seen[1][2][1])] == [True, True]


def test_a_range_is_recorded_while_its_function_is_traced():
    import torch

    x = torch.ones(2)
    seen = []
    for module in both_modules():
        function = programs(module)[0]
        seen.append(names(events_of(module, lambda function=function: torch.jit.trace(function, (x,)))))
    assert seen[1] == seen[0]
    assert {"outer", "inner"} <= seen[1]


def test_a_dispatch_mode_sees_the_ranges_that_it_sees_of_torch():
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Seen(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.calls = []

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.calls.append((str(function), [arg for arg in args if isinstance(arg, str | None)]))
            return function(*args, **(kwargs or {}))

    def calls(module):
        with Seen() as seen:
            future = torch.futures.Future()
            with module.record_function("within", "text"):
                torch.ones(2)
            with module.record_function("awaiting") as label:
                handed_on = label._call_end_callbacks_on_future(future)
                with pytest.raises(RuntimeError, match="_call_end_callbacks_on_future can only be called once."):
                    label._call_end_callbacks_on_future(future)
            begun_inside = module.record_function("begun inside")
            begun_inside.__enter__()
        begun_inside.__exit__(None, None, None)
        future.set_result(3)
        return seen.calls, handed_on.wait()

    def recorded(module):
        with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
            found = calls(module)
        return found, [(e.name, e.cpu_parent and e.cpu_parent.name, e.is_async) for e in prof.events()]

    theirs, ours = both_modules()
    assert recorded(ours) == recorded(theirs)
    (shown, result), events = recorded(ours)
    assert result == 3 and ("profiler._record_function_enter_new.default", ["within", "text"]) in shown
    assert {"within", "awaiting", "begun inside"} <= names(events)
