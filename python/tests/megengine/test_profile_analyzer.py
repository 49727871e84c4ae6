# SPDX-License-Identifier: Apache-2.0
"""opscope.megengine.profile_analyzer beside megengine.utils.profile_analyzer on the profile of a training step."""

import inspect
import itertools
import json
import math
import subprocess
import sys

import megengine as mge
import megengine.functional as F
import megengine.module as M
import numpy as np
import pytest
from megengine.autodiff import GradManager
from megengine.jit import trace
from megengine.optimizer import SGD
from megengine.utils import profile_analyzer as theirs

from opscope.megengine import profile_analyzer as ours

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
CLASSES = ["NonExistNum", "OprProfRst", "Record", "ProfileAnalyzer", "TimeFuncHelper"]


@pytest.fixture(scope="module")
def profile():
    net = M.Sequential(M.Linear(16, 32), M.ReLU(), M.Linear(32, 4))
    manager, optimizer = GradManager().attach(net.parameters()), SGD(net.parameters(), lr=0.1)

    @trace(symbolic=True, profiling=True)
    def step(data, label):
        with manager:
            loss = F.loss.cross_entropy(net(data), label)
            manager.backward(loss)
        optimizer.step().clear_grad()
        return loss

    data, label = mge.tensor(np.ones((8, 16), "float32")), mge.tensor(np.zeros(8, "int32"))
    for _ in range(3):
        step(data, label).numpy()
    return json.loads(json.dumps(step.get_profile()))


def plain(record):
    """What a record has, for a comparison: N/A and nan are equal to themselves."""
    return {
        name: "nan" if isinstance(value, float) and math.isnan(value) else repr(value)
        for name, value in vars(record).items()
    }


def answers(module, profile, place, end, function, **arguments):
    analyzer = module.ProfileAnalyzer(profile)
    return analyzer.select(module.TimeFuncHelper.eval_time_func(place, end, function), **arguments)


@pytest.mark.parametrize("place, end", [("device", "end"), ("device", "kern"), ("host", "end"), ("host", "kern")])
def test_records_are_the_originals(profile, place, end):
    orders = [None, "time", "+time", "memory", "+bandwidth", "opr_id"]
    groups = [(None, None), ("sum", None), ("sum", "type"), (np.mean, "type")]
    compared = 0
    for sort_by, (aggregate, by), top in itertools.product(orders, groups, (0, 3)):
        if aggregate is not None and sort_by == "opr_id":
            continue
        arguments = {"sort_by": sort_by, "aggregate": aggregate, "aggregate_by": by, "top_k": top}
        try:
            expected = answers(theirs, profile, place, end, np.max, **arguments)
        except TypeError:  # it compares what is not known with something
            continue
        found = answers(ours, profile, place, end, np.max, **arguments)
        assert [plain(each) for each in found] == [plain(each) for each in expected], arguments
        compared += 1
    assert compared >= 20 and len(found) > 0


@pytest.mark.parametrize("function", ["min_start_func", "max_end_func"])
def test_first_starts_and_last_ends_are_the_originals(profile, function):
    times = []
    for module in (ours, theirs):
        time = getattr(module.TimeFuncHelper, function)("device", "end", None)
        times.append([each.time for each in module.ProfileAnalyzer(profile).select(time)])
    assert times[0] == times[1] != []


def test_filters_see_operators_with_inputs_and_outputs(profile):
    def has_inputs(operator, inputs, outputs):
        return len(inputs) > 1 and all("name" in each for each in outputs)

    time = ours.TimeFuncHelper.eval_time_func("host", "end", np.max)
    kept, expected = (
        [each.info["name"] for each in module.ProfileAnalyzer(profile, has_inputs).select(time)]
        for module in (ours, theirs)
    )
    assert kept == expected != []
    linear = ours.ProfileAnalyzer(profile).select(time, opr_filter=lambda opr: opr.opr_info["type"] == "MatrixMul")
    assert {each.info["type"] for each in linear} == {"MatrixMul"}


def test_what_is_not_known_comes_last_where_the_original_raises(profile):
    with pytest.raises(TypeError, match="isinstance expected 2 arguments"):
        answers(theirs, profile, "host", "end", np.max, sort_by="flops")
    for order in ("flops", "+flops"):
        flops = [repr(each.flops) == "N/A" for each in answers(ours, profile, "host", "end", np.max, sort_by=order)]
        assert flops == sorted(flops) and any(flops) and not all(flops)


def test_a_column_that_is_not_there_is_named(profile):
    with pytest.raises(AttributeError, match="no column 'FLOPS': there are time, info, .*flops"):
        answers(ours, profile, "host", "end", np.max, sort_by="FLOPS")


@pytest.mark.parametrize("name", CLASSES)
def test_methods_have_the_originals_arguments(name):
    for method, function in inspect.getmembers(getattr(theirs, name), inspect.isfunction):
        if method.startswith("_") and method != "__init__":
            continue
        expected = list(inspect.signature(function).parameters)
        assert list(inspect.signature(getattr(getattr(ours, name), method)).parameters) == expected, method


def test_it_imports_no_megengine_and_no_numpy():
    program = "import opscope.megengine.profile_analyzer, sys; print({'megengine', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "set()\n"
