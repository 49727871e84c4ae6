# SPDX-License-Identifier: Apache-2.0
"""The SQL over a JOB gives what the brute force gives, on random jobs."""

import os
from collections import defaultdict

import pytest
from job_brute_force import Job
from job_brute_force_sets import straggler_rows
from job_tables import random_job

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
from job_sql import DuckDb  # noqa: E402  (it needs both)

JOBS = int(os.environ.get("OPSCOPE_RANDOM_JOBS", "150" if os.environ.get("OPSCOPE_SOAK") else "60"))


def without_empty_lists(rows, name):
    return [row | {name: list(row[name] or [])} for row in rows]


def renamed(row, old, new):
    """The row under a name that is no keyword of SQL."""
    return {new if name == old else name: value for name, value in row.items()}


def problems(rows):
    """Rows of problems.sql as problems with lists of ranks; files do not matter here."""
    found, joined = [], defaultdict(list)
    for row in rows:
        if row["file"] is None:
            joined[row["kind"], row["severity"]] += [row["rank"]] if row["rank"] is not None else []
        else:
            found.append({"kind": row["kind"], "severity": row["severity"], "ranks": [row["rank"]]})
    found += [{"kind": kind, "severity": severity, "ranks": ranks} for (kind, severity), ranks in joined.items()]
    return sorted(found, key=str)


def members(job):
    for match in job.matches:
        for row in job.members_of(match):
            yield {"group_key": match.group, "number": match.number} | row


def differences(engine, tables):
    """The answers of an engine that are not those of the brute force."""
    job = Job(tables)
    answers = {
        "problems": (problems(engine.answer("problems")), sorted(job.problems, key=str)),
        "steps": (engine.answer("steps"), list(job.step_rows())),
        "ranks": (engine.answer("ranks"), list(job.rank_rows())),
        "collectives": (
            without_empty_lists(engine.answer("collectives"), "missing_ranks"),
            [renamed(row, "group", "group_name") for row in job.collective_rows()],
        ),
        "collective_members": (engine.answer("collective_members"), list(members(job))),
        "collective_groups": (engine.answer("collective_groups"), list(job.collective_groups())),
        "stragglers": (engine.answer("stragglers"), [renamed(row, "set", "set_kind") for row in straggler_rows(job)]),
    }
    return {name: (got, expected) for name, (got, expected) in answers.items() if got != expected}


def test_duckdb_gives_the_rows_of_the_brute_force():
    jobs = [random_job(seed) for seed in range(JOBS)]
    engine = DuckDb(jobs)
    for seed, tables in enumerate(jobs):
        engine.open(seed)
        wrong = differences(engine, tables)
        for name, (got, expected) in wrong.items():
            different = [pair for pair in zip(got, expected, strict=False) if pair[0] != pair[1]]
            print(name, len(got), len(expected), *(different[0] if different else (got[-1:], expected[-1:])), sep="\n")
        assert not wrong, f"job {seed}"
