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

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opscope import Error, _core
from opscope.table import require_package

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["collect", "views"]

_TYPES = {"INTEGER": "int", "BIGINT": "bigint", "VARCHAR": "string", "INTEGER[]": "array<int>"}


def collect(
    spark: SparkSession, files: Sequence[str | bytes | os.PathLike], out: str | bytes | os.PathLike
) -> list[dict]:
    """Adds trace files to the JOB ``out``; an executor reads each file (``mapInArrow``).

    A dict per file, in their order, as ``opscope collect --json`` has them. When an executor is lost, another one reads
    its files again: JOB has each file once, and one that was complete before is "already" there. Raises `opscope.Error`
    where JOB cannot be.
    """
    paths = [os.path.abspath(os.fsdecode(file)) for file in files]
    if not paths:
        return []
    job = os.path.abspath(os.fsdecode(out))
    frame = spark.createDataFrame(list(enumerate(paths)), "place long, path string")
    with _spark_errors():
        rows = frame.repartition(len(paths), "place").mapInArrow(_reader(job), "place long, told string").collect()
    return [row | {"file": paths[place]} for place, told in sorted(rows) for row in json.loads(told)]


def _reader(job: str):
    def read(batches):
        import pyarrow

        for batch in batches:
            columns = batch.to_pydict()
            told = [_collect_one(path, job) for path in columns["path"]]
            yield pyarrow.RecordBatch.from_pydict({"place": columns["place"], "told": told})

    return read


def _collect_one(path: str, job: str) -> str:
    """In an executor: the JSON list of the files of one path."""
    from opscope.job_answers import collect

    return json.dumps(collect([path], job))


def views(spark: SparkSession, path: str | bytes | os.PathLike) -> list[str]:
    """Makes a temporary view of each table of a JOB (docs/reference/job.md has them); returns their names."""
    names = []
    for table, files, columns in _core.job_files(path):
        # Spark need not open files to learn their columns, and can make a table without files.
        schema = ", ".join(f"{name} {_TYPES[kind]}" for name, kind in columns)
        if files:
            frame = spark.read.schema(schema).parquet(*map(os.path.abspath, files))
        else:
            frame = spark.createDataFrame([], schema)
        frame.createOrReplaceTempView(table)
        names.append(table)
    return names


def rows_of(spark: SparkSession, path: str | bytes | os.PathLike, query: str, limit: int | None) -> list[dict]:
    """The rows of a query over the `views` of a JOB."""
    views(spark, path)
    with _spark_errors():
        frame = spark.sql(query)
        return [row.asDict(recursive=True) for row in (frame if limit is None else frame.limit(limit)).collect()]


class SparkEngine:
    """Runs the SQL of the answers in a session of Spark that has the `views` of a JOB.

    Rows that several statements read are written as Parquet files into ``folder``, which the executors see, until
    `close`. (A cached DataFrame would keep its plan: views over views repeat the plans below them, which grow
    exponentially. The rows of `DataFrame.localCheckpoint` are lost with an executor.)
    """

    def __init__(self, spark: SparkSession, folder: str):
        self._spark = spark
        self._folder = folder

    def define(self, name: str, select: str, is_kept: bool) -> None:
        """Makes the rows of a SELECT known as ``name``. ``is_kept``: they are computed once."""
        with _spark_errors():
            frame = self._spark.sql(select)
            if is_kept:
                path = os.path.join(self._folder, name)
                frame.write.parquet(path)
                frame = self._spark.read.schema(frame.schema).parquet(path)
            frame.createOrReplaceTempView(name)

    def query(self, select: str) -> tuple[list[str], str]:
        """The names of the columns, and the rows as JSON."""
        with _spark_errors():
            frame = self._spark.sql(select)
            return frame.columns, json.dumps([list(row) for row in frame.collect()])

    def close(self) -> None:
        """Removes the rows that were kept. The engine cannot be used after that."""
        shutil.rmtree(self._folder, ignore_errors=True)


def engine_of(spark: SparkSession, path: str | bytes | os.PathLike) -> SparkEngine:
    """The engine of a JOB, which keeps rows below it."""
    views(spark, path)
    return SparkEngine(spark, os.path.join(os.path.abspath(os.fsdecode(path)), "_opscope", f"spark-{uuid.uuid4().hex}"))


def open_engine(path: str, master: str) -> SparkEngine:
    """The engine for ``--engine spark``: a session at ``master``, "" for Spark's own choice."""
    require_package("pyspark", "'opscope[spark]'")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("opscope").config("spark.ui.enabled", "false")
    builder = builder.config("spark.log.level", "ERROR")
    if master:
        builder = builder.master(master)
    with _spark_errors():
        session = builder.getOrCreate()
    return engine_of(session, path)


@contextlib.contextmanager
def _spark_errors():
    """What Spark says becomes an `opscope.Error` of one line: the lines below the first one are stacks of Java."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        said = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else str(error)
        lines = [line.strip() for line in str(said).splitlines() if line.strip()]
        raise Error(f"Spark: {lines[0] if lines else type(error).__name__}") from None
