# SPDX-License-Identifier: Apache-2.0
"""A JOB that another program wrote, with the columns of the format alone, has the answers of one from `collect`.

What `collect` adds (docs/reference/job.md, Further columns) is left out of jobs made at random; the answers must not
change. `spans` and `op_stats` come from the files of a real `collect`.
"""

import json
import shutil

import pytest
from conftest import chrome_json, complete_event
from job_tables import Tables, random_job
from spark_session import spark_session

import opscope

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
import pyarrow  # noqa: E402  (it may be missing)
import pyarrow.parquet  # noqa: E402  (it may be missing)
from job_sql import arrow_tables  # noqa: E402  (it needs pyarrow)

ADDED = {"file_id", "wall_error_ns", "verdict", "reasons", "group_id", "position", "job"}
ANSWERS = ("ranks", "steps", "collectives", "stragglers", "critical_ranks")


def write_job(path, tables):
    """tables: {name: pyarrow.Table}."""
    (path / "_opscope" / "parts").mkdir(parents=True)
    files = []
    for name, table in tables.items():
        if table.num_rows == 0:
            continue
        (path / name).mkdir()
        pyarrow.parquet.write_table(table, path / name / "part-0.parquet")
        files.append({"table": name, "path": f"{name}/part-0.parquet", "rows": table.num_rows})
    (path / "_opscope" / "job.json").write_text('{"format": "opscope-job", "version": 1, "bucket_ranks": 128}')
    manifest = {"sha256": [], "files": files, "replaces": []}
    (path / "_opscope" / "parts" / "a.json").write_text(json.dumps(manifest))
    return path


def in_full(tables):
    """With the columns that random jobs lack. How far a wall clock is wrong is unknown: the format does not say it."""

    def filled(table, **columns):
        for name, (value, kind) in columns.items():
            table = table.append_column(name, pyarrow.array([value] * table.num_rows, kind))
        return table

    tables = {name: table.drop_columns(["job"]) for name, table in tables.items()}
    text, number = pyarrow.string(), pyarrow.int32()
    tables["ranks"] = filled(tables["ranks"].drop_columns(["wall_error_ns"]), wall_error_ns=(None, pyarrow.int64()))
    tables["ranks"] = filled(tables["ranks"], verdict=(0, number), reasons=("", text))
    tables["collectives"] = filled(tables["collectives"], members=([], pyarrow.list_(number)))
    return tables


def without_added(tables):
    return {
        name: table.drop_columns([column for column in table.column_names if column in ADDED])
        for name, table in tables.items()
        if name != "rank_groups"
    }


def answers(path, names=ANSWERS, **options):
    job = opscope.job(path, **options)
    return {name: list(getattr(job, name)()) for name in names}


def can_be_told_apart(tables):
    """Whether files of a rank do not overlap, rows begin within their files, and no two collectives begin together."""
    files = sorted(tables["ranks"].to_pylist(), key=lambda row: (row["attempt"], row["rank"], row["start_ns"]))
    for a, b in zip(files, files[1:], strict=False):
        if (a["attempt"], a["rank"]) == (b["attempt"], b["rank"]) and a["end_ns"] > b["start_ns"]:
            return False
    times = {row["file_id"]: range(row["start_ns"], row["end_ns"] + 1) for row in files}
    collectives = tables["collectives"].to_pylist()
    begins = {(row["file_id"], row["group_key"], row["step"], row["start_ns"]) for row in collectives}
    rows = tables["steps"].to_pylist() + collectives
    return len(begins) == len(collectives) and all(row["start_ns"] in times[row["file_id"]] for row in rows)


def random_jobs(count):
    """(number, tables with all columns) of jobs in which the rows without the columns say the same."""
    seed = 0
    while count > 0:
        job = random_job(seed)
        if job["collectives"] and job["steps"]:
            tables = in_full(dict(arrow_tables([job])))
            if can_be_told_apart(tables):
                count -= 1
                yield seed, tables
        seed += 1


