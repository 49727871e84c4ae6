# SPDX-License-Identifier: Apache-2.0
"""Process groups in the answers over a JOB."""

import json

import pytest
from job_command import RANKS, rank_trace
from opscope_command import answer, run

import opscope

pytest.importorskip("duckdb")


@pytest.fixture(name="job")
def job_fixture(tmp_path):
    """The ranks 0 and 1 are the group "7", the others the group "8"."""
    for rank in range(RANKS):
        trace = rank_trace(rank, slow=2)
        members = [rank // 2 * 2, rank // 2 * 2 + 1]
        for event in trace["traceEvents"]:
            if event["name"].startswith("gloo:"):
                event["args"] = {
                    "Process Group Name": str(7 + rank // 2),
                    "Group size": 2,
                    "Process Group Ranks": str(members),
                }
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(trace))
    run("collect", tmp_path, "-o", tmp_path / "job")
    return tmp_path / "job"


def test_collectives_have_the_name_of_their_group(job):
    rows = answer("collectives", job)["rows"]
    assert {(row["group"], row["group_key"]) for row in rows} == {("7", "7/2/0,1"), ("8", "8/2/2,3")}


def test_an_engine_that_is_no_session_is_named(job):
    for engine in ("spark", 3):
        expected = f"engine must be a SparkSession, or None or 'duckdb' for DuckDB, not {engine!r}"
        with pytest.raises(TypeError, match=expected):
            opscope.job(job, engine=engine)
    assert list(opscope.job(job, "duckdb").ranks()) == list(opscope.job(job).ranks())


def test_wrong_ranks_and_steps_of_a_trace_are_named(job):
    one = opscope.job(job)
    for arguments in ({"ranks": 3}, {"ranks": ["1"]}, {"ranks": [1.5]}, {"steps": 3}, {"steps": ("a", "b")}):
        (name,) = arguments
        with pytest.raises(TypeError, match=f"{name} must be .* such as"):
            one.trace(**arguments)
    with pytest.raises(ValueError, match=r"steps must be the first and the last step, such as \(10, 12\), not \(1,\)"):
        one.trace(steps=(1,))
    assert len(one.trace(ranks=[1], steps=(1, 1)).steps) == 1
