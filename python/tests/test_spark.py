# SPDX-License-Identifier: Apache-2.0
"""`opscope.spark`: executors fill a JOB, and Spark answers what DuckDB answers."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from job_command import RANKS, STEPS, rank_trace
from spark_session import spark_session

import opscope
from opscope.spark import engine
from opscope.spark.rows_folder import RowsFolder

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytestmark = [pytest.mark.framework("pyspark"), pytest.mark.framework("java")]
ANSWERS = {
    "ranks": lambda job: job.ranks(),
    "collectives": lambda job: job.collectives(members=True),
    "stragglers": lambda job: job.stragglers(),
    "critical_ranks": lambda job: job.critical_ranks(),
}


def write_ranks(folder, ranks):
    folder.mkdir()
    paths = []
    for rank in ranks:
        paths.append(folder / f"rank{rank}.json")
        paths[-1].write_text(json.dumps(rank_trace(rank, slow=2, host=f"node{rank // 2}")))
    return paths


@pytest.fixture(name="spark", scope="module")
def spark_fixture():
    """A driver, and two executors in processes of their own."""
    with spark_session("local-cluster[2,1,1024]") as session:
        yield session


@pytest.fixture(name="job", scope="module")
def job_fixture(spark, tmp_path_factory):
    """Rank 3 has no file, and one file is no trace."""
    folder = tmp_path_factory.mktemp("spark")
    files = write_ranks(folder / "traces", range(RANKS - 1))
    bad = folder / "bad.json"
    bad.write_text("no trace")
    told = opscope.spark.collect(spark, [*files, bad], folder / "job")
    assert [(row["file"], row["status"], row["rank"]) for row in told] == [
        *((str(file), "added", rank) for rank, file in enumerate(files)),
        (str(bad), "refused", None),
    ]
    again = opscope.spark.collect(spark, files, folder / "job")
    assert [row["status"] for row in again] == ["already"] * len(files)
    for file in [*files, bad]:
        file.unlink()
    return folder / "job"


@pytest.mark.parametrize(("way", "names"), [("driver", list(ANSWERS)), ("files", ["stragglers"])])
def test_spark_answers_what_duckdb_answers(spark, job, way, names, monkeypatch):
    """In both ways to keep rows. test_job_spark.py has the ranks and the collectives in files, too."""
    kept = []
    path_of = RowsFolder.path_of
    monkeypatch.setattr(RowsFolder, "path_of", lambda folder, name: kept.append(name) or path_of(folder, name))
    if way == "files":
        monkeypatch.setattr(engine, "_SMALL_ROWS", 0)
    of_spark, of_duckdb = opscope.job(job, engine=spark), opscope.job(job)
    for name in names:
        rows = ANSWERS[name](of_spark)
        assert rows and rows == ANSWERS[name](of_duckdb), name
        assert of_spark.facts == of_duckdb.facts, name
        assert of_spark.problems == of_duckdb.problems, name
        if name == "ranks":
            assert of_spark.facts["missing_ranks"] == [RANKS - 1]
        if name == "stragglers":
            assert [row["name"] for row in rows] == ["2"]
    assert bool(kept) == (way == "files")
    assert not [name for name in os.listdir(job / "_opscope") if name.startswith("spark")]


def test_an_answer_leaves_the_session_of_the_user_as_it_was(spark, job):
    from pyspark import RDD
    from pyspark.sql import SparkSession

    before = spark.conf.getAll, spark.catalog.listTables(), RDD.toDF
    opscope.job(job, engine=spark).ranks()
    assert (spark.conf.getAll, spark.catalog.listTables(), RDD.toDF) == before
    assert SparkSession.getActiveSession() is spark


def test_the_tables_are_views(spark, job):
    names = opscope.spark.views(spark, job)
    assert {"ranks", "steps", "collectives", "spans", "op_stats", "problems"} <= set(names)
    query = "SELECT rank, name, count(*) AS calls FROM spans GROUP BY rank, name ORDER BY rank, name"
    rows = opscope.job(job, engine=spark).sql(query)
    assert rows == list(opscope.job(job).sql(query))
    assert {"rank": 0, "name": "aten::mm", "calls": STEPS} in rows
    assert len(opscope.job(job, engine=spark).sql(query, limit=2)) == 2
    assert opscope.job(job, engine=spark, attempt=0).sql(query) == rows
    with pytest.raises(opscope.Error, match="there is no attempt 7; there are: 0"):
        opscope.job(job, engine=spark, attempt=7).sql(query)


def test_a_path_is_no_pattern(spark, job, tmp_path, monkeypatch):
    named = shutil.copytree(job, tmp_path / "job[1]{a,b}?*")
    (expected,) = opscope.spark.rows_of(spark, job, "SELECT count(*) AS files FROM ranks", None)
    assert expected["files"] > 0
    monkeypatch.setattr(engine, "_SMALL_ROWS", 0)  # then rows that are kept are files of the folder, too
    of_named = engine.engine_of(spark, named)
    try:
        of_named.define("kept", "SELECT * FROM ranks", True)
        assert of_named.query("SELECT count(*) AS files FROM kept") == (["files"], f"[[{expected['files']}]]")
    finally:
        of_named.close()


def test_sql_leaves_the_views_of_the_user_as_they_were(spark, job):
    of_user = "SELECT 'of the user' AS told"
    spark.sql(of_user).createOrReplaceTempView("ranks")
    spark.sql(of_user).createOrReplaceTempView("settings_of_user")
    try:
        asked = opscope.job(job, engine=spark)
        assert asked.sql("SELECT count(*) AS n FROM ranks") == [{"n": RANKS - 1}]
        assert asked.sql("SELECT * FROM settings_of_user") == [{"told": "of the user"}]
        assert spark.table("ranks").collect()[0].told == "of the user"
        assert asked.sql("SELECT * FROM steps", limit=0) == []
        with pytest.raises(ValueError, match="limit must not be negative"):
            asked.sql("SELECT * FROM steps", limit=-1)
    finally:
        spark.catalog.dropTempView("ranks")
        spark.catalog.dropTempView("settings_of_user")


def test_what_an_executor_cannot_do_is_told_in_its_words(spark, tmp_path):
    files = write_ranks(tmp_path / "traces", range(1))
    with pytest.raises(opscope.Error) as refused:
        opscope.spark.collect(spark, files, tmp_path / "traces")
    assert str(refused.value) == f"{tmp_path / 'traces'}: it is not empty and not a JOB"


def test_what_spark_refuses_is_one_line(spark, job):
    with pytest.raises(opscope.Error, match=r"^Spark: .*nowhere") as refused:
        opscope.job(job, engine=spark).sql("SELECT * FROM nowhere")
    assert "\n" not in str(refused.value)
    with pytest.raises(opscope.Error, match="JOB"):
        opscope.spark.views(spark, job.parent)


def test_a_damaged_file_is_named(spark, job, tmp_path):
    shutil.copytree(job, tmp_path / "job")
    victim = next((tmp_path / "job").glob("collectives/*.parquet"))
    content = bytearray(victim.read_bytes())
    for at in range(8, len(content) // 3):
        content[at] ^= 0x5A
    victim.write_bytes(content)
    with pytest.raises(opscope.Error, match=rf"^.*Spark: .*{victim.name}") as refused:
        opscope.job(tmp_path / "job", engine=spark).stragglers()
    assert "\n" not in str(refused.value)


def test_each_file_has_a_task_of_its_own(spark):
    for count in (1, 2, 12):
        frame = opscope.spark._one_in_a_task(spark, [f"rank{rank}.json" for rank in range(count)])
        assert [len(rows) for rows in frame.rdd.glom().collect()] == [1] * count


def executors(spark):
    """The processes of the executors that this driver's cluster has started."""
    identity = spark.sparkContext.applicationId
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command and identity.encode() in command:
            yield int(process.name)


