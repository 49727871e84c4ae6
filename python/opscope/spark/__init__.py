# SPDX-License-Identifier: Apache-2.0
"""Jobs of many ranks on Apache Spark: executors read the trace files, and Spark's SQL answers the questions.

Needs `pyspark` (``pip install opscope[spark]``) and Java. The executors need opscope with DuckDB too, and see the files
and the folder JOB under the same paths as the driver, so both lie on a shared file system.

    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    opscope.spark.collect(spark, files, "/shared/job")
    opscope.job("/shared/job", engine=spark).stragglers()
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opscope import Error
from opscope.spark.engine import engine_of, open_engine, rows_of, spark_errors, views

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["collect", "engine_of", "open_engine", "rows_of", "views"]


def collect(
    spark: SparkSession, files: Sequence[str | bytes | os.PathLike], out: str | bytes | os.PathLike
) -> list[dict]:
    """Adds trace files to the JOB ``out``; an executor reads each file (``mapInArrow``).

    A dict per file, in the order of ``files``, as ``opscope collect --json`` has them. When an executor is lost,
    another one reads its files again: JOB has each file once, and one that was complete before is "already" there.
    Raises `opscope.Error` where JOB cannot be.
    """
    paths = [os.path.abspath(os.fsdecode(file)) for file in files]
    if not paths:
        return []
    job = os.path.abspath(os.fsdecode(out))
    with spark_errors():
        rows = _one_in_a_task(spark, paths).mapInArrow(_reader(job), "index long, answer string").collect()
    collected = []
    for _, text in sorted(rows):
        answer = json.loads(text)
        if "error" in answer:
            raise Error(answer["error"])
        collected += answer["files"]
    return collected


def _one_in_a_task(spark: SparkSession, paths: list[str]) -> DataFrame:
    """A frame with a partition for each path. ``repartition``, which hashes, leaves about a third of them empty."""
    frame = spark.createDataFrame(list(enumerate(paths)), "index long, path string")
    return frame.repartitionByRange(len(paths), "index")


def _reader(job: str):
    def read(batches):
        import pyarrow

        for batch in batches:
            columns = batch.to_pydict()
            answers = [_collect_one(path, job) for path in columns["path"]]
            yield pyarrow.RecordBatch.from_pydict({"index": columns["index"], "answer": answers})

    return read


def _collect_one(path: str, job: str) -> str:
    """In an executor: the JSON of the files of one path, or of why they cannot be collected.

    Spark would hide the message of an exception in the stacks of Java, and run the task again.
    """
    from opscope.job_answers import collect

    try:
        return json.dumps({"files": collect([path], job)})
    except (Error, OSError) as error:
        return json.dumps({"error": str(error)})
