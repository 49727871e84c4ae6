# SPDX-License-Identifier: Apache-2.0
"""Calls of modules with ``with_modules`` alone, which are found by another way than stacks: the same ones."""

import contextlib
import sys
import threading

import pytest
from test_torch_stacks import calls_of, imported, leaf, recorded

pytestmark = pytest.mark.framework("torch")
torch = pytest.importorskip("torch")


class Doubled(torch.nn.Module):
    """Calls itself by name, as torch.nn.Module's subclasses may."""

    def __call__(self, x, deeper=None):
        return super().__call__(x, deeper)

    def forward(self, x, deeper):
        return deeper(x) if deeper else x * 2


def every_way_of_calling_modules():
    relu, linear, doubled = torch.nn.ReLU(), torch.nn.Linear(2, 2), Doubled()
    hooked = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sigmoid())
    hooked.register_forward_hook(lambda *_: relu(torch.ones(1)))
    compiled = torch.nn.Tanh()
    compiled._compiled_call_impl = compiled._call_impl  # what compile() does, without compiling
    scripted = torch.jit.script(torch.nn.ReLU6())
    keep = torch.no_grad()(linear.__call__)

    def body():
        x = torch.ones(1, 2)
        relu(x)
        relu.__call__(x)
        torch.nn.Module.__call__(relu, x)
        torch.nn.Module.__call__(self=relu, input=x)
        linear(*[x])
        linear.__call__(input=x)
        keep(x)
        doubled(x, lambda x: doubled(x, relu.__call__))
        hooked(x)
        hooked.forward(x)
        compiled(x)
        scripted(x)
        list(map(relu, [x, x]))
        list(map(relu.__call__, [x, x]))
        for wrong in (lambda: linear(torch.ones(3)), lambda: linear.__call__(torch.ones(3)), lambda: linear(x, 1)):
            try:
                wrong()
            except (RuntimeError, TypeError):
                pass
        torch.fx.symbolic_trace(hooked)(x)

    return body


def modules_of(calls):
    """What is nn.Module among the calls, each as deep as there are modules around it."""
    around, found = [], []
    for depth, name in calls:
        del around[depth:]
        is_module = name.startswith("nn.Module: ")
        if is_module:
            found.append((sum(around), name))
        around.append(is_module)
    return found


@contextlib.contextmanager
def calls_of_another_thread():
    end = threading.Event()
    thread = threading.Thread(target=lambda: [leaf([1]) for _ in iter(lambda: end.wait(0.0001), True)])
    thread.start()
    yield
    end.set()
    thread.join()


def test_modules_alone_are_those_of_stacks_however_they_are_called(tmp_path):
    import opscope.torch

    body = every_way_of_calling_modules()
    body()
    with calls_of_another_thread():
        ours, theirs = recorded(body)
        with opscope.torch.profile(with_modules=True) as alone:
            body()
    expected = modules_of(calls_of(imported(theirs, tmp_path / "t.json")))
    assert len(expected) > 25
    assert modules_of(calls_of(ours.trace)) == expected
    assert calls_of(alone.trace) == expected
    assert len(alone.trace.problems) == 0


def test_modules_alone_leave_other_calls_alone():
    """Python calls a profile function, which another one may replace, at each call of Python and of C."""
    import opscope.torch

    call, relu = torch.nn.Module.__call__, torch.nn.ReLU()
    with opscope.torch.profile(with_modules=True) as prof:
        sys.setprofile(None)
        assert torch.nn.Module.__call__ is call
        relu(torch.ones(1))
        relu.__call__(torch.ones(1))
    assert calls_of(prof.trace) == [(0, "nn.Module: ReLU_0")] * 2
    assert len(prof.trace.problems) == 0


class Starter(torch.nn.Module):
    def forward(self, act):
        return act()


def test_modules_alone_that_run_at_the_start_and_at_the_stop():
    import opscope.torch

    outer, inner, relu = Starter(), Starter(), torch.nn.ReLU()
    first, second = (opscope.torch.profile(with_modules=True) for _ in range(2))

    def start_second():
        second.start()
        relu(torch.ones(1))

    def within():
        inner(start_second)  # ends within both
        relu(torch.ones(1))
        first.stop()
        relu(torch.ones(1))

    first.start()
    outer(within)
    relu(torch.ones(1))
    second.stop()
    relu(torch.ones(1))
    assert calls_of(first.trace) == [
        (0, "nn.Module: Starter_0"),
        (1, "nn.Module: Starter_1"),
        (2, "nn.Module: ReLU_0"),
        (1, "nn.Module: ReLU_0"),
    ]
    assert calls_of(second.trace) == [
        (0, "nn.Module: Starter_0"),
        (1, "nn.Module: Starter_1"),
        (2, "nn.Module: ReLU_0"),
        (1, "nn.Module: ReLU_0"),
        (1, "nn.Module: ReLU_0"),
        (0, "nn.Module: ReLU_0"),
    ]


def test_modules_alone_of_threads_that_were_there():
    import opscope.torch

    relu, sigmoid, go_on, done = torch.nn.ReLU(), torch.nn.Sigmoid(), threading.Event(), threading.Event()

    def work():
        entered.set()
        go_on.wait()
        relu(torch.ones(1))
        done.set()

    for workload in (work, lambda: Starter()(work)):
        entered = threading.Event()
        go_on.clear(), done.clear()
        early = threading.Thread(target=workload)
        early.start()
        entered.wait()
        with opscope.torch.profile(with_modules=True) as prof:
            go_on.set()
            done.wait()
            late = threading.Thread(target=sigmoid, args=(torch.ones(1),))
            late.start()
            late.join()
        early.join()
        names = [name for _, name in calls_of(prof.trace)]
        assert names == ["nn.Module: Starter_0"] * (workload is not work) + ["nn.Module: ReLU_0"]
