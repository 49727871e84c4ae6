# SPDX-License-Identifier: Apache-2.0
"""A job of many ranks as one folder (JOB), and what it answers."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from opscope import _core
from opscope.comparison import TraceDiff
from opscope.limits import TraceCheck, limit_texts
from opscope.sizes import byte_count
from opscope.sql import SqlRows, checked_limit, checked_seconds, find_duckdb, rows_within
from opscope.table import ResultRows
from opscope.trace import Trace

__all__ = ["Job", "collect", "job"]

_Rows = TypeVar("_Rows", bound=ResultRows)


def collect(
    files: Sequence[str | bytes | os.PathLike], path: str | bytes | os.PathLike, *, attempt: int | None = None
) -> ResultRows:
    """Adds trace files, and the traces below folders, to the JOB ``path`` (``pip install opscope[sql]``).

    A dict per file, as ``opscope collect --json`` has them: "status" is "added", "already" or "refused"; "problems"
    has sentences, such as why a file is refused. Raises `opscope.Error` where JOB cannot be, and `OSError` where the
    system refuses; then the files before stay added.
    """
    names = [files] if isinstance(files, (str, bytes, os.PathLike)) else list(files)
    text, table = _core.collect(names, path, attempt, find_duckdb())
    answer = json.loads(text)
    for row in answer["files"]:
        row["problems"] = [each["message"] for each in answer["problems"] if each["file"] == row["file"]]
    return ResultRows(table, "files", answer["files"])


def job(path: str | bytes | os.PathLike, engine: Any = None, attempt: int | None = None) -> Job:
    """Opens a JOB that `opscope.collect` or ``opscope collect`` has filled.

    ``engine``: None or "duckdb" is DuckDB in this process; a ``SparkSession`` answers there (`opscope.spark`).
    ``attempt``: which start of the job; None is the last one. Raises `opscope.Error` if the folder is no JOB.
    """
    return Job(path, engine, attempt)


class Job:
    """The ranks of a job. Each method is the verb of its name and returns its ``rows`` (`ResultRows`).

    `facts` and `problems` of the last answer stay: ``job.facts["missing_ranks"]``.

    `summary`, `advise`, `devices`, `memory`, `diff` and `check` read one rank after the other into this process,
    whatever the engine is, or all ranks together where the method says so. The rest is SQL over the tables of JOB.
    """

    def __init__(self, path: str | bytes | os.PathLike, engine: Any = None, attempt: int | None = None):
        if engine == "duckdb":
            engine = None
        if engine is not None and not hasattr(engine, "createDataFrame"):
            raise TypeError(f"engine must be a SparkSession, or None or 'duckdb' for DuckDB, not {engine!r}")
        _core.job_files(path)  # it is a JOB
        self.path = path
        self._spark = engine
        self._attempt = attempt
        self.facts: dict = {}
        self.problems: list[dict] = []

    def ranks(self) -> ResultRows:
        """The ranks: steps, waiting, clocks."""
        return self._answer("ranks")

    def collectives(self, *, members: bool = False) -> ResultRows:
        """The collectives. ``members``: with the ranks of each."""
        return self._answer("collectives", members)

    def stragglers(self) -> ResultRows:
        """The ranks, hosts and pipeline stages that make the others wait."""
        return self._answer("stragglers")

    def critical_ranks(self) -> ResultRows:
        """The ranks that determine how long the job takes; `facts` has its steps."""
        return self._answer("critical-ranks")

    def steps(self, *, where: str | None = None) -> ResultRows:
        """The steps of all ranks: how long they were, and what they consisted of; `facts` has their summary.

        ``where`` chooses spans, as in `Trace.summary`. Then one rank at a time is read; if ``where`` needs all ranks,
        as `summary` tells, they are read together and `facts` is empty. The same holds for `devices`, `memory` and
        `critical_path`.
        """
        return self._answer_chosen("steps", where, lambda: self._own_clocks().steps_summary(where=where))

    def devices(self, *, where: str | None = None) -> ResultRows:
        """How busy the devices of all ranks were; `facts` has their kernels and copies. Reads one rank at a time."""
        return self._answer_chosen("devices", where, lambda: self._own_clocks().devices(where=where))

    def memory(self, *, where: str | None = None) -> ResultRows:
        """Which operators hold the memory of each device at its peak; `facts` has devices and steps. Reads one rank at
        a time."""
        return self._answer_chosen("memory", where, lambda: self._own_clocks().memory(where=where))

    def critical_path(self, *, where: str | None = None) -> ResultRows:
        """The critical path of each rank: as `Trace.critical_path`, with times of the rank's own clock. `facts` has
        "paths", the parts of each. Reads one rank at a time."""
        return self._answer_chosen("critical-path", where, lambda: self._own_clocks().critical_path(where=where))

    def summary(self, *, quantiles: bool = False, exact: bool = False, **options: Any) -> ResultRows:
        """The operator summary of all ranks; ``options`` are those of `Trace.summary`.

        Reads one rank at a time, except with ``corrected``, with the keys "thread", "process" and "stack", and where
        ``where`` compares ``start``, ``thread``, ``process`` or ``correlation``: then all ranks are in memory together.

        ``quantiles``: counts, sums and quantiles by name alone, from the tables of JOB, without reading a trace;
        "p50_ns" and "p99_ns" are at most 2.2 % too large, and with ``exact`` they are exact.
        """
        if not quantiles:
            if exact:
                raise ValueError("exact is for quantiles=True; without it p50_ns and p99_ns are exact")

            def merge() -> ResultRows:
                return self._own_clocks().summary(**options)

            if options.get("corrected"):
                return merge()
            by_rank = {name: value for name, value in options.items() if name != "corrected"}
            return self._one_rank_at_a_time(lambda: self._summary_of_ranks(**by_rank), merge)
        if options:
            raise TypeError(f"quantiles=True takes exact alone, not {', '.join(options)}")
        return self._answer("summary", is_exact=exact)

    def advise(self, *, where: str | None = None) -> ResultRows:
        """What slows the job down: as `Trace.advise`. Reads one rank at a time if it has steps, except where ``where``
        needs all ranks, as in `summary`."""
        return self._one_rank_at_a_time(
            lambda: self._answer("advise", where=where), lambda: self._own_clocks().advise(where=where)
        )

    def diff(self, other: Job | Trace | Sequence[Trace], *, by: str = "name", where: str | None = None) -> TraceDiff:
        """What changed from this job to another one, or to other traces: as `Trace.diff`.

        Two jobs are read one rank at a time, except where ``where`` needs all ranks, as in `summary`.
        """
        if not isinstance(other, Job):
            return self._own_clocks().diff(other, by=by, where=where)

        def ask() -> TraceDiff:
            tables, problems = _core.job_diff([self._place, other._place], by, where, find_duckdb())
            self.facts, self.problems = {}, json.loads(problems)
            return TraceDiff(*tables)

        return self._one_rank_at_a_time(ask, lambda: self._own_clocks().diff(other._own_clocks(), by=by, where=where))

    def check(
        self,
        limits: Mapping[str, Mapping[str, Any]],
        *,
        baseline: Job | Trace | str | bytes | os.PathLike | None = None,
    ) -> TraceCheck:
        """Whether the job keeps limits: as `Trace.check`. ``baseline``: of a job, too.

        Reads one rank at a time, unless a limit is for "findings" and the job has no steps, or ``baseline`` is no job.
        """
        is_of_jobs = baseline is None or isinstance(baseline, Job)

        def ask() -> TraceCheck:
            places = [self._place, *([baseline._place] if isinstance(baseline, Job) else [])]
            table, problems = _core.job_check(places, limit_texts(limits), find_duckdb())
            self.facts, self.problems = {}, json.loads(problems)
            return TraceCheck(table)

        def merge() -> TraceCheck:
            against = baseline._own_clocks() if isinstance(baseline, Job) else baseline
            return self._own_clocks().check(limits, baseline=against)

        return self._one_rank_at_a_time(ask, merge) if is_of_jobs else merge()

    def sql(
        self, query: str, *, max_seconds: float = 60, max_memory: int | str = "4G", limit: int | None = 1_000_000
    ) -> SqlRows | list[dict]:
        """The rows of one SQL statement over the tables of JOB, which have the rows of its attempt.

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

    query = sql  # under the name of the verb

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
        return Trace(_core.job_trace(self.path, self._attempt, chosen or [], where, True))

    def compact(self) -> dict[str, int]:
        """Joins the small files of JOB, of all attempts: many thousand of them are slow to open.

        Returns "parts_before" and "parts_after". Answers that are being computed meanwhile still find the old files,
        which the next call removes.
        """
        before, after = _core.compact_job(self.path, find_duckdb())
        return {"parts_before": before, "parts_after": after}

    def _own_clocks(self) -> Trace:
        """All ranks, each with the times of its own clock: what an answer over JOB counts by."""
        trace = Trace(_core.job_trace(self.path, self._attempt, [], None, False))
        self.facts, self.problems = {}, list(trace.problems)
        return trace

    @property
    def _place(self) -> tuple[str | bytes | os.PathLike, int | None]:
        return self.path, self._attempt

    def _one_rank_at_a_time(self, ask: Callable[[], _Rows], merge: Callable[[], _Rows]) -> _Rows:
        """What ``ask`` answers; or ``merge``, if all ranks are needed together, or there is no DuckDB."""
        if self._spark is None:
            try:
                return ask()
            except _core.Error as error:
                if error.code != "unsupported":
                    raise
        return merge()

    def _summary_of_ranks(
        self,
        *,
        group_by: str | Sequence[str] = "name",
        sort: str = "total_ns",
        limit: int | None = None,
        where: str | None = None,
    ) -> ResultRows:
        keys = [group_by] if isinstance(group_by, str) else list(group_by)
        text, table = _core.job_summary(*self._place, keys, where, sort, checked_limit(limit), find_duckdb())
        self._take_facts(text)
        return ResultRows(table, "rows")

    def _answer(self, verb: str, members: bool = False, is_exact: bool = False, where: str | None = None) -> ResultRows:
        engine = None
        if self._spark is not None:
            from opscope.spark import engine_of

            engine = engine_of(self._spark, self.path)
        try:
            text, table = _core.job_answer(verb, *self._place, members, is_exact, where, find_duckdb(), engine)
        finally:
            if engine is not None:
                engine.close()
        return ResultRows(table, "rows", self._take_facts(text))

    def _answer_chosen(self, verb: str, where: str | None, merge: Callable[[], ResultRows]) -> ResultRows:
        if where is None:
            return self._answer(verb)
        return self._one_rank_at_a_time(lambda: self._answer(verb, where=where), merge)

    def _take_facts(self, text: str) -> list[dict[str, Any]]:
        """Sets ``facts`` and ``problems`` from the JSON of an answer; returns its rows."""
        self.facts = json.loads(text)
        self.problems = self.facts.pop("problems")
        return self.facts.pop("rows")


def _numbers(name: str, values: Any, expected: str) -> list[int]:
    """``values`` as integers. TypeError: ``values`` is not iterable, or a member is not an integer."""
    try:
        return [operator.index(value) for value in values]
    except TypeError:
        raise TypeError(f"{name} must be {expected}, not {values!r}") from None
