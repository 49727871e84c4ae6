# SPDX-License-Identifier: Apache-2.0
"""`Trace.reproduce`: scripts of recorded operators run the very same call again."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import opscope

torch = pytest.importorskip("torch")
functional = torch.nn.functional
pytestmark = pytest.mark.framework("torch")
UNDEFINED = 2


def record(path, program):
    from opscope.torch import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        program()
    prof.save(path)
    return opscope.open(path)


def calls_of(trace, name):
    """The arguments of each call: kind, type, value, sizes, strides, layout.

    Python passes None for an undefined tensor.
    """
    columns = [trace.arguments[column] for column in ("list", "kind", "dtype", "value", "sizes", "strides", "layout")]
    lists = {}
    for number, kind, *argument, sizes, strides, layout in zip(*columns, strict=True):
        lists.setdefault(number, []).append(
            (0 if kind == UNDEFINED else kind, *argument, tuple(sizes), tuple(strides), layout)
        )
    spans = zip(trace.spans["name"], trace.spans["args"], strict=True)
    return [lists.get(args, []) for called, args in spans if called == name]


def longs(*values):
    return torch.tensor(values, dtype=torch.int64)


def backward():
    weight = torch.randn(4, 6, requires_grad=True)
    torch.mm(torch.randn(3, 4), weight).sum().backward()


def layer_norm_backward():
    x = torch.randn(4, 8, requires_grad=True)
    functional.layer_norm(x, [8], torch.ones(8), torch.zeros(8)).sum().backward()


def batch_norm():
    return functional.batch_norm(torch.randn(2, 3, 4), torch.zeros(3), torch.ones(3), training=True)


PROGRAMS = {
    "mm": ("mm", lambda: torch.mm(torch.randn(4, 5), torch.randn(5, 6))),
    "mm of transposed": ("mm", lambda: torch.mm(torch.randn(5, 4).t(), torch.randn(6, 5).t())),
    "addmm": ("addmm", lambda: torch.addmm(torch.randn(6), torch.randn(4, 5), torch.randn(5, 6), beta=2, alpha=0.5)),
    "conv2d": ("conv2d", lambda: torch.conv2d(torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3), padding=1, stride=2)),
    "layer_norm": ("layer_norm", lambda: functional.layer_norm(torch.randn(2, 8), [8], torch.ones(8), eps=1e-3)),
    "softmax": ("softmax", lambda: torch.softmax(torch.randn(4, 5), -1)),
    "inner softmax": ("_softmax", lambda: torch.softmax(torch.randn(4, 5), -1)),
    "embedding": ("embedding", lambda: functional.embedding(longs(1, 9), torch.randn(10, 4))),
    "cat": ("cat", lambda: torch.cat([torch.randn(4, 5), torch.randn(2, 4, 5)[1], torch.randn(5, 4).t()], 1)),
    "index_select": ("index_select", lambda: torch.index_select(torch.randn(4, 5), 0, longs(1, 3))),
    "index_select of integers": ("index_select", lambda: torch.index_select(longs(7, 8, 9), 0, longs(2))),
    "gather": ("gather", lambda: torch.gather(torch.randn(4, 5), 1, torch.full((4, 2), 3))),
    "scatter": ("scatter_add", lambda: torch.randn(4, 5).scatter_add(0, torch.full((2, 5), 3), torch.randn(2, 5))),
    "nll_loss": ("nll_loss", lambda: functional.nll_loss(torch.randn(4, 5), longs(4, 4, 4, 4))),
    "attention": (
        "scaled_dot_product_attention",
        lambda: functional.scaled_dot_product_attention(*torch.randn(3, 1, 2, 4, 8), is_causal=True),
    ),
    "sum": ("sum", lambda: torch.sum(torch.randn(4, 5))),
    "sum of dimensions": ("sum", lambda: torch.sum(torch.randn(4, 5), [0, 1], keepdim=True, dtype=torch.float64)),
    "add of expanded": ("add", lambda: torch.randn(1, 5).expand(4, 5) + torch.randn(5, 4).t()),
    "add of overlapping": ("add", lambda: torch.randn(9).as_strided((3, 4), (2, 1)) + 1.5),
    "add of empty": ("add", lambda: torch.empty(0, 3) + 1),
    "add with alpha": ("add", lambda: torch.add(torch.randn(3), torch.randn(3), alpha=3)),
    "and of bool": ("bitwise_and", lambda: torch.ones(3, dtype=torch.bool) & torch.zeros(3, dtype=torch.bool)),
    "division of int": ("floor_divide", lambda: torch.ones(3, dtype=torch.int32) // torch.ones(3, dtype=torch.int32)),
    "mul of half": ("mul", lambda: torch.ones(3, dtype=torch.half) * torch.ones(3, dtype=torch.half)),
    "mul of bfloat16": ("mul", lambda: torch.ones(3, dtype=torch.bfloat16) * 2),
    "mul of complex": ("mul", lambda: torch.ones(3, dtype=torch.complex64) * torch.ones(3, dtype=torch.complex64)),
    "comparison with nan": ("eq", lambda: torch.randn(3).eq(float("nan"))),
    "full of infinity": ("full", lambda: torch.full((2, 3), float("-inf"))),
    "full of complex": ("full", lambda: torch.full((2,), 1 - 2j)),
    "add of zero dimensions": ("add", lambda: torch.tensor(2.5) + torch.tensor(3)),
    "clamp with one bound": ("clamp", lambda: torch.randn(3).clamp(min=0.5)),
    "split": ("split_with_sizes", lambda: torch.randn(4, 5).split([1, 3])),
    "cast": ("_to_copy", lambda: torch.randn(3).to(torch.float64)),
    "in place": ("add_", lambda: torch.randn(3).add_(torch.randn(3))),
    "batch_norm": ("native_batch_norm", batch_norm),
    "undefined tensor": ("convolution", lambda: torch.conv2d(torch.randn(1, 1, 4, 4), torch.randn(1, 1, 2, 2))),
    "mm of a backward pass": ("mm", backward),
    "backward operator": ("native_layer_norm_backward", layer_norm_backward),
    "bernoulli": ("bernoulli", lambda: torch.bernoulli(torch.rand(3))),
    "uint8": ("add", lambda: torch.ones(3, dtype=torch.uint8) + torch.ones(3, dtype=torch.uint8)),
}

DRIVER = """
import json, runpy, sys
from opscope.torch import ProfilerActivity, profile
for script in json.loads(sys.argv[1]):
    sys.argv = [script, "--device", "cpu", "--number", "1", "--warmup", "1"]
    prof = profile(activities=[ProfilerActivity.CPU], record_shapes=True)
    with prof:
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            print(script, end, file=sys.stderr)
    prof.save(script + ".opscope")
