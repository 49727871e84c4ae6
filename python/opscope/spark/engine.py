# SPDX-License-Identifier: Apache-2.0
"""Runs the SQL of the answers over a JOB in Spark.

An answer takes dozens of statements. For few rows the time of a statement is that of planning, compiling and starting
tasks. So the rows of a small JOB stay in the driver: every view is computed once, by few tasks and without compiled
code, and the plan of the next statement contains its rows, which costs less than files. In a larger JOB the rows of
views that several statements read are written as Parquet files.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opscope import Error, _core
from opscope.spark.rows_folder import RowsFolder, remove_abandoned
from opscope.sql import checked_limit
from opscope.table import require_package

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TYPES = {"INTEGER": "int", "BIGINT": "bigint", "VARCHAR": "string", "INTEGER[]": "array<int>"}
# A JOB is small up to these numbers. The driver keeps about 2 KB for a row of `collectives`.
_SMALL_ROWS = 50_000
_SMALL_SPANS = 1_000_000  # of `spans` and `op_stats`, which are not kept
_SMALL_FILES = 64  # of a table: one task opens them
_SMALL_SETTINGS = {
    # Where a plan has an exchange, as below a UNION ALL. Spark's default is 200 tasks.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Spark describes each plan in text for its page.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "100",
}


def views(spark: SparkSession, path: str | bytes | os.PathLike) -> list[str]:
    """Makes a temporary view of each table of a JOB (docs/reference/job.md has them); returns their names."""
    names, tables = [], _core.job_files(path)
    with spark_errors():
        for name, frame in _tables(spark, tables):
            frame.createOrReplaceTempView(name)
            names.append(name)
    return names


def rows_of(
    spark: SparkSession, path: str | bytes | os.PathLike, query: str, limit: int | None, attempt: int | None = None
) -> list[dict]:
    """The rows of a query over the tables of a JOB, in a clone of the session, whose views stay as they are.

    ``attempt``: the one whose rows the tables have; None: the largest one. Raises `opscope.Error` if there is no such
    attempt.
    """
    count = checked_limit(limit)
    tables = _core.job_files(path)
    with spark_errors():
        session = _own_session(spark)
        frames = dict(_tables(session, tables))
        known = {row["attempt"] for row in frames["ranks"].select("attempt").distinct().collect()}
        chosen = max(known, default=0) if attempt is None else int(attempt)
        if attempt is not None and chosen not in known:
            there_are = ", ".join(map(str, sorted(known)))
            raise Error(f"{os.fspath(path)}: there is no attempt {attempt}; there are: {there_are}")
        for name, frame in frames.items():
            frame.where(f"attempt = {chosen}").createOrReplaceTempView(name)
        frame = session.sql(query)
        return [row.asDict(recursive=True) for row in (frame if count is None else frame.limit(count)).collect()]


class SparkEngine:
    """Runs statements in a session of its own, so that views and settings of the user's session stay as they are.

    ``is_small``: the rows of views are kept in the driver. Else those that several statements read are written as
    Parquet files into ``folder``, which the executors see, until `close`. (A cached DataFrame would keep its plan:
    views over views repeat the plans below them, which grow exponentially. The rows of `DataFrame.localCheckpoint` are
    lost with an executor.)
    """

    def __init__(self, spark: SparkSession, folder: RowsFolder, is_small: bool):
        self._folder = folder
        self._is_small = is_small and _is_classic(spark)
        self.session = _own_session(spark)
        if self._is_small:
            for name, value in _SMALL_SETTINGS.items():
                self.session.conf.set(name, value)

    def add_table(self, name: str, frame: DataFrame) -> None:
        """Makes the rows of a frame of `session` known as ``name``."""
        # All rows in one partition: joins and orders need no exchange.
        (frame.coalesce(1) if self._is_small else frame).createOrReplaceTempView(name)

    def define(self, name: str, select: str, is_kept: bool) -> None:
        """Makes the rows of a SELECT known as ``name``. ``is_kept``: they are computed once."""
        with spark_errors():
            frame = self.session.sql(select)
            if self._is_small:
                rows, schema = frame._jdf.collectAsList(), frame._jdf.schema()
                kept = self.session._jsparkSession.createDataFrame(rows, schema).coalesce(1)
                kept.createOrReplaceTempView(name)
                return
            if is_kept:
                path = self._folder.path_of(name)
                frame.write.parquet(path)
                frame = self.session.read.schema(frame.schema).parquet(_pattern_of(path))
            frame.createOrReplaceTempView(name)

    def query(self, select: str) -> tuple[list[str], str]:
        """The names of the columns, and the rows as JSON."""
        with spark_errors():
            frame = self.session.sql(select)
            return frame.columns, json.dumps([list(row) for row in frame.collect()])

    def close(self) -> None:
        """Removes the rows that were kept. The engine cannot be used after that."""
        self._folder.remove()


def engine_of(spark: SparkSession, path: str | bytes | os.PathLike) -> SparkEngine:
    """The engine of a JOB, which keeps rows in the driver or below JOB."""
    parent = os.path.join(os.path.abspath(os.fsdecode(path)), "_opscope")
    tables = _core.job_files(path)
    remove_abandoned(parent)
    with spark_errors():
        engine = SparkEngine(spark, RowsFolder(parent), _is_small(tables))
        sources = {table: source for table, source, *_ in tables}
        for name, frame in _tables(engine.session, tables):
            engine.add_table(sources[name], frame)
    return engine


def open_engine(path: str, master: str) -> SparkEngine:
    """The engine for ``--engine spark``: a session at ``master``, "" for Spark's own choice."""
    require_package("pyspark", "'opscope[spark]'")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("opscope").config("spark.ui.enabled", "false")
    builder = builder.config("spark.log.level", "ERROR").config("spark.ui.showConsoleProgress", "false")
    if master.startswith("local"):
        # Else Spark starts its workers by the python3 of the PATH, which may be another version, or lack opscope.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master:
        builder = builder.master(master)
    with spark_errors():
        session = builder.getOrCreate()
    return engine_of(session, path)