def test_answers_do_not_need_the_columns_that_collect_adds(tmp_path):
    matched = 0
    for seed, tables in random_jobs(6):
        full, bare = (
            write_job(tmp_path / f"{seed}-full", tables),
            write_job(tmp_path / f"{seed}-bare", without_added(tables)),
        )
        expected = answers(full)
        assert answers(bare) == expected, seed
        matched += len(expected["collectives"])
        of_bare, of_full = ({*opscope.job(job).sql("SELECT * FROM ranks")[0]} for job in (bare, full))
        assert of_bare == of_full - ADDED
    assert matched > 20


def test_spans_and_their_sums_do_not_need_them(tmp_path):
    for rank in range(3):
        events = [complete_event(f"op{i % 7}", 10 * i, 3 + (i * rank) % 5) for i in range(200)]
        (tmp_path / f"rank{rank}.json").write_bytes(chrome_json(*events))
    full, bare = tmp_path / "full", tmp_path / "bare"
    opscope.collect(tmp_path, full)
    tables = {}
    for name in ("ranks", "spans", "op_stats", "problems"):
        files = sorted((full / name).rglob("*.parquet"))
        if files:
            tables[name] = pyarrow.concat_tables(
                [pyarrow.parquet.read_table(file, partitioning=None) for file in files]
            )
    write_job(bare, without_added(tables))
    shutil.move(full / "traces", tmp_path / "unused")  # quantiles read tables alone
    for exact in (False, True):
        expected = list(opscope.job(full).summary(quantiles=True, exact=exact))
        assert len(expected) == 7
        assert list(opscope.job(bare).summary(quantiles=True, exact=exact)) == expected
    query = "SELECT name, COUNT(*) AS n FROM spans GROUP BY name ORDER BY name"
    assert list(opscope.job(bare).sql(query)) == list(opscope.job(full).sql(query))


def test_rows_of_several_windows_belong_to_the_one_that_begins_last_before_them(tmp_path):
    """Two windows of each rank, and a step and a collective in each: twice the matches of one window."""
    tables = Tables()
    for rank in range(2):
        for window in range(2):
            begin = 10_000 * window
            file = tables.file(rank, begin, begin + 1000, world_size=2)
            tables.step(file, window, begin, 1000)
            tables.collective(file, "/2/", begin + 100, 200 + 50 * rank, step=window)
    full = in_full(dict(arrow_tables([tables.tables()])))
    job = opscope.job(write_job(tmp_path / "job", without_added(full)))
    assert [(row["files"], row["steps"], row["unmatched"]) for row in job.ranks()] == [(2, 2, 0)] * 2
    assert [(row["number"], row["step"], row["wait_ns"]) for row in job.collectives()] == [(0, 0, 50), (1, 1, 50)]


def test_a_column_of_the_format_that_is_missing_is_named(tmp_path):
    _, tables = next(random_jobs(1))
    tables = without_added(tables)
    tables["steps"] = tables["steps"].drop_columns(["name"])
    path = write_job(tmp_path / "job", tables)
    message = f"{path / 'steps' / 'part-0.parquet'}: at byte 0: the column name of the table steps is missing"
    for ask in (lambda: opscope.job(path).ranks(), lambda: opscope.job(path).sql("SELECT 1")):
        with pytest.raises(opscope.Error) as raised:
            ask()
        assert str(raised.value) == message


@pytest.mark.framework("pyspark")
@pytest.mark.framework("java")
def test_spark_gives_the_same_answers(tmp_path):
    _, tables = next(random_jobs(1))
    full, bare = write_job(tmp_path / "full", tables), write_job(tmp_path / "bare", without_added(tables))
    with spark_session("local[2]") as session:
        names = ("ranks", "collectives")
        assert answers(bare, names, engine=session) == answers(full, names)