def test_a_lost_executor_costs_no_rank(spark, tmp_path):
    files = write_ranks(tmp_path / "traces", range(24))
    job = tmp_path / "job"
    (first, _) = sorted(executors(spark))
    killed = threading.Event()

    def kill():
        while not list(job.glob("_opscope/parts/*.json")):
            time.sleep(0.01)
        os.kill(first, signal.SIGKILL)
        killed.set()

    threading.Thread(target=kill, daemon=True).start()
    told = opscope.spark.collect(spark, files, job)
    assert killed.is_set() and first not in executors(spark)
    assert {row["status"] for row in told} <= {"added", "already"} and len(told) == len(files)
    rows = opscope.job(job).ranks()
    assert [(row["rank"], row["files"]) for row in rows] == [(rank, 1) for rank in range(len(files))]


def test_the_command_line_starts_spark_when_asked_with_workers_of_its_own_python(job, tmp_path):
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 7\n")
    (tmp_path / "python3").chmod(0o755)
    others = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    environment = {**others, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}

    def told(*options):
        command = [sys.executable, "-m", "opscope", "summary", str(job), "--quantiles", "--exact", "--json", *options]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 3, done.stderr  # a rank has no file
        return json.loads(done.stdout)["rows"]

    assert told("--engine", "spark", "--master", "local[1]") == told()
