# SPDX-License-Identifier: Apache-2.0
"""A job of many ranks as one folder (JOB), and what it answers."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Sequence
from typing import Any

from opscope import _core
from opscope.sizes import byte_count
from opscope.sql import SqlRows, checked_seconds, find_duckdb, rows_within
from opscope.trace import Trace

__all__ = ["Job", "collect", "job"]


def collect(
    files: Sequence[str | bytes | os.PathLike], path: str | bytes | os.PathLike, *, attempt: int | None = None
) -> list[dict]:
    """Adds trace files, and the traces below folders, to the JOB ``path`` (``pip install opscope[sql]``).

    A dict per file, as ``opscope collect --json`` has them: "status" is "added", "already" or "refused"; "problems"
    has sentences, such as why a file is refused. Raises `opscope.Error` where JOB cannot be, and `OSError` where the
    system refuses; then the files before stay added.
    """
    names = [files] if isinstance(files, (str, bytes, os.PathLike)) else list(files)
    told = json.loads(_core.collect(names, path, attempt, find_duckdb()))
    for row in told["files"]:
        row["problems"] = [each["message"] for each in told["problems"] if each["file"] == row["file"]]
    return told["files"]


def job(path: str | bytes | os.PathLike, engine: Any = None, attempt: int | None = None) -> Job:
    """Opens a JOB that `opscope.collect` or ``opscope collect`` has filled.

    ``engine``: None is DuckDB in this process; a ``SparkSession`` answers there (`opscope.spark`). ``attempt``: which
    start of the job; None is the last one. Raises `opscope.Error` if the folder is no JOB.
    """
    return Job(path, engine, attempt)


class Job:
    """The ranks of a job. Each method is the verb of its name and returns its ``rows``: a list of dicts.

    `facts` and `problems` of the last answer stay: ``job.facts["missing_ranks"]``.
    """

    def __init__(self, path: str | bytes | os.PathLike, engine: Any = None, attempt: int | None = None):
        if engine is not None and not hasattr(engine, "createDataFrame"):
            raise TypeError(f"engine must be a SparkSession, or None for DuckDB, not {engine!r}")
        _core.job_files(path)  # it is a JOB
        self.path = path
        self._spark = engine
        self._attempt = attempt
        self.facts: dict = {}
        self.problems: list[dict] = []

    def ranks(self) -> list[dict]:
        """The ranks: steps, waiting, clocks."""
        return self._answer("ranks")

    def collectives(self, *, members: bool = False) -> list[dict]:
        """The collectives. ``members``: with the ranks of each."""
        return self._answer("collectives", members)

    def stragglers(self) -> list[dict]:
        """The ranks, hosts and pipeline stages that make the others wait."""
        return self._answer("stragglers")

    def critical_ranks(self) -> list[dict]:
        """The ranks that determine how long the job takes; `facts` has its steps."""
        return self._answer("critical-ranks")

    def steps(self) -> list[dict]:
        """The steps of all ranks: how long they were, and what they consisted of; `facts` has their summary."""
        return self._answer("steps")

    def devices(self) -> list[dict]:
        """How busy the devices of all ranks were; `facts` has their kernels and copies. Reads one rank at a time."""
        return self._answer("devices")

    def memory(self) -> list[dict]:
        """Which operators hold the memory of each device at its peak; `facts` has devices and steps. Reads one rank at
        a time."""
        return self._answer("memory")

    def sql(
        self, query: str, *, max_seconds: float = 60, max_memory: int | str = "4G", limit: int | None = 1_000_000
    ) -> SqlRows | list[dict]:
        """The rows of one SQL statement over the tables of JOB: of the attempt that was chosen, else of all.

        Limits as in `Trace.sql`. Spark's rows are a list of dicts, and ``limit`` is the only limit there.
        """
        if self._spark is not None:
            from opscope.spark import rows_of

            return rows_of(self._spark, self.path, query, limit, self._attempt)
        memory, seconds = byte_count(max_memory, "max_memory"), checked_seconds(max_seconds)
        return rows_within(
            limit,
            lambda count: _core.job_sql(self.path, query, seconds, memory, count, find_duckdb(), self._attempt),
        )

    def trace(self, ranks: Sequence[int] | None = None, steps: tuple[int, int] | None = None) -> Trace:
        """These ranks (None: all) as one `Trace`. ``steps``: the first and the last one to keep."""
        chosen = None if ranks is None else _numbers("ranks", ranks, "a list of ranks such as [0, 3]")
        if chosen == []:
            raise ValueError("ranks must not be empty; None is all of them")
        where = None
        if steps is not None:
            expected = "the first and the last step, such as (10, 12)"
            first_and_last = _numbers("steps", steps, expected)
            if len(first_and_last) != 2:
                raise ValueError(f"steps must be {expected}, not {steps!r}")
            where = "step >= {} and step <= {}".format(*first_and_last)
        return Trace(_core.job_trace(self.path, self._attempt, chosen or [], where))

    def _answer(self, verb: str, members: bool = False) -> list[dict]:
        engine = None
        if self._spark is not None:
            from opscope.spark import engine_of

            engine = engine_of(self._spark, self.path)
        try:
            told = json.loads(_core.job_answer(verb, self.path, self._attempt, members, find_duckdb(), engine))
        finally:
            if engine is not None:
                engine.close()
        rows = told.pop("rows")
        self.problems = told.pop("problems")
        self.facts = told
        return rows


def _numbers(name: str, values: Any, expected: str) -> list[int]:
    """``values`` as integers. TypeError: ``values`` is not iterable, or a member is not an integer."""
    try:
        return [operator.index(value) for value in values]
    except TypeError:
        raise TypeError(f"{name} must be {expected}, not {values!r}") from None