@contextlib.contextmanager
def spark_errors():
    """Turns an exception of Spark into an `opscope.Error` of one line; its other lines are stack traces of Java."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        said = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else str(error)
        raise Error(f"Spark: {_reason_in(str(said)) or type(error).__name__}") from None


def _reason_in(said: str) -> str:
    """The first line, or what a Python program in an executor raised: the last line of its traceback."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if "Traceback (most recent call last):" in lines:
        raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)]
        lines = raised[-1:] or lines
    return lines[0] if lines else ""


def _tables(spark: SparkSession, tables: list) -> Iterator[tuple[str, DataFrame]]:
    """(table, its rows) of what `_core.job_files` returns."""
    for table, _, files, columns, _ in tables:
        # Spark need not open files to learn their columns, and can make a table without files.
        if files:
            schema = ", ".join(f"{name} {_TYPES[kind]}" for name, kind in columns)
            paths = [_pattern_of(os.path.abspath(file)) for file in files]
            yield table, spark.read.schema(schema).parquet(*paths)
        else:
            nulls = ", ".join(f"CAST(NULL AS {_TYPES[kind]}) AS {name}" for name, kind in columns)
            yield table, spark.sql(f"SELECT {nulls} WHERE false")


def _pattern_of(path: str) -> str:
    """The path as a pattern that matches only it: Spark reads paths as patterns, in which ``job[1]`` means ``job1``."""
    return re.sub(r"[][{}*?\\]", r"\\\g<0>", path)


def _is_small(tables: list) -> bool:
    """By what `_core.job_files` returns."""
    rows = {table: count for table, _, _, _, count in tables}
    spans = rows.pop("spans", 0) + rows.pop("op_stats", 0)
    most_files = max(len(files) for _, _, files, _, _ in tables)
    return sum(rows.values()) <= _SMALL_ROWS and spans <= _SMALL_SPANS and most_files <= _SMALL_FILES


def _is_classic(spark: SparkSession) -> bool:
    return hasattr(spark, "_jsparkSession")  # Spark Connect has no session in Java


def _own_session(spark: SparkSession) -> SparkSession:
    """A session with a copy of the settings and views of the user's session. With Spark Connect: the user's session."""
    if not _is_classic(spark):
        return spark
    from pyspark import RDD

    of_user = RDD.toDF  # which the constructor replaces
    clone = type(spark)(spark.sparkContext, spark._jsparkSession.cloneSession())
    RDD.toDF = of_user
    return clone
