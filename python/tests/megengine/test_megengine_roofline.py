# SPDX-License-Identifier: Apache-2.0
"""The roofline of real programs of MegEngine: FLOPs as MegEngine's module_stats counts them, and most time known."""

import collections
import math

import megengine as mge
import megengine.functional as F
import megengine.module as M
import numpy as np
import pytest
from megengine.autodiff import GradManager
from megengine.core._imperative_rt.core2 import apply
from megengine.core.ops.builtin import Elemwise
from megengine.optimizer import SGD
from megengine.utils.module_stats import module_stats

import opscope
import opscope.megengine

PRODUCTS = ("Convolution", "MatrixMul")


def tensor(*shape):
    return mge.tensor(np.random.RandomState(0).rand(*shape).astype("float32"))


def layers():
    """Modules with their inputs; no two of them make calls of equal shapes."""
    return [
        (M.Conv2d(4, 8, 3, stride=2, padding=1), (2, 4, 16, 16)),
        (M.Conv2d(8, 8, 3, groups=4, bias=False), (2, 8, 9, 9)),
        (M.Conv2d(4, 6, (1, 3), dilation=2), (2, 4, 12, 12)),
        (M.Conv1d(12, 6, 3), (2, 12, 7)),
        (M.ConvTranspose2d(8, 4, 3, stride=2), (2, 8, 6, 6)),
        (M.Linear(20, 12), (5, 20)),
    ]


def flops_of_products(trace):
    """FLOPs of the products, in the order in which the operators began."""
    rows = {(row["name"], row["shape"]): row for row in trace.roofline()}
    shapes = collections.defaultdict(list)
    for argument in trace.arguments:
        shapes[argument["list"]].append(list(argument["sizes"]))
    operators = [span for span in trace.spans if span["kind"] == 1 and span["name"].startswith(PRODUCTS)]
    operators.sort(key=lambda span: span["start"])
    called = [rows[span["name"], str(shapes[span["args"]])] for span in operators]
    return [row["flops"] // row["calls"] for row in called]


@pytest.mark.parametrize("suffix", ["json", "opscope"])
def test_flops_of_products_are_twice_the_multiplications_that_megengine_counts(tmp_path, suffix):
    modules = layers()
    expected = []
    for module, shape in modules:
        counted = module_stats(module, inputs=(tensor(*shape),), logging_to_stdout=False)[1].flops[0]
        # MegEngine adds the elements of the result that a bias is added to; of a Linear those of the bias itself.
        biased = module.bias.shape if isinstance(module, M.Linear) else counted["output_shapes"][0]
        additions = math.prod(biased) if module.bias is not None else 0
        expected.append(2 * (int(counted["flops_num"]) - additions))
    profiler = opscope.megengine.Profiler(str(tmp_path))
    with profiler:
        for module, shape in modules:
            module(tensor(*shape)).numpy()
    if suffix == "json":
        profiler.dump()
        (file,) = tmp_path.glob("*.json")
        trace = opscope.open(str(file))
    else:
        trace = profiler.trace
        trace.save(tmp_path / "trace.opscope")
        trace = opscope.open(tmp_path / "trace.opscope")
    assert flops_of_products(trace) == expected


def test_most_of_the_time_of_a_training_step_has_flops_and_bytes(tmp_path):
    net = M.Sequential(
        M.Conv2d(3, 16, 3, padding=1), M.BatchNorm2d(16), M.ReLU(), M.Conv2d(16, 32, 3, stride=2), M.ReLU()
    )
    head = M.Linear(32, 10)
    images, targets = tensor(8, 3, 32, 32), mge.tensor(np.arange(8) % 10)
    parameters = [*net.parameters(), *head.parameters()]
    optimizer, gradients = SGD(parameters, lr=0.01), GradManager().attach(parameters)

    def step():
        with gradients:
            loss = F.nn.cross_entropy(head(F.mean(net(images), axis=(2, 3))), targets)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss.numpy()

    def recorded():
        profiler = opscope.megengine.Profiler(str(tmp_path))
        with profiler:
            step()
        return profiler.trace

    step()
    traces = [recorded() for _ in range(5)]
    # Other work on the machine may interrupt an operator without a formula: the best of some recordings counts.
    assert max(trace.roofline_machine()["known_share"] for trace in traces) >= 0.9
    rows = traces[0].roofline()
    # Each gradient of a convolution has the FLOPs of the convolution.
    flops = {(row["name"], row["shape"]): row["flops"] for row in rows}
    image, middle, filter, result = [8, 16, 32, 32], [8, 32, 15, 15], [32, 16, 3, 3], 2 * 8 * 32 * 15 * 15 * 16 * 9
    assert flops["Convolution", str([image, filter])] == result
    assert flops["ConvolutionBackwardDataV2", str([filter, middle, image])] == result
    assert flops["ConvolutionBackwardFilterV2", str([image, middle, filter])] == result


def applied(mode, *candidates):
    """How many operands a mode takes, and their bytes per element: it is applied to as many as it accepts."""
    for operands in (1, 2, 3, 4):
        for tensors in candidates:
            try:
                (result,) = apply(Elemwise(mode), *tensors[:operands])
                result.numpy()
                return operands, tensors[0].numpy().itemsize
            except (RuntimeError, TypeError, ValueError):
                pass
    return None


def test_every_mode_of_elemwise_reads_its_operands_and_writes_one_result(tmp_path):
    values = np.full((4, 8), 0.5, "float32"), np.full((4, 8), 2, "int32"), np.full((4, 8), True)
    candidates = [[mge.tensor(each) for _ in range(4)] for each in values]
    modes = [name for name in dir(Elemwise.Mode) if name.isupper()]
    profiler = opscope.megengine.Profiler(str(tmp_path))
    with profiler:
        taken = {mode: applied(mode, *candidates) for mode in modes}
    assert [mode for mode in modes if taken[mode] is None] == ["ISINF", "ISNAN", "NEQ"], "of other operators"
    rows = {row["name"]: row for row in profiler.trace.roofline()}
    for mode, (operands, width) in ((mode, how) for mode, how in taken.items() if how is not None):
        row = rows[mode]
        assert row["flops"] % 32 == 0 and 1 <= row["flops"] // (32 * row["calls"]) <= 3, mode
        results = {32, 32 * width}  # truth values, or of the type of the operands
        assert row["bytes"] // row["calls"] - 32 * width * operands in results, mode
