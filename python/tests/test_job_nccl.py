# SPDX-License-Identifier: Apache-2.0
"""A job of NCCL from its files to the answers, beside the brute force over the Parquet files of the JOB."""

import json

import pytest
from job_brute_force import Job
from job_brute_force_sets import CriticalPath, straggler_rows
from nccl_job import CLOCKS_US, RANKS, SLOW, STEPS, NcclJob
from opscope_command import answer, run

duckdb = pytest.importorskip("duckdb")


def collected(folder, **options):
    (folder / "traces").mkdir()
    NcclJob(**options).write(folder / "traces")
    run("collect", folder / "traces", "-o", folder / "job")
    return folder / "job"


@pytest.fixture(name="job", scope="module")
def job_fixture(tmp_path_factory):
    return collected(tmp_path_factory.mktemp("nccl"), seed=1)


def rows_of(job, table):
    paths = []
    for manifest in sorted((job / "_opscope" / "parts").glob("*.json")):
        files = json.loads(manifest.read_text())["files"]
        paths += [str(job / file["path"]) for file in files if file["table"] == table]
    found = duckdb.sql(f"SELECT * FROM read_parquet({paths}, hive_partitioning = false)")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def brute_force(job):
    tables = {table: rows_of(job, table) for table in ("ranks", "steps", "collectives")}
    tables["collectives"].sort(key=lambda row: (row["rank"], row["start_ns"]))
    return Job(tables)


def rounded(value):
    """Shares are written with six places."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 5) if isinstance(value, float) else value


@pytest.mark.parametrize("with_seq", [True, False])
def test_answers_are_those_of_the_brute_force(tmp_path, with_seq):
    job = collected(tmp_path, seed=2, with_seq=with_seq)
    expected = brute_force(job)
    assert answer("ranks", job)["rows"] == list(expected.rank_rows())
    assert answer("steps", job)["rows"] == list(expected.step_rows())
    collectives = answer("collectives", job, "--members")
    members = [list(expected.members_of(match)) for match in expected.matches]
    rows = [row | {"members": of} for row, of in zip(expected.collective_rows(), members, strict=True)]
    assert collectives["rows"] == rows
    assert collectives["groups"] == list(expected.collective_groups())
    assert {row["number_from"] for row in rows} == ({"seq", "order"} if with_seq else {"order"})
    (straggler,) = rounded(answer("stragglers", job)["rows"])
    assert [straggler] == rounded(straggler_rows(expected))
    assert (straggler["name"], straggler["cause"]) == (str(SLOW), "compute")
    critical, path = answer("critical-ranks", job), CriticalPath(expected).answer()
    assert rounded({name: critical[name] for name in path}) == rounded(path)


def test_a_collective_is_of_the_step_that_launched_it(job):
    rows = [row for row in rows_of(job, "collectives") if row["kind"] == "all_reduce"]
    assert len(rows) == RANKS * len(STEPS)
    begins = {(row["rank"], row["step"]): row["start_ns"] for row in rows_of(job, "steps")}
    for row in rows:
        step = (row["seq"] - 100) // 2
        runs_later = row["start_ns"] > begins[row["rank"], step] + 3_000_000
        assert (row["step"], runs_later) == (step, step % 2 == 1)
        assert (row["elements"], row["group_key"]) == (1024, "0/6/0,1,2,3,4,5")


@pytest.mark.parametrize("with_seq", [True, False])
def test_merge_aligns_the_clocks_as_ranks_does(tmp_path, with_seq):
    job = collected(tmp_path, seed=3, with_seq=with_seq, runs_later=False)  # so that each step is like the others
    merged = answer("merge", job, "-o", tmp_path / "all.opscope")
    assert not [row for row in merged["problems"] if row["kind"] in ("rank_starts_late", "clock_not_aligned")]
    offsets = {row["rank"]: row["offset_ns"] for row in merged["inputs"]}
    for row in answer("ranks", job)["rows"]:
        planted = (CLOCKS_US[0] - CLOCKS_US[row["rank"] // 2]) * 1000
        assert abs(row["clock_offset_ns"] - planted) <= 10_000
        assert abs(offsets[row["rank"]] - offsets[0] - planted) <= 10_000
