# SPDX-License-Identifier: Apache-2.0
"""trace(profiling=True): MegEngine's own, with a reason where there is no profile, read by opscope as it is."""

import inspect
import json

import megengine
import megengine.functional as F
import numpy
import pytest
from megengine.jit import trace as theirs

import opscope
from opscope.megengine import trace


def matrix():
    return megengine.tensor(numpy.ones((64, 64), "float32"))


def work(data):
    return F.exp(F.matmul(data, data)) + 1


def test_the_signature_is_the_originals():
    assert inspect.signature(trace) == inspect.signature(theirs)
    assert inspect.signature(trace.__init__) == inspect.signature(theirs.__init__)
    assert inspect.signature(trace.get_profile) == inspect.signature(theirs.get_profile)
    assert issubclass(trace, theirs)


def test_the_profile_has_the_operators_of_the_original():
    def types(kind):
        traced = kind(symbolic=True, profiling=True)(work)
        for _ in range(3):
            traced(matrix()).numpy()
        profile = traced.get_profile()
        assert set(profile) == {"graph_exec", "profiler"}
        return sorted(operator["type"] for operator in profile["graph_exec"]["operator"].values())

    assert types(trace) == types(theirs)


def test_opscope_reads_it_as_it_is(tmp_path):
    traced = trace(work, symbolic=True, profiling=True)
    for _ in range(2):
        traced(matrix()).numpy()
    path = tmp_path / "profiling.json"
    path.write_text(json.dumps(traced.get_profile(), indent=2))
    counts = {row["name"]: row["count"] for row in opscope.open(path).summary()}
    assert counts["MatrixMul"] >= 1 and counts["Elemwise"] >= 1


def test_there_is_no_profile_before_the_second_call_and_the_reason_is_told():
    traced = trace(work, symbolic=True, profiling=True)
    for call in range(2):
        with pytest.raises(TypeError, match="the second one compiles"):
            traced.get_profile()
        if call == 0:
            traced(matrix()).numpy()
    traced(matrix()).numpy()
    assert traced.get_profile()["profiler"]


def test_without_profiling_the_reason_is_another():
    traced = trace(work, symbolic=True)
    for _ in range(3):
        traced(matrix()).numpy()
    with pytest.raises(TypeError, match="without profiling=True"):
        traced.get_profile()
