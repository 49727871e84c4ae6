# SPDX-License-Identifier: Apache-2.0
"""Jobs of many ranks on Apache Spark: files are read by the executors, questions are answered by Spark's SQL.

Needs `pyspark` (``pip install opscope[spark]``). The executors need opscope too, and see the folder JOB under the same
path as the driver: on a shared file system.

    from pyspark.sql import SparkSession
    spark = SparkSession.builder.getOrCreate()
    opscope.spark.collect(spark, files, "/shared/job")
    opscope.job("/shared/job", engine=opscope.spark.engine(spark, "/shared/job")).stragglers()
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from opscope import _core
from opscope.table import require_package

__all__ = ["SparkEngine", "collect", "engine", "open_engine", "views"]

_TYPES = {"INTEGER": "int", "BIGINT": "bigint", "VARCHAR": "string", "INTEGER[]": "array<int>"}


def collect(spark, files: Sequence[str], out: str) -> list[dict]:
    """Adds trace files to the JOB ``out``; each file is read by an executor (``mapInArrow``).

    A dict per file, as ``opscope collect --json`` has them. A file whose executor is lost is read again by another
    one; what the first had written does not count.
    """
    paths = [str(file) for file in files]
    if not paths:
        return []
    out = str(out)

    def read(batches):
        import pyarrow

        from opscope import _core as core
        from opscope.sql import find_duckdb as find

        for batch in batches:
            told = [core.collect([path], out, None, find()) for path in batch.column(0).to_pylist()]
            yield pyarrow.RecordBatch.from_pydict({"told": told})

    frame = spark.createDataFrame([(path,) for path in paths], "path string").repartition(len(paths))
    rows = [row for told in frame.mapInArrow(read, "told string").collect() for row in json.loads(told[0])["files"]]
    place = {path: number for number, path in enumerate(paths)}
    return sorted(rows, key=lambda row: place.get(row["file"], len(paths)))


def views(spark, path: str) -> list[str]:
    """Makes a temporary view of each table of a JOB; returns their names."""
    names = []
    for table, files, columns in _core.job_files(path):
        names.append(table)
        if files:
            frame = spark.read.parquet(*files).select(*[name for name, _ in columns])
        else:
            frame = spark.createDataFrame([], ", ".join(f"{name} {_TYPES[kind]}" for name, kind in columns))
        frame.createOrReplaceTempView(table)
    return names


class SparkEngine:
    """Runs the SQL of `opscope.job` in a session of Spark, over the views that `views` made."""

    def __init__(self, spark):
        self._spark = spark
        self._kept = []

    def define(self, name: str, select: str, is_kept: bool) -> None:
        """Makes the rows of a SELECT known as ``name``; ``is_kept``: they are computed once."""
        frame = self._spark.sql(select)
        if is_kept:
            frame = frame.cache()
            self._kept.append(frame)
        frame.createOrReplaceTempView(name)

    def query(self, select: str) -> tuple[list[str], str]:
        """The names of the columns, and the rows as JSON."""
        frame = self._spark.sql(select)
        return frame.columns, json.dumps([list(row) for row in frame.collect()])


def engine(spark, path: str) -> SparkEngine:
    """The engine of a JOB for `opscope.job`."""
    views(spark, path)
    return SparkEngine(spark)


def open_engine(path: str, master: str) -> SparkEngine:
    """The engine for ``--engine spark``: a session at ``master``, "" for Spark's own choice."""
    require_package("pyspark", "'opscope[spark]'")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("opscope").config("spark.ui.enabled", "false")
    if master:
        builder = builder.master(master)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return engine(session, path)
