# SPDX-License-Identifier: Apache-2.0
"""`opscope.job`: a method for each verb that takes a JOB, with the rows of the command line, as a table too."""

import json

import pytest
from job_command import rank_trace
from opscope_command import answer, run

import opscope

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

RANKS, STEPS = 3, 4
BEGIN_NS = 5_000_000


def write_rank(folder, rank, slower_us=0):
    """Steps of 1 ms with one operator and a collective; the clock of each rank begins at another moment."""
    events = []
    for step in range(STEPS):
        begin = step * 1000 + rank * 7
        for name, category, start, duration in (
            (f"ProfilerStep#{step}", "user_annotation", 0, 1000),
            ("aten::mm", "cpu_op", 10, 400 + slower_us + step),
            ("gloo:all_reduce", "user_annotation", 900, 50),
        ):
            event = {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": begin + start, "dur": duration}
            events.append(event)
    facts = {"distributedInfo": {"rank": rank, "world_size": RANKS}, "baseTimeNanoseconds": BEGIN_NS}
    path = folder / f"rank{rank}.json"
    path.write_text(json.dumps(facts | {"traceEvents": events}))
    return path


def make_job(folder, slower_us=0):
    folder.mkdir()
    run("collect", *(write_rank(folder, rank, slower_us) for rank in range(RANKS)), "-o", folder / "job")
    return folder / "job"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return make_job(tmp_path_factory.mktemp("job") / "a")


@pytest.fixture(scope="module")
def slower(tmp_path_factory):
    return make_job(tmp_path_factory.mktemp("job") / "b", slower_us=100)


@pytest.mark.parametrize(
    ("verb", "ask"),
    [
        ("ranks", lambda job: job.ranks()),
        ("collectives", lambda job: job.collectives()),
        ("stragglers", lambda job: job.stragglers()),
        ("critical-ranks", lambda job: job.critical_ranks()),
        ("steps", lambda job: job.steps()),
        ("devices", lambda job: job.devices()),
        ("memory", lambda job: job.memory()),
        ("summary", lambda job: job.summary()),
        ("summary --quantiles", lambda job: job.summary(quantiles=True)),
        ("summary --quantiles --exact", lambda job: job.summary(quantiles=True, exact=True)),
        ("advise", lambda job: job.advise()),
    ],
)
def test_each_verb_has_a_method_whose_rows_are_a_table_too(path, verb, ask):
    verb, *options = verb.split()
    told = answer(verb, path, *options)["rows"]
    rows = ask(opscope.job(path))
    assert [{key: row[key] for key in told[at]} for at, row in enumerate(rows)] == told
    table = rows.to_arrow()
    assert table.num_rows == len(rows) and set(table.column_names) == set(rows.schema)
    for name, column in rows.schema.items():
        if column.type in ("int64", "float64", "list<int64>"):
            assert table[name].to_pylist() == [row[name] for row in rows]
    assert len(rows.to_pandas()) == len(rows)


def test_lists_of_ranks_are_lists_in_tables(tmp_path):
    traces = [tmp_path / f"rank{rank}.json" for rank in range(4)]
    for rank, trace in enumerate(traces):
        trace.write_text(json.dumps(rank_trace(rank, size=4, slow=2)))
    opscope.collect(traces, tmp_path / "job")
    rows = opscope.job(tmp_path / "job").stragglers()
    assert rows.schema["ranks"].type == "list<int64>"
    assert rows.to_arrow()["ranks"].to_pylist() == list(rows.to_pandas()["ranks"]) == [row["ranks"] for row in rows]
    assert rows[0]["ranks"] == [2]


def test_comparisons_take_jobs(path, slower):
    told = answer("diff", path, slower)
    changes = opscope.job(path).diff(opscope.job(slower))
    assert [(row["name"], row["delta_ns"]) for row in changes] == [
        (row["name"], row["delta_ns"]) for row in told["rows"]
    ]
    assert {row["name"]: row["delta_ns"] for row in changes}["aten::mm"] == 100_000  # of each step of a rank
    limits = {"op_self_ns:aten::mm": {"max_increase": "5%"}}
    job = opscope.job(slower)
    assert not job.check(limits, baseline=opscope.job(path)).passed
    assert job.check(limits, baseline=job).passed


def test_answers_count_by_the_clock_of_each_rank(path):
    """Its own, as the command line does; a timeline of all ranks has one clock."""
    assert [row["start_ns"] for row in opscope.job(path).steps()] == [
        row["start_ns"] for row in answer("steps", path)["rows"]
    ]
    job = opscope.job(path)
    job.advise()
    assert [row["kind"] for row in job.problems] == [row["kind"] for row in answer("advise", path)["problems"]]


def test_a_wrong_option_is_named(path):
    job = opscope.job(path)
    with pytest.raises(ValueError, match="exact is for quantiles=True"):
        job.summary(exact=True)
    with pytest.raises(TypeError, match="not group_by"):
        job.summary(quantiles=True, group_by="rank")
    with pytest.raises(TypeError):
        job.summary(grouped_by="rank")


def test_the_rows_of_collect_are_a_table_too(tmp_path):
    rows = opscope.collect([write_rank(tmp_path, 0), tmp_path / "absent"], tmp_path / "job")
    assert [row["status"] for row in rows] == ["added", "refused"]
    assert rows.to_arrow()["status"].to_pylist() == ["added", "refused"]
    assert rows[1]["problems"] and not rows[0]["problems"]


def test_small_files_are_joined(tmp_path):
    path = make_job(tmp_path / "c")
    job = opscope.job(path)
    before = list(job.stragglers()), list(job.ranks()), job.summary(quantiles=True)
    assert job.compact() == {"parts_before": RANKS, "parts_after": 1}
    assert (list(job.stragglers()), list(job.ranks()), job.summary(quantiles=True)) == before
    assert job.compact() == {"parts_before": 1, "parts_after": 1}
