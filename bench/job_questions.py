# SPDX-License-Identifier: Apache-2.0
"""Questions to all spans of a JOB of 64 ranks: opscope beside DuckDB alone on a Parquet file that it wrote itself, and
p50 and p99 of all operators from `op_stats` beside the same from all spans.

Every side is a process, with its start.
"""

import json
import shutil
import sys
from pathlib import Path

import made_jobs

import measure

STEPS = 10
QUESTIONS = (
    "SELECT rank, CAST(avg(duration_ns) AS BIGINT) AS ns FROM {steps} GROUP BY rank ORDER BY ns DESC, rank LIMIT 5",
    "SELECT step, min(duration_ns), max(duration_ns) FROM {steps} GROUP BY step ORDER BY step",
    "SELECT name, count(*), CAST(sum(duration_ns) AS BIGINT) AS ns FROM {spans} GROUP BY name ORDER BY ns DESC, name"
    " LIMIT 20",
)
OURS = """
import json, sys, opscope
job = opscope.job(sys.argv[1])
print(json.dumps([[list(row.values()) for row in job.sql(question)] for question in json.loads(sys.argv[2])]))
"""
THEIRS = """
import json, sys, duckdb
connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")
print(json.dumps([connection.execute(question).fetchall() for question in json.loads(sys.argv[1])]))
"""


def write_own(job, own):
    import duckdb

    for table, path in own.items():
        duckdb.sql(f"COPY (SELECT * FROM read_parquet('{job}/{table}/**/*.parquet')) TO '{path}' (FORMAT parquet)")


def print_questions(folder, job, options):
    own = {table: folder / f"{table}.parquet" for table in ("steps", "spans")}
    made_jobs.apart(lambda: write_own(job, own))
    mine = json.dumps([question.format(steps="steps", spans="spans") for question in QUESTIONS])
    their = json.dumps(
        [question.format(**{table: f"'{path}'" for table, path in own.items()}) for question in QUESTIONS]
    )
    commands = {
        "ours": [sys.executable, "-c", OURS, job, mine],
        "theirs": [sys.executable, "-c", THEIRS, their],
    }
    samples = made_jobs.take_turns(options.repetitions, commands)
    if json.loads(samples["ours"][0]["output"]) != json.loads(samples["theirs"][0]["output"]):
        raise SystemExit("bench: opscope and DuckDB answer differently")
    spans = f"{options.ranks} x {options.ops:,} spans"
    title = f"Slowest rank, steps and top operators over {spans}, beside DuckDB on its own Parquet"
    cpu = {name: measure.figures_of(samples[name], "cpu")["median"] for name in commands}
    sides = [measure.figures_of(samples[name], "wall") for name in commands]
    more = {"repetitions": options.repetitions}
    measure.print_row("job_questions", title, "s", *sides, goal=1.2, cpu=cpu, **more)
    sides = [measure.figures_of(samples[name], "peak", 1e-6) for name in commands]
    measure.print_row("job_questions_ram", "Peak memory of that", "MB", *sides, goal=1.2, **more)


def print_quantiles(job, options):
    opscope = [sys.executable, "-m", "opscope"]
    command = [*opscope, "summary", job, "--quantiles", "--json"]
    start = [*opscope, "query", job, "SELECT 1", "--json"]
    samples = made_jobs.take_turns(
        options.repetitions, {"op_stats": command, "spans": [*command, "--exact"], "start": start}
    )
    quick, exact = (json.loads(samples[name][0]["output"])["rows"] for name in ("op_stats", "spans"))
    for ours, theirs in zip(quick, exact, strict=True):
        for key in ("p50_ns", "p99_ns"):
            if ours["name"] != theirs["name"] or not theirs[key] <= ours[key] <= 1.022 * theirs[key]:
                raise SystemExit(f"bench: {key}: {ours} is not near {theirs}")
    title = "p50 and p99 of all operators from op_stats, beside the same from all spans, processor time without start"
    begun = measure.figures_of(samples["start"], "cpu")["min"]
    sides = [measure.figures([each["cpu"] - begun for each in samples[name]]) for name in ("op_stats", "spans")]
    note = f"{len(quick)} operators, {options.ranks} x {options.ops:,} spans; start {begun:.2f} s"
    more = {"goal": 1 / 10, "repetitions": options.repetitions, "note": note, "is_difference": True}
    measure.print_row("job_op_stats", title, "s", *sides, **more)


def main():
    options = measure.parse_options(__doc__, ops=201_000, quick_ops=2_000, repetitions=3, ranks=64)
    if options.quick:
        options.ranks = 4
    folder = Path("job_questions").resolve()
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was ended
    job = folder / "job"
    try:
        made_jobs.write_job(
            job,
            {
                "ranks": made_jobs.ranks_sql(options.ranks, options.ops),
                "steps": made_jobs.steps_sql(options.ranks, STEPS),
                "spans": made_jobs.spans_sql(options.ranks, options.ops, STEPS),
                "op_stats": lambda path: made_jobs.op_stats_sql(f"{path}/spans/*/*.parquet"),
            },
        )
        print_questions(folder, job, options)
        print_quantiles(job, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