"""


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """By name of a program: what was recorded of it, the script, and what was recorded of the script."""
    folder = tmp_path_factory.mktemp("reproduce")
    traces, scripts = {}, {}
    for number, (case, (name, program)) in enumerate(PROGRAMS.items()):
        traces[case] = record(folder / f"{number}.opscope", program)
        scripts[case] = str(folder / f"{number}.py")
        traces[case].reproduce(where=f"name = aten::{name}", path=scripts[case])
    arguments = [sys.executable, "-c", DRIVER, json.dumps(list(scripts.values()))]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return {case: (traces[case], script, opscope.open(script + ".opscope"), done) for case, script in scripts.items()}


@pytest.mark.parametrize("case", PROGRAMS)
def test_script_runs_the_very_same_call(case, reproduced):
    trace, script, ran, done = reproduced[case]
    name = "aten::" + PROGRAMS[case][0]
    failed = [line for line in done.stderr.splitlines() if line.startswith(script + " ")]
    assert not failed
    calls = calls_of(trace, name)
    assert calls and any(call in calls_of(ran, name) for call in calls)


def test_script_is_a_program_of_its_own(reproduced, tmp_path):
    trace, script, _, _ = reproduced["sum of dimensions"]
    done = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, timeout=200, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-3] == "operator: aten.sum.dim_IntList"
    assert lines[-2].startswith("recorded: 1 call, min ")
    assert lines[-1].startswith("measured: median ")
    text = open(script).read()
    imported = {node.names[0].name.split(".")[0] for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)}
    assert imported == {"argparse", "functools", "sys", "torch"}


def test_text_argument_that_was_not_recorded_is_named(tmp_path):
    trace = record(tmp_path / "run.opscope", lambda: torch.einsum("ij,jk->ik", torch.randn(2, 3), torch.randn(3, 4)))
    script = tmp_path / "repro.py"
    assert trace.reproduce(where="name = aten::einsum", path=script) == script.read_text()
    assert "# not recorded: argument 0: None or an object" in script.read_text()
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 1
    assert "'equation' (str) was not recorded: write it into make_arguments()" in done.stderr


def recorded_call(**members):
    event = {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": "aten::add", "cat": "cpu_op"} | members
    return opscope.read(json.dumps([event]).encode())


def inputs(*values):
    one = {"Input type": ["float"] + ["Scalar"] * len(values), "Concrete Inputs": ["", *values]}
    return one | {"Input Dims": [[2]] + [[]] * len(values), "Input Strides": [[1]] + [[]] * len(values)}


HOSTILE = [
    "__import__('os').system('touch owned')",
    "1]\n__import__('os').system('touch owned')\n[",
    '\'"""\'"',
    "\\\n",
    "1\u2028import os",
    "[1, __import__('os')]",
    "# -*- coding: utf-7 -*-",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_values_are_no_code(text):
    script = recorded_call(args=inputs(text)).reproduce()
    assert script.isascii()
    plain = recorded_call(args=inputs("")).reproduce()
    assert ast.dump(ast.parse(script)) == ast.dump(ast.parse(plain))
    assert "coding" not in "".join(script.splitlines()[:2])


def test_operator_that_is_not_registered_is_named(tmp_path):
    script = tmp_path / "repro.py"
    recorded_call(name="my_library::my_operator", args=inputs("1")).reproduce(path=script)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 1
    assert done.stderr.startswith("my_library::my_operator is not registered in torch ")


def test_what_cannot_be_reproduced_is_refused():
    with pytest.raises(opscope.Error, match="record_shapes=True"):
        recorded_call().reproduce()
    with pytest.raises(opscope.Error, match="is a node of autograd"):
        recorded_call(name="MulBackward0", args=inputs()).reproduce()
    with pytest.raises(opscope.Error, match="no span is chosen"):
        recorded_call(args=inputs()).reproduce(where="name = aten::mm")
    with pytest.raises(opscope.Error, match="where: "):
        recorded_call(args=inputs()).reproduce(where="nonsense")


def test_how_to_page_does_what_it_says(tmp_path):
    page = (Path(__file__).resolve().parent.parent.parent / "docs/how-to/reproduce_an_operator.md").read_text()
    program = page.split("```python\n")[1].split("```")[0]
    commands = page.split("```sh\n")[1].split("```")[0]
    subprocess.run([sys.executable, "-c", program], check=True, timeout=200, cwd=tmp_path)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", commands],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert "reproduces aten::addmm (10 calls); also chosen: 10 calls of 1 other operator or shape" in done.stderr
    assert done.stdout.startswith("operator: aten.addmm.default\nrecorded: 10 calls, min ")
