# SPDX-License-Identifier: Apache-2.0
"""The SQL over a JOB gives in Spark what the brute force gives, so what it gives in DuckDB (test_job_sql.py)."""

import os

import pytest
from job_planted import Planted, slow
from job_tables import random_job
from spark_session import spark_session
from test_job_sql import differences

pytest.importorskip("pyarrow")
from job_sql import Spark  # noqa: E402  (it needs pyarrow)

pytestmark = [pytest.mark.framework("pyspark"), pytest.mark.framework("java")]
JOBS = int(os.environ.get("OPSCOPE_RANDOM_SPARK_JOBS", "20"))


@pytest.fixture(scope="module", name="jobs")
def jobs_fixture():
    return [random_job(seed) for seed in range(JOBS)] + [Planted(slow({6})).tables()]


@pytest.fixture(scope="module", name="session")
def session_fixture():
    # A query of few rows takes as long as its plan, its compilation and its tasks. test_spark.py has
    # Spark's defaults of all but the number of partitions.
    settings = {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.shuffle.partitions": "1",
    }
    with spark_session("local[2]", **settings) as session:
        yield session


@pytest.fixture(scope="module", name="small_engine")
def small_engine_fixture(session, jobs, tmp_path_factory):
    """Spark with the tables of all jobs; the driver keeps rows."""
    return Spark(session, jobs, tmp_path_factory.mktemp("jobs"), is_small=True)


def differences_of(engine, job, tables):
    engine.open(job)
    wrong = differences(engine, tables)
    for name, (got, expected) in wrong.items():
        print(name, len(got), len(expected), got[:1], expected[:1], sep="\n")
    return wrong


@pytest.mark.parametrize("seed", range(JOBS + 1))
def test_spark_gives_the_rows_of_the_brute_force(small_engine, jobs, seed):
    assert not differences_of(small_engine, seed, jobs[seed])


def test_spark_gives_the_rows_of_the_brute_force_when_it_keeps_rows_in_files(session, jobs, tmp_path):
    engine = Spark(session, jobs, tmp_path, is_small=False)
    assert not differences_of(engine, JOBS, jobs[JOBS])
