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


def test_spark_gives_the_rows_of_the_brute_force(tmp_path):
    jobs = [random_job(seed) for seed in range(JOBS)] + [Planted(slow({6})).tables()]
    # A query of few rows takes as long as its plan, its compilation and its tasks. test_spark.py has Spark's defaults.
    settings = {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "1",
    }
    with spark_session("local[2]", **settings) as session:
        engine = Spark(session, jobs, tmp_path)
        for seed, tables in enumerate(jobs):
            engine.open(seed)
            wrong = differences(engine, tables)
            for name, (got, expected) in wrong.items():
                print(name, len(got), len(expected), got[:1], expected[:1], sep="\n")
            assert not wrong, f"job {seed}"
